package snapshot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func ExampleParse() {
	data, err := os.ReadFile("testdata/testagent-5f0c3a9b1e77.json")
	if err != nil {
		log.Fatal(err)
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range doc.Snapshots {
		fmt.Println(s.ID, len(s.Request.Messages), snapshot.RawName(s.Number(), &s.Response))
	}

	_, err = snapshot.Parse(data[:100])
	var e *snapshot.Error
	fmt.Println(errors.As(err, &e), e.Violations[0].Rule)
	// Output:
	// testagent-5f0c3a9b1e77-1 2 1.json
	// testagent-5f0c3a9b1e77-2 4 2.json
	// testagent-5f0c3a9b1e77-3 6 3.json
	// testagent-5f0c3a9b1e77-4 8 4.json
	// true json
}

// A document of two calls, the second of which begins with the first and its answer.
func ExampleDocument_Seal() {
	name := snapshot.DocumentName("example.com/shop", "TestOrder")
	zero := json.Number("0")
	call := func(n int, answer string, messages ...modelio.Message) snapshot.Snapshot {
		s := snapshot.Snapshot{
			ID:        snapshot.ID(name, n),
			Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
			Source:    snapshot.Source{File: "shop/order.go", Line: 12, Function: "Ask", Package: "example.com/shop", Test: "TestOrder"},
			Request:   modelio.Request{Model: "m", Temperature: &zero, Messages: messages},
		}
		s.Response.Candidates = []modelio.Candidate{{
			Message:      modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(answer)}},
			FinishReason: modelio.FinishStop,
		}}
		return s
	}
	message := func(role modelio.Role, text string) modelio.Message {
		return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
	}
	first := call(1, "Which one?", message(modelio.RoleUser, "Where is my order?"))
	second := call(2, "On its way.", append(first.Request.Messages, message(modelio.RoleModel, "Which one?"), message(modelio.RoleUser, "The red one.\nIt is late."))...)
	doc := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{first, second}}
	if err := doc.Seal(); err != nil {
		log.Fatal(err)
	}
	data, err := doc.Encode()
	if err != nil {
		log.Fatal(err)
	}
	_, request, _ := strings.Cut(string(data), doc.Snapshots[1].ID)
	_, request, _ = strings.Cut(request, `"request": `)
	request, _, _ = strings.Cut(request, `,
      "response"`)
	fmt.Println(request)
	// Output:
	// {
	//         "continues": {
	//           "call": 1,
	//           "messages": 2
	//         },
	//         "max_tokens": null,
	//         "messages": [
	//           {
	//             "content": [
	//               "The red one.\n",
	//               "It is late."
	//             ],
	//             "role": "user"
	//           }
	//         ],
	//         "model": "m",
	//         "temperature": 0
	//       }
}

func ExampleExamine() {
	_, found := snapshot.Examine([]byte(`{"version": "1.0.0", "snapshots": []}`))
	for _, v := range found {
		fmt.Println(v)
	}
	// Output: /hash: missing: is required
}

func ExampleRequestCore() {
	request := &modelio.Request{Model: "m", Prompt: ptr("Say hi"), Options: modelio.Object{"user": json.RawMessage(`"u1"`)}}
	core, err := snapshot.RequestCore(request, []string{"/provider_options/user"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(core))
	fmt.Println(canon.Sum(core)[:20])
	// Output:
	// {"max_tokens":null,"model":"m","prompt":"Say hi","provider_options":{},"temperature":null}
	// sha256:528eb74bd5726
}

func ExampleSplit() {
	for _, piece := range snapshot.Split("You are careful.\nAnswer shortly.\n") {
		fmt.Printf("%q\n", piece)
	}
	// Output:
	// "You are careful.\n"
	// "Answer shortly.\n"
}

func ExampleLegalLane() {
	fmt.Println(snapshot.LegalLane("worker-1"), snapshot.LegalLane("worker 1"))
	// Output: true false
}

func ExampleMediaName() {
	m := snapshot.Medium{Hash: canon.Sum([]byte("GIF89a")), ContentType: "image/gif", Size: 6}
	fmt.Println(m.String()[:20], m.Name()[60:], snapshot.MediaName(m.Hash, m.ContentType) == m.Name())
	// Output: blob:sha256:610f5ae4 29e8.gif true
}

package snapshot_test

import (
	"bytes"
	"encoding/base64"
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
	data, err := os.ReadFile("testdata/example-com-shop-testagent-3cfacb63af18.json")
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
	// example-com-shop-testagent-3cfacb63af18-1 2 1.json
	// example-com-shop-testagent-3cfacb63af18-2 4 2.json
	// example-com-shop-testagent-3cfacb63af18-3 6 3.json
	// example-com-shop-testagent-3cfacb63af18-4 8 4.json
	// true json
}

// ParseUnsealed reads a document that somebody edited by hand, which Parse refuses. Seal computes its hashes again.
func ExampleParseUnsealed() {
	data, err := os.ReadFile("testdata/example-com-shop-testagent-3cfacb63af18.json")
	if err != nil {
		log.Fatal(err)
	}
	altered := []byte(strings.Replace(string(data), `"line": `, `"line": 1`, 1))
	_, err = snapshot.Parse(altered)
	fmt.Println(errors.Is(err, snapshot.ErrSeal))
	edited := snapshot.ParseUnsealed(altered)
	fmt.Println(len(edited.Snapshots), edited.Seal())
	// Output:
	// true
	// 4 <nil>
}

// The document has two calls. The second begins with the first and its answer.
func ExampleDocument_Write() {
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
	data, err := doc.Write(nil)
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
	//         "model": "m",
	//         "temperature": 0,
	//         "messages": [
	//           {
	//             "role": "user",
	//             "content": [
	//               "The red one.\n",
	//               "It is late."
	//             ]
	//           }
	//         ]
	//       }
}

func ExampleDocument_AppendFile() {
	data, err := os.ReadFile("testdata/example-com-shop-testagent-3cfacb63af18.json")
	if err != nil {
		log.Fatal(err)
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(data, doc.AppendFile(nil)))
	// Output: true
}

func ExampleRequestCore() {
	prompt := "Say hi"
	request := &modelio.Request{Model: "m", Prompt: &prompt, Options: modelio.Object{"user": json.RawMessage(`"u1"`)}}
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

func ExampleLegalHeader() {
	fmt.Println(snapshot.LegalHeader("x-request-id"), snapshot.LegalHeader("X-Request-Id"))
	// Output: true false
}

func ExampleLegalLane() {
	fmt.Println(snapshot.LegalLane("worker-1"), snapshot.LegalLane("worker 1"))
	// Output: true false
}

func ExampleMediumOf() {
	text := "data:image/gif;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("GIF89a"), 100))
	m, data, ok := snapshot.MediumOf(text)
	fmt.Println(m.ContentType, m.Size, ok, m.Text(data) == text)
	// Output: image/gif 600 true true
}

func ExampleMedium_Name() {
	m := snapshot.Medium{Hash: canon.Sum([]byte("GIF89a")), ContentType: "image/gif", Size: 6}
	fmt.Println(m.String()[:20], m.Name()[60:])
	// Output: blob:sha256:610f5ae4 29e8.gif
}

// ordered returns an agent's document of four calls.
func ordered() *snapshot.Document {
	data, err := os.ReadFile("testdata/example-com-shop-testagent-3cfacb63af18.json")
	if err != nil {
		log.Fatal(err)
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		log.Fatal(err)
	}
	return doc
}

func ExampleParseID() {
	document, n, ok := snapshot.ParseID("example-com-shop-testagent-3cfacb63af18-3")
	fmt.Println(document, n, ok)
	// Output: example-com-shop-testagent-3cfacb63af18 3 true
}

// SF's own tools read this form: each call with its whole request, and the document with all of them.
func ExampleDocument_SF() {
	doc := ordered()
	call, err := doc.Snapshots[3].SF()
	fmt.Println(strings.Count(string(call), `"role"`), "messages", err)
	whole, err := doc.SF()
	if err != nil {
		log.Fatal(err)
	}
	_, err = snapshot.Parse(whole)
	fmt.Println(len(whole) > len(call), err)
	// Output:
	// 8 messages <nil>
	// true <nil>
}

// The hash of a document is the hash of its records' seals.
// SealOf computes the seal of a record in another program's spelling, with the numbers and the order of its text.
func ExampleSealOf() {
	record := `{"id":"abc123def456","timestamp":"2026-01-09T10:30:00Z","source":{"file":"a.py","line":12,"function":"ask"},
		"request":{"model":"m","messages":[],"temperature":0.0,"max_tokens":100},
		"response":{"content":"Hello!","tokens_used":10,"latency_ms":450,"finish_reason":"stop"},"hash":"any"}`
	fmt.Println(snapshot.SealOf([]byte(record)))
	_, err := snapshot.SealOf([]byte(`{"id":"abc123def456"}`))
	fmt.Println(err)
	// Output:
	// sha256:1d038248ce6a955a05b18003790b634f5a3f7f4e05581c8796e78a993c94f9e5 <nil>
	// missing: lacks a member that the seal covers
}

func ExampleCombinedHash() {
	doc := ordered()
	seal := func(i int) canon.Hash { return doc.Snapshots[i].Hash }
	fmt.Println(snapshot.CombinedHash(snapshot.Version, len(doc.Snapshots), seal) == doc.Hash)
	// Output: true
}

// Two answers with the same content have the same core, even if their ids and times differ.
func ExampleResponseCore() {
	core := func(s snapshot.Snapshot) canon.Hash {
		text, err := snapshot.ResponseCore(&s.Response)
		if err != nil {
			log.Fatal(err)
		}
		return canon.Sum(text)
	}
	was, now := ordered().Snapshots[0], ordered().Snapshots[0]
	now.Response.LatencyMS++
	fmt.Println(core(was) == core(now), now.Response.Confirms(&was.Response))
	// Output: true true
}

// A repeated call replaces its record. If the answer has the same content, the record keeps the old answer.
func ExampleSnapshot_Succeed() {
	was, now := ordered().Snapshots[0], ordered().Snapshots[0]
	now.ID, now.Response.LatencyMS = "", was.Response.LatencyMS+100
	now.Succeed(&was, true)
	fmt.Println(now.ID == was.ID, now.Response.LatencyMS == was.Response.LatencyMS)
	// Output: true true
}

// Write shows the calls as a reader will read them. A record names the media that are in files of their own.
func ExampleSnapshot_Media() {
	_, err := ordered().Write(func(read *snapshot.Document) error {
		fmt.Println(len(read.Snapshots), "calls,", len(read.Snapshots[0].Media()), "media in the first")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 4 calls, 0 media in the first
	// <nil>
}

// Append returns each new record with only the new part of the conversation.
func ExampleWriter_Append() {
	var w snapshot.Writer
	var lines [][]byte
	for _, s := range ordered().Snapshots {
		line, err := w.Append(s)
		if err != nil {
			log.Fatal(err)
		}
		lines = append(lines, line)
	}
	read, err := snapshot.ParseRecords(lines)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(read.Snapshots), read.Snapshots[0].ID == ordered().Snapshots[0].ID)
	// Output: 4 true
}

func ExampleCheckNewer() {
	err := snapshot.CheckNewer([]byte(`{"version":"2.0.0","snapshots":[]}`))
	fmt.Println(errors.Is(err, snapshot.ErrNewer), snapshot.CheckNewer([]byte(`{"version":"1.0.0"}`)))
	fmt.Println(snapshot.OtherVersion("0.9.0").Rule)
	// Output:
	// true <nil>
	// version
}

func ExampleSource_IsLifted() {
	bought := snapshot.Source{}
	imported := snapshot.Source{Origin: "imported from go-vcr testdata/TestChat.yaml, interaction 2"}
	fmt.Println(bought.IsBought(), bought.IsLifted(), imported.IsLifted(), imported.SameOrigin(&bought))
	// Output: true false true false
}

func ExampleFormerName() {
	fmt.Println(snapshot.FormerName("example.com/shop", "TestX"))
	fmt.Println(snapshot.DocumentName("example.com/shop", "TestX"))
	// Output:
	// testx-b83cb0309d9d
	// example-com-shop-testx-b83cb0309d9d
}

func ExampleReading_IsOfCall() {
	fmt.Println(snapshot.Reading{Kind: "added-call", Says: "rm()"}.IsOfCall())
	fmt.Println(snapshot.Reading{Kind: "text", Says: "five"}.IsOfCall())
	// Output:
	// true
	// false
}

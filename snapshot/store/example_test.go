package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// A store keeps the calls of a test, with the provider's own bytes, and finds them by the test's name.
func Example() {
	dir, err := os.MkdirTemp("", "ai-snapshots")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}

	name := snapshot.DocumentName("example.com/shop", "TestX")
	raw := []byte(`{"answer":"Hello!"}`)
	question, answer, zero := "Hello", "Hello!", json.Number("0")
	document := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{{
		ID:        snapshot.ID(name, 1),
		Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
		Source:    snapshot.Source{File: "shop/agent.go", Line: 31, Function: "ask", Package: "example.com/shop", Test: "TestX"},
		Request: modelio.Request{
			API: "openai.chat", Model: "gpt-4o-mini", Temperature: &zero,
			Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{{Text: &question}}}},
		},
		Response: snapshot.Response{
			Response: modelio.Response{Candidates: []modelio.Candidate{{
				Message:      modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{{Text: &answer}}},
				FinishReason: modelio.FinishStop,
			}}},
			Status: 200, Headers: map[string][]string{"content-type": {"application/json"}}, RawOutputRef: canon.Sum(raw),
		},
	}}}
	put := store.Put{Provider: "openai", Name: name, Document: document, Raw: map[int][]byte{1: raw}}
	if err := s.Commit(store.Change{Put: []store.Put{put}}); err != nil {
		fmt.Println(err)
		return
	}

	doc, err := s.Load(name, "openai")
	if err != nil {
		fmt.Println(err)
		return
	}
	served, err := doc.Raw(0)
	fmt.Println(doc.File(), string(served), err)
	files, err := s.List()
	fmt.Println(files, err)
	result, err := s.Verify()
	fmt.Println(result.Documents, result.Calls, result.Findings, err)

	if err := s.Commit(store.Change{Remove: []string{doc.File()}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// openai/testx-b83cb0309d9d.json {"answer":"Hello!"} <nil>
	// [openai/testx-b83cb0309d9d.json] <nil>
	// 1 1 [] <nil>
}

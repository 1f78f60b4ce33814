package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
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
	put := helloCall("TestX")
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
	result, err := audit.Verify(s)
	fmt.Println(result.Documents, result.Calls, result.Findings, err)

	if err := s.Commit(store.Change{Remove: []string{doc.File()}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// openai/example-com-shop-testx-b83cb0309d9d.json {"answer":"Hello!"} <nil>
	// [openai/example-com-shop-testx-b83cb0309d9d.json] <nil>
	// 1 1 [] <nil>
}

// helloCall returns the recording of a test with that name.
func helloCall(test string) store.Put {
	name := snapshot.DocumentName("example.com/shop", test)
	raw := []byte(`{"answer":"Hello!"}`)
	question, answer, zero := "Hello", "Hello!", json.Number("0")
	document := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{{
		ID:        snapshot.ID(name, 1),
		Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
		Source:    snapshot.Source{File: "shop/agent.go", Line: 31, Function: "ask", Package: "example.com/shop", Test: test},
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
	return store.Put{Provider: "openai", Name: name, Document: document, Beside: map[canon.Hash][]byte{canon.Sum(raw): raw}}
}

// newStore returns a store with a test's recording, and a function that removes it.
func newStore(test string) (s *store.Store, name string, remove func()) {
	dir, err := os.MkdirTemp("", "ai-snapshots")
	if err != nil {
		log.Fatal(err)
	}
	if s, err = store.Open(dir); err != nil {
		log.Fatal(err)
	}
	put := helloCall(test)
	if err := s.Commit(store.Change{Put: []store.Put{put}}); err != nil {
		log.Fatal(err)
	}
	return s, put.Name, func() { os.RemoveAll(dir) }
}

// Move renames a test, and copies its document for another one. No call changes.
func ExampleStore_Move() {
	s, name, remove := newStore("TestX")
	defer remove()
	moved, err := s.Move(store.Move{Name: name, Package: "example.com/shop", Test: "TestY"})
	fmt.Println(len(moved), err)
	renamed := snapshot.DocumentName("example.com/shop", "TestY")
	fmt.Println(s.Copy(store.Move{Name: renamed, Package: "example.com/shop", Test: "TestZ"}))
	files, err := s.List()
	fmt.Println(len(files), err)
	// Output:
	// 1 <nil>
	// <nil>
	// 2 <nil>
}

// A failed test bought an answer. The answer is pending until it is accepted or rejected.
func Example_accept() {
	s, name, remove := newStore("TestX")
	defer remove()
	for _, test := range []string{"TestNew", "TestOther"} {
		if err := s.Pending().Commit(store.Change{Put: []store.Put{helloCall(test)}}); err != nil {
			log.Fatal(err)
		}
	}
	id := snapshot.ID(snapshot.DocumentName("example.com/shop", "TestNew"), 1)
	accepted, err := audit.Accept(s, []string{id})
	fmt.Println(len(accepted), err)
	fmt.Println(audit.Reject(s, snapshot.DocumentName("example.com/shop", "TestOther")))
	files, err := s.List()
	fmt.Println(len(files), err)
	doc, err := s.Load(name, "openai")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(doc.Records()), store.PutOf(name, doc.Records()).Provider)
	// Output:
	// 1 <nil>
	// <nil>
	// 2 <nil>
	// 1 openai
}

// A run of a test appends the answers that it buys. They wait for a decision, unless the test passes.
func ExampleStore_NewLog() {
	s, _, remove := newStore("TestX")
	defer remove()
	put := helloCall("TestNew")
	bought := put.Document.Snapshots[0]
	l := s.NewLog(put.Name, put.Provider)
	if err := l.Append(0, bought, put.Beside[bought.Response.RawOutputRef], nil); err != nil {
		log.Fatal(err)
	}
	files, err := s.Pending().List()
	fmt.Println(len(files), err)
	taken, err := l.Remove()
	fmt.Println(taken, err)
	// Output:
	// 1 <nil>
	// false <nil>
}

// The audit removes files that no document names, repairs a merge, and writes the manifest for other tools.
func Example_audit() {
	s, name, remove := newStore("TestX")
	defer remove()
	extra := filepath.Join(s.Dir(), "openai", name, "2.json")
	if err := os.WriteFile(extra, []byte("{}"), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println(audit.Prune(s))
	_, err := audit.Repair(s)
	fmt.Println(err, audit.WriteManifest(s))
	checked, err := audit.VerifyFiles(s, []string{"openai/" + name + ".json"})
	fmt.Println(checked.Documents, len(checked.Findings), err)
	manifest, err := store.ReadFile(filepath.Join(s.Dir(), "manifest.json"))
	fmt.Println(strings.Contains(string(manifest), name), int64(len(manifest)) < s.MaxBytes(), err)
	// Output:
	// [openai/example-com-shop-testx-b83cb0309d9d/2.json] <nil>
	// <nil> <nil>
	// 1 0 <nil>
	// true true <nil>
}

// Raw answers may be kept in Git LFS. Nothing writes to the store while git adds it.
func ExampleStore_UseLFS() {
	s, _, remove := newStore("TestX")
	defer remove()
	fmt.Println(s.UseLFS())
	fmt.Println(s.Exclusively(func(store.Writer) error {
		attributes, err := os.ReadFile(filepath.Join(s.Dir(), ".gitattributes"))
		fmt.Println(strings.Contains(string(attributes), "filter=lfs"))
		return err
	}))
	// Output:
	// <nil>
	// true
	// <nil>
}

// The settings in config.json apply to all tests. Costs are computed with its prices, which have no dates.
func ExampleStore_Config() {
	s, _, remove := newStore("TestX")
	defer remove()
	config := `{"max_age":{"warn_days":90},"prices":{"gpt-4o-mini":{"input":0.15,"output":0.6}}}`
	if err := os.WriteFile(filepath.Join(s.Dir(), "config.json"), []byte(config), 0o644); err != nil {
		log.Fatal(err)
	}
	c, err := s.Config()
	if err := errors.Join(err, s.CheckTexts()); err != nil { // before git reads the store
		log.Fatal(err)
	}
	if text, err := s.ConfigText(); err != nil || string(text) != config {
		log.Fatal(string(text), err) // in its original spelling
	}
	fmt.Println(c.MaxAge.IsSet(), c.Prices["gpt-4o-mini"].Input)
	// Output:
	// true 0.15
}

// ParseFile reads a document of the former version. A store is converted document by document, with its answers.
func ExampleStore_ParseFile() {
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
	old := helloCall("TestX").Document.Snapshots[0]
	name := snapshot.FormerName("example.com/shop", "TestX")
	old.ID, old.Response.RawOutputRef, old.Response.Headers = snapshot.ID(name, 1), "", nil
	text, err := old.SF()
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = os.Mkdir(filepath.Join(dir, "openai"), 0o777)
	_ = os.WriteFile(filepath.Join(dir, "openai", name+".json"), text, 0o666)

	doc, err := s.ParseFile(name, "openai")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Document.Version)
	put, err := doc.Moved("example.com/shop", "TestX")
	if err == nil {
		err = s.Commit(store.Change{Put: []store.Put{put}, Remove: []string{doc.File()}})
	}
	files, _ := s.List()
	fmt.Println(files, err)
	// Output:
	// 1.0.0
	// [openai/example-com-shop-testx-b83cb0309d9d.json] <nil>
}

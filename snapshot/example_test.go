package snapshot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// greeting is a record: the first call that TestGreet made.
func greeting() *snapshot.Snapshot {
	temperature := snapshot.Number("0")
	return &snapshot.Snapshot{
		ID:        snapshot.ID("example.com/agents", "TestGreet", 1),
		Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
		Source: snapshot.Source{
			File: "agents/greet.go", Line: 12, Function: "Greet",
			Package: "example.com/agents", Test: "TestGreet", Ordinal: 1,
		},
		Request: snapshot.Request{
			Model:       "gpt-4-turbo",
			Messages:    []snapshot.Message{{Role: "user", Content: json.RawMessage(`"Hello"`)}},
			Temperature: &temperature,
		},
		Response: snapshot.Response{Content: "Hi!", LatencyMS: 450, FinishReason: "stop"},
	}
}

// greetings returns a store with that record, and what removes it.
func greetings() (store *snapshot.Store, remove func()) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	store, err = snapshot.Open(filepath.Join(dir, ".ai-snapshots"))
	if err != nil {
		log.Fatal(err)
	}
	body := []byte(`{"choices":[{"message":{"content":"Hi!"}}]}`)
	snap := greeting()
	snap.Response.RawOutputRef = canon.Sum(body)
	change := snapshot.Change{
		Put:   []snapshot.Record{{Provider: "openai", Snapshot: snap}},
		Blobs: [][]byte{body},
	}
	if err := store.Commit(change); err != nil {
		log.Fatal(err)
	}
	return store, func() {
		store.Close()
		os.RemoveAll(dir)
	}
}

func ExampleParse() {
	_, err := snapshot.Parse([]byte(`{
		"version": "1.0.0",
		"snapshots": [],
		"hsah": "sha256:5c"
	}`))
	var invalid *snapshot.Error
	if errors.As(err, &invalid) {
		for _, v := range invalid.Violations {
			fmt.Println(v)
		}
	}
	// Output:
	// /hash: missing: is required
	// /hsah: unknown: is no member of the format
}

func ExampleDocument_Encode() {
	doc := snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{*greeting()}}
	if err := doc.Seal(); err != nil {
		log.Fatal(err)
	}
	data, err := doc.Encode()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))
	// Output:
	// {
	//   "version": "1.0.0",
	//   "snapshots": [
	//     {
	//       "id": "testgreet-1-84ffbb4741b2",
	//       "timestamp": "2026-01-09T10:30:00Z",
	//       "source": {
	//         "file": "agents/greet.go",
	//         "function": "Greet",
	//         "line": 12,
	//         "ordinal": 1,
	//         "package": "example.com/agents",
	//         "test": "TestGreet"
	//       },
	//       "request": {
	//         "max_tokens": null,
	//         "messages": [
	//           {
	//             "content": "Hello",
	//             "role": "user"
	//           }
	//         ],
	//         "model": "gpt-4-turbo",
	//         "prompt_hash": "sha256:d06f4cc16e4c5748793b469fa067c4c94b0c63892f9f7a320f9ecad2b6d72fa4",
	//         "temperature": 0
	//       },
	//       "response": {
	//         "content": "Hi!",
	//         "finish_reason": "stop",
	//         "latency_ms": 450,
	//         "response_hash": "sha256:e56f4222f43d9423723f4148e9931a3b622c6ebcd2106d69d44abd401e7ea690",
	//         "tokens_used": null
	//       },
	//       "hash": "sha256:da0cbd2c9af28a3979f1058b0d747a50cd17909dc4332203330d9d1962d33d81"
	//     }
	//   ],
	//   "hash": "sha256:d2e8c098c6b3b6c7b6d5cfead3e4b64cd48093d305e3956ac9170ff5d808caf2"
	// }
}

func ExampleDocument_Seal() {
	doc := snapshot.Document{Version: snapshot.Version}
	if err := doc.Seal(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(doc.Hash == canon.Sum([]byte(`{"version":"1.0.0","snapshots":[]}`)))
	// Output: true
}

func ExampleSnapshot_Seal() {
	snap := greeting()
	if err := snap.Seal(); err != nil {
		log.Fatal(err)
	}
	before := *snap
	snap.Response.LatencyMS = 9000 // not what the model did
	if err := snap.Seal(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("seal changed:", snap.Hash != before.Hash)
	fmt.Println("drift:", snap.Response.ResponseHash != before.Response.ResponseHash)
	// Output:
	// seal changed: true
	// drift: false
}

func ExampleRequest_Core() {
	req := greeting().Request
	req.ProviderOptions = map[string]json.RawMessage{"user": json.RawMessage(`"4711"`)}
	core, err := req.Core([]string{"/provider_options/user"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(core))
	// Output: {"max_tokens":null,"messages":[{"content":"Hello","role":"user"}],"model":"gpt-4-turbo","provider_options":{},"temperature":0}
}

func ExampleResponse_Core() {
	core, err := (&snapshot.Response{Content: "Hi!", LatencyMS: 450, FinishReason: "stop"}).Core()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(core))
	// Output: {"content":"Hi!","finish_reason":"stop"}
}

func ExampleID() {
	fmt.Println(snapshot.ID("example.com/agents", "TestGreet", 1))
	fmt.Println(snapshot.ID("example.com/agents", "TestGreet/in_French", 2))
	// Output:
	// testgreet-1-84ffbb4741b2
	// testgreet-in-french-2-eb79a1a09ce1
}

func ExampleMigrate() {
	_, err := snapshot.Migrate([]byte(`{"version": "0.9.0"}`), "0.9.0", snapshot.Version)
	fmt.Println(errors.Is(err, snapshot.ErrVersion))
	fmt.Println(err)
	// Output:
	// true
	// /version: version: Snapshot version 0.9.0 is no longer supported
	//    Current version: 1.0.0
	//    Re-record all snapshots
}

func ExampleOpen() {
	store, remove := greetings()
	defer remove()
	entries, err := store.Test("example.com/agents", "TestGreet")
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		sealed, err := store.Load(e)
		if err != nil {
			log.Fatal(err)
		}
		body, err := store.Blob(sealed.RawOutputRef)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(body))
	}
	// Output: {"choices":[{"message":{"content":"Hi!"}}]}
}

func ExampleStore_Commit() {
	store, remove := greetings()
	defer remove()
	body := []byte(`{"choices":[{"message":{"content":"Hello!"}}]}`)
	snap := greeting()
	snap.Response.Content = "Hello!"
	snap.Response.RawOutputRef = canon.Sum(body)
	err := store.Commit(snapshot.Change{
		Put:   []snapshot.Record{{Provider: "openai", Snapshot: snap}},
		Blobs: [][]byte{body},
	})
	if err != nil {
		log.Fatal(err)
	}
	got, err := store.Get(snap.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Response.Content)
	// Output: Hello!
}

func ExampleStore_All() {
	store, remove := greetings()
	defer remove()
	for e, err := range store.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.File)
	}
	// Output: openai/testgreet-1-84ffbb4741b2.json
}

func ExampleStore_Get() {
	store, remove := greetings()
	defer remove()
	snap, err := store.Get(snapshot.ID("example.com/agents", "TestGreet", 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(snap.Source.File, snap.Response.Content)
	// Output: agents/greet.go Hi!
}

func ExampleStore_Test() {
	store, remove := greetings()
	defer remove()
	entries, err := store.Test("example.com/agents", "TestGreet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(entries), entries[0].Provider)
	// Output: 1 openai
}

func ExampleStore_Load() {
	store, remove := greetings()
	defer remove()
	entries, err := store.Test("example.com/agents", "TestGreet")
	if err != nil {
		log.Fatal(err)
	}
	again := greeting()
	again.Response.Content = "Good morning!"
	if err := store.Put("openai", again); err != nil {
		log.Fatal(err)
	}
	sealed, err := store.Load(entries[0])
	fmt.Println("replaced meanwhile:", sealed.Entry != entries[0], err)

	_, err = store.Load(snapshot.Entry{ID: "none", Provider: "openai", File: "openai/none.json", Hash: canon.Sum(nil)})
	fmt.Println("gone:", errors.Is(err, fs.ErrNotExist), errors.Is(err, snapshot.ErrManifest))
	// Output:
	// replaced meanwhile: true <nil>
	// gone: true true
}

func ExampleStore_Put() {
	store, remove := greetings()
	defer remove()
	second := greeting()
	second.Source.Ordinal = 2
	second.ID = snapshot.ID(second.Source.Package, second.Source.Test, 2)
	if err := store.Put("openai", second); err != nil {
		log.Fatal(err)
	}
	entries, err := store.Test("example.com/agents", "TestGreet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(entries))
	// Output: 2
}

func ExampleStore_Remove() {
	store, remove := greetings()
	defer remove()
	id := snapshot.ID("example.com/agents", "TestGreet", 1)
	if err := store.Remove(id); err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(store.Remove(id), fs.ErrNotExist))
	// Output: true
}

func ExampleSealed_Canonical() {
	store, remove := greetings()
	defer remove()
	for e := range store.All() {
		sealed, err := store.Load(e)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sealed.Canonical())
	}
	// Output:
	// true
}

func ExampleSealed_Snapshot() {
	store, remove := greetings()
	defer remove()
	for e := range store.All() {
		sealed, err := store.Load(e)
		if err != nil {
			log.Fatal(err)
		}
		snap, err := sealed.Snapshot()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(snap.Request.Model, snap.Request.PromptHash == sealed.PromptHash)
	}
	// Output: gpt-4-turbo true
}

func ExampleStore_Blob() {
	store, remove := greetings()
	defer remove()
	_, err := store.Blob(canon.Sum([]byte("never recorded")))
	fmt.Println(errors.Is(err, snapshot.ErrBlob), errors.Is(err, fs.ErrNotExist))
	// Output: true true
}

func ExampleStore_PutBlob() {
	store, remove := greetings()
	defer remove()
	h, err := store.PutBlob([]byte("an envelope"))
	if err != nil {
		log.Fatal(err)
	}
	data, err := store.Blob(h)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(data))
	// Output: an envelope
}

func ExampleStore_Prune() {
	store, remove := greetings()
	defer remove()
	if _, err := store.PutBlob([]byte("no record refers to this")); err != nil {
		log.Fatal(err)
	}
	pruned, err := store.Prune()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(pruned))
	// Output: 1
}

func ExampleStore_Verify() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := snapshot.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := store.Put("openai", greeting()); err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, "openai", greeting().ID+".json")
	data, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "450", "45", 1)), 0o666); err != nil {
		log.Fatal(err)
	}
	found, err := store.Verify()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f.File, f.Pointer, f.Rule)
	}
	// Output: openai/testgreet-1-84ffbb4741b2.json /snapshots/0/hash seal
}

func ExampleStore_RebuildManifest() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := snapshot.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := store.Put("openai", greeting()); err != nil {
		log.Fatal(err)
	}
	conflict := "<<<<<<< HEAD\n{\n=======\n{\n>>>>>>> theirs\n"
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(conflict), 0o666); err != nil {
		log.Fatal(err)
	}
	_, err = store.Test("example.com/agents", "TestGreet")
	fmt.Println("conflict:", errors.Is(err, snapshot.ErrConflict))
	if err := store.RebuildManifest(); err != nil {
		log.Fatal(err)
	}
	entries, err := store.Test("example.com/agents", "TestGreet")
	fmt.Println(len(entries), err)
	// Output:
	// conflict: true
	// 1 <nil>
}

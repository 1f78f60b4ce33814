package recorder

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A scene is a store and a provider, for runs without package testing in between.
type scene struct {
	t        *testing.T
	dir      string
	provider *fakeprovider.Server
}

func newScene(t *testing.T) *scene {
	s := &scene{t, t.TempDir(), fakeprovider.New(t)}
	s.provider.Handle(fakeprovider.Echo())
	return s
}

// run runs a test and returns its failures and what it used.
func (s *scene) run(mode Mode, test func(*Recorder), edit ...func(*Options)) (told []*Failure, did usage.Receipt) {
	s.t.Helper()
	o := Options{
		Dir: s.dir, Shown: "STORE", Package: "example.com/m", Test: "TestIt", Accept: "ACCEPT", TestCommand: "ACCEPT", Mode: mode,
		Source:   func() snapshot.Source { return snapshot.Source{File: "it.go", Line: 1, Function: "ask"} },
		Fail:     func() {},
		Tell:     func(f *Failure) { told = append(told, f) },
		Upstream: s.provider.Transport(),
	}
	for _, e := range edit {
		e(&o)
	}
	r, err := Open(o)
	require.NoError(s.t, err)
	test(r)
	r.Finish(TestEnd{})
	return told, r.Receipt()
}

func asks(prompts ...string) func(*Recorder) {
	return func(r *Recorder) {
		for _, prompt := range prompts {
			body, _ := json.Marshal(map[string]any{"model": "m", "temperature": 0, "seed": 1,
				"messages": []any{map[string]any{"role": "user", "content": prompt}}})
			resp, err := (&http.Client{Transport: r}).Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(string(body)))
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	}
}

// TestUsed says what a run used of its document.
func TestUsed(t *testing.T) {
	id := func(n int) string { return snapshot.ID(snapshot.DocumentName("example.com/m", "TestIt"), n) }
	s := newScene(t)
	for _, c := range []struct {
		name, why string
		mode      Mode
		prompts   []string
		want      usage.Receipt
		failures  int
	}{
		{"nothing recorded", "a call that no record answers", Replay, []string{"a"}, usage.Receipt{Missing: 1}, 1},
		{"record", "in the order of the document", Update, []string{"a", "b"}, usage.Receipt{Recorded: []string{id(1), id(2)}}, 0},
		{"replay", "in the order of the calls", Replay, []string{"b", "a"}, usage.Receipt{Played: []string{id(2), id(1)}}, 0},
		{"drift", "one is held against a record", Replay, []string{"a", "c"}, usage.Receipt{Played: []string{id(1)}, Unplayed: []string{id(2)}, Missing: 1}, 1},
		{"not called", "a record is left", Replay, []string{"a"}, usage.Receipt{Played: []string{id(1)}, Unplayed: []string{id(2)}}, 1},
		{"new", "one was missing", UpdateNew, []string{"a", "c", "b"}, usage.Receipt{Played: []string{id(1), id(2)}, Recorded: []string{id(3)}}, 0},
		{"drop", "a second update serves, and drops what is not called", Update, []string{"a", "c"}, usage.Receipt{Played: []string{id(1), id(3)}}, 0},
		{"confirm", "one of all confirms", UpdateAll, []string{"a", "c"}, usage.Receipt{Recorded: []string{id(1), id(3)}}, 0},
		{"no call", "the document is there", Replay, nil, usage.Receipt{Unplayed: []string{id(1), id(3)}}, 1},
	} {
		failures, did := s.run(c.mode, asks(c.prompts...))
		require.Len(t, failures, c.failures, "%s: %s: %v", c.name, c.why, failures)
		if recorded := s.stored(); recorded != nil {
			c.want.Document = string(recorded.Document.Hash)
		}
		used := usage.Receipt{Document: did.Document, Played: did.Played, Recorded: did.Recorded, Unplayed: did.Unplayed, Missing: did.Missing}
		require.Equal(t, c.want, used, "%s: %s", c.name, c.why)
	}
	for _, mode := range []Mode{Update, UpdateNew} {
		_, did := s.run(mode, asks("a", "c"))
		require.Equal(t, &usage.Update{Kept: []string{id(1), id(3)}}, did.Update, "nothing is new in mode %v", mode)
	}
	_, did := s.run(UpdateAll, asks("a", "c"))
	require.NotZero(t, did.Update.TokensIn*did.Update.TokensOut, "what was bought again")
}

// TestManyFailuresAreSummed tells five of many in full, ten in a line each, and counts the rest.
func TestManyFailuresAreSummed(t *testing.T) {
	s := newScene(t)
	s.run(Update, asks("a"))
	failures, used := s.run(Replay, asks(strings.Split("a bb cc dd ee ff gg hh ii jj kk ll mm nn oo pp qq rr", " ")...))
	require.Equal(t, 17, used.Missing)
	require.Len(t, failures, wholeFailures+1)
	last := failures[wholeFailures].Text
	require.Contains(t, last, "12 more failures\n  openai request has no snapshot")
	require.Contains(t, last, "\n  … and 2 more\naccept: ACCEPT")
}

func TestCallNumbers(t *testing.T) {
	for _, c := range []struct {
		name    string
		numbers []int
		want    string
	}{
		{"one", []int{7}, "call 7"},
		{"ranges", []int{5, 2, 3, 9, 4}, "calls 2-5, 9"},
		{"many", []int{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}, "calls 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …"},
	} {
		require.Equal(t, c.want, calls(c.numbers), c.name)
	}
}

// TestGivenUp records a test whose caller gave its only call up: what was recorded of it goes.
func TestGivenUp(t *testing.T) {
	s := newScene(t)
	s.run(Update, asks("a"))
	failures, _ := s.run(Update, func(r *Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{}`))
		_, err := r.RoundTrip(req)
		require.ErrorIs(t, err, context.Canceled)
	})
	require.Empty(t, failures)
	opened, err := store.Open(s.dir)
	require.NoError(t, err)
	files, err := opened.List()
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestCallsWithoutVolatileValues: only a call with a value that changes in every run is looked up without such values,
// which takes the whole recording.
func TestCallsWithoutVolatileValues(t *testing.T) {
	s := newScene(t)
	s.run(Update, asks("a", "b"))
	s.run(Update, func(r *Recorder) {
		asks("c")(r)
		require.Nil(t, r.run.tape.volatile)
		asks("7f3c9a52-1b64-4d0e-9a77-0c5d21e8b6f4")(r)
		require.NotNil(t, r.run.tape.volatile)
	})
}

// TestUnrelatedCalls compares a call with many records with which it shares nothing. The values that change in every run
// are looked for once in each text.
func TestUnrelatedCalls(t *testing.T) {
	const records = 50
	prompts := func(letter rune) (all []string) {
		for n := range records {
			all = append(all, strings.Repeat(string(letter), n+10))
		}
		return all
	}
	s := newScene(t)
	s.run(Update, asks(prompts('a')...))
	s.run(Update, func(r *Recorder) {
		asks(prompts('b')...)(r)
		allocations := testing.AllocsPerRun(3, func() {
			i, _ := r.run.like(r.run.takes[0].call, nil)
			require.Equal(t, -1, i)
		})
		require.Less(t, allocations, 30.0*records)
	})
}

// TestMedia names what is media in base64, wherever a message has it, and nothing else.
func TestMedia(t *testing.T) {
	data := []byte(strings.Repeat("\xff\xd8\x01", 200))
	encoded := base64.StdEncoding.EncodeToString(data)
	forURLs := strings.TrimRight(base64.URLEncoding.EncodeToString(append(data, 0xff)), "=")
	escaped := strings.ReplaceAll(encoded, "/", `\/`)
	word := strings.Repeat("word ", 200)
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		name, why string
		part      modelio.Part
		named     bool
	}{
		{"text", "a text that is nothing else", modelio.TextPart(encoded), true},
		{"base64url", "in the other alphabet, not padded", modelio.TextPart(forURLs), true},
		{"type", "with parameters", modelio.MediaPart("", "data:audio/L16;rate=24000;base64,"+encoded), true},
		{"line", "of hyphens is a text", modelio.TextPart(strings.Repeat("-", 600)), false},
		{"hex", "so is a number", modelio.TextPart(strings.Repeat("12ab", 200)), false},
		{"slug", "and words with hyphens", modelio.TextPart(strings.Repeat("word-2-", 100)), false},
		{"prose", "words have spaces", modelio.TextPart(word), false},
		{"short", "a word may look like it", modelio.TextPart(encoded[:400]), false},
		{"reasoning", "so here", modelio.ReasoningPart(encoded), true},
		{"url", "with its type", modelio.MediaPart("", "data:image/jpeg;base64,"+encoded), true},
		{"input", "in a tool's input", modelio.Part{ToolRequest: &modelio.ToolRequest{Input: raw(`{"a":["` + encoded + `"]}`)}}, true},
		{"output", "in its output", modelio.Part{ToolResponse: &modelio.ToolResponse{Output: raw(`"` + encoded + `"`)}}, true},
		{"content", "in its parts", modelio.Part{ToolResponse: &modelio.ToolResponse{Content: []modelio.Part{modelio.TextPart(encoded)}}}, true},
		{"custom", "escaped slashes are slashes", modelio.Part{Custom: modelio.Object{"a": raw(`{"b":"` + escaped + `"}`), "c": raw("1")}}, true},
		{"metadata", "in metadata", modelio.Part{Metadata: modelio.Object{"a": raw(`"` + encoded + `"`)}}, true},
		{"words", "a long text in JSON", modelio.Part{Custom: modelio.Object{"a": raw(`"` + word + `"`)}}, false},
		{"run", "a run that is no base64", modelio.Part{Custom: modelio.Object{"a": raw(`"` + encoded[1:] + `"`)}}, false},
		{"no JSON", "is for others to refuse", modelio.Part{Custom: modelio.Object{"a": raw(encoded)}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m media
			before, err := json.Marshal(&c.part)
			if c.name != "no JSON" {
				require.NoError(t, err)
			}
			parts := []modelio.Part{c.part}
			message := modelio.Message{Content: parts}
			m.message(&message)
			named := message.Content
			require.Equal(t, c.named, len(m) == 1, c.why)
			after, _ := json.Marshal(&c.part)
			require.Equal(t, string(before), string(after), "what was given is not changed")
			if c.named {
				text, err := json.Marshal(&named[0])
				require.NoError(t, err)
				require.Contains(t, string(text), "blob:sha256:")
				require.NotContains(t, string(text), encoded[:100])
			} else {
				require.True(t, &named[0] == &parts[0])
			}
		})
	}
}

// TestMediaOfRequests names media wherever a request has them: bodies that are no JSON, forms, members without a field.
func TestMediaOfRequests(t *testing.T) {
	sound := append([]byte("RIFF\x24\x08\x00\x00WAVE"), bytes.Repeat([]byte{0xff, 1, 0x7b}, 400)...)
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\n" +
		string(sound) + "\r\n--b--\r\n"
	encoded := base64.StdEncoding.EncodeToString(sound)
	for _, c := range []struct{ name, path, contentType, body, named string }{
		{"body", "/v1/unheard-of", "audio/wav", string(sound), "audio/wav"},
		{"form", "/v1/unheard-of", "multipart/form-data; boundary=b", form, "audio/wav"},
		{"member", "/v1/unheard-of", "application/json", `{"deep":[{"data":"` + encoded + `"}]}`, ""},
		{"options", "/v1/chat/completions", "application/json", `{"messages":[],"audio_bytes":"` + encoded + `"}`, ""},
		{"tool", "/v1/chat/completions", "application/json",
			`{"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"default":"` + encoded + `"}}}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			call := func(r *Recorder) {
				resp, err := (&http.Client{Transport: r}).Post("https://api.example.com"+c.path, c.contentType, strings.NewReader(c.body))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
			answer := func(o *Options) {
				o.Upstream, o.Nondeterministic = &storedCase{status: 200, contentType: "application/json", body: `{"text":"A bell."}`}, "a test"
			}
			failures, _ := s.run(Update, call, answer)
			require.Empty(t, failures)
			failures, _ = s.run(Replay, call, answer)
			require.Empty(t, failures)
			files, err := filepath.Glob(filepath.Join(s.dir, "*", "*.json"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			document, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.Contains(t, string(document), fmt.Sprintf("blob:%s;%s;%d", canon.Sum(sound), c.named, len(sound)))
			require.NotContains(t, string(document), encoded[40:80])
			kept, err := filepath.Glob(filepath.Join(s.dir, "*", "*", canon.Sum(sound).Hex()+".*"))
			require.NoError(t, err)
			require.Len(t, kept, 1)
		})
	}
}

// TestTransportErrors proves that each kind of error comes back as what it was.
func TestTransportErrors(t *testing.T) {
	for _, err := range []error{
		context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF,
		&net.DNSError{Err: "no such host"}, errors.New("another"),
	} {
		recorded := recordedTransportError(err)
		back := replayedTransportError(&snapshot.Snapshot{Response: snapshot.Response{Response: *recorded}})
		require.EqualError(t, back, err.Error())
		var dns *net.DNSError
		require.True(t, errors.Is(back, err) || errors.As(back, &dns) || recorded.Error.Code == "other", err)
		var timeout net.Error
		require.ErrorAs(t, back, &timeout)
		require.Equal(t, isTimeout(err), timeout.Timeout(), err)
	}
	require.NoError(t, replayedTransportError(&snapshot.Snapshot{}))
}

// TestGenerate records and replays the calls of a model without a made-up request, and goes on from
// what the caller changed.
func TestGenerate(t *testing.T) {
	s := newScene(t)
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return &modelio.GenerateResponse{FinishReason: modelio.FinishStop,
			Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("hello")}}}, nil
	})
	test := func(live modelio.Model) func(*Recorder) {
		return func(r *Recorder) {
			text := "hi"
			req := &modelio.GenerateRequest{
				Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{{Text: &text}}}},
				Config:   modelio.Object{"temperature": json.RawMessage("0"), "stopSequences": json.RawMessage(`["."]`)},
			}
			resp, err := r.Generate(context.Background(), Generation{Provider: "acme", Model: "m", Live: live, Request: req})
			require.NoError(t, err)
			require.Equal(t, "hello", *resp.Message.Content[0].Text)
			text = "changed by the caller"
		}
	}
	failures, _ := s.run(Update, test(live))
	require.Empty(t, failures)
	failures, _ = s.run(Replay, test(nil))
	require.Empty(t, failures)
	failures, _ = s.run(Replay, func(r *Recorder) {
		req := &modelio.GenerateRequest{Config: modelio.Object{"a": json.RawMessage("no JSON")}}
		_, err := r.Generate(context.Background(), Generation{Provider: "acme", Model: "m", Request: req})
		require.ErrorContains(t, err, "acme/m: the request cannot be kept: ")
	})
	require.Len(t, failures, 1)
}

// TestModes holds that each mode has its row in both tables, and that the error of an unknown one lists it.
func TestModes(t *testing.T) {
	_, err := ParseMode("again")
	for m, mode := range modes {
		require.NotEmpty(t, mode.name)
		require.NotEmpty(t, sources[m], mode.name)
		require.ErrorContains(t, err, " to "+mode.does)
		require.True(t, mode.live || mode.serves, "%s: no call is live, so the program gets recorded answers", mode.name)
	}
}

// TestModesElsewhere holds that the lists of modes which people read have each mode.
func TestModesElsewhere(t *testing.T) {
	holds := func(file, text string) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, strings.Contains(string(data), text), "%s lacks %q", file, text)
	}
	var names, ofPrograms, flags, others []string
	for m, mode := range modes {
		names = append(names, mode.name)
		if Mode(m) > Update {
			holds("../../traceforgetest/doc.go", "\n//   - "+mode.name+" ")
			page := "agents.md"
			if mode.writes {
				page = "updating.md"
			}
			holds("../../docs/"+page, "TRACEFORGE_UPDATE="+mode.name)
		}
		if Mode(m) > Update && mode.writes {
			holds("../../cmd/traceforge/table.go", `{name: "`+mode.name+`", usage: "`)
			flags = append(flags, `"`+mode.name+`"`)
		}
		if Mode(m) > Update && mode.writes && Mode(m) != UpdateTools { // a program's tools are its own
			ofPrograms = append(ofPrograms, mode.name)
		}
		if Mode(m) > UpdateAll {
			others = append(others, mode.name)
		}
	}
	listed := func(names []string) string {
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	holds("../usage/receipt.go", "// "+listed(names)+"\n")
	holds("../../docs/schemas/receipt.json", `"description": "`+listed(names)+`"`)
	holds("../../cmd/traceforge/update.go", "[]string{"+strings.Join(flags, ", ")+"}")
	holds("../../traceforgetest/update.go", "in the other modes ("+strings.Join(others, ", ")+")")
	holds("../../cmd/traceforge/table.go", "`MODE` is "+listed(ofPrograms)+", see update")
}

// TestPlaceOfARecord makes a call in another function than the recorded one: the record names the new one only if it gets a new
// answer.
func TestPlaceOfARecord(t *testing.T) {
	for _, c := range []struct {
		name, prompt, function string
		mode                   Mode
	}{
		{"unchanged", "a", "ask", UpdateAll},
		{"rekeyed", "b", "ask", Rekey},
		{"changed", "b", "other", Update},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.run(Update, asks("a"))
			told, _ := s.run(c.mode, asks(c.prompt), func(o *Options) {
				o.Source = func() snapshot.Source { return snapshot.Source{File: "other.go", Line: 2, Function: "other"} }
			})
			require.Empty(t, told)
			_, doc := s.open()
			require.Equal(t, c.function, doc.Document.Snapshots[0].Source.Function)
		})
	}
}

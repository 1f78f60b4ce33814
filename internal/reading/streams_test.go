package reading

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// noWords are the names of members whose text is not what a model said, or is said of a whole that is still to come: kinds and
// settings. Those that end in id are none, either. Readings tell nothing of pictures, sound, citations and reasoning.
var noWords = []string{
	"type", "event_type", "object", "jsonrpc", "role", "status", "stop_reason", "responseId", "progressToken", "modality",
	"model", "modelVersion", "system_fingerprint", "created_at", "processed_at", "phase", "obfuscation", "p", "signature", "error", "prompt", "chat_history",
	"background", "output_format", "quality", "size", "service_tier", "verbosity", "tool_choice", "truncation",
	"b64_json", "audio", "citations", "summary",
}

// saidElsewhere are texts of which nothing is told: Cohere begins a message with an empty plan, and ends one that failed
// with a reason.
var saidElsewhere = []string{"delta/message/tool_plan", "finish_reason"}

// TestStreams changes each text in each event of the streams of all APIs. A record has it then, or a reading tells it. None is told
// of what the fake says as it is.
func TestStreams(t *testing.T) {
	changed := map[string]int{}
	for api, a := range answersOfCases(t) {
		changed[api] += changeTexts(t, api, a)
	}
	for api, a := range answersOfFake(t) {
		if codec, ok := provider.Named(api); ok {
			if resp, err := codec.DecodeResponse(a); err == nil && resp.Error == nil {
				require.Empty(t, Of(a, api, "", resp), "%s: %s", api, a.Body)
			}
		}
		changed[api] += changeTexts(t, api, a)
	}
	for api, of := range byAPI {
		inFrames := api == "bedrock.converse"
		require.True(t, changed[api] > 0 || inFrames || of.ours || api == "openai.responses.stored", "%s has no stream that is changed", api)
	}
}

// TestPieces adds up events that differ in one text only as if each were read by itself, which continues spares: in the streams of
// the fake, each event with a text comes several times, with other texts.
func TestPieces(t *testing.T) {
	pieces := 0
	for api, a := range answersOfFake(t) {
		if a.Body[0] == 0 || len(a.Body) > 4<<10 || byAPI[api].steps == nil {
			continue
		}
		for n, event := range a.Seen() {
			var value any
			if json.Unmarshal(event.Said, &value) != nil {
				continue
			}
			at := bytes.Index(a.Body, event.Said)
			start := max(0, bytes.LastIndex(a.Body[:at], []byte("\n\n")))
			end := at + max(0, bytes.Index(append(a.Body[at:], "\n\n"...), []byte("\n\n")))
			eachText(value, "", func(path string) {
				said, err := json.Marshal(value)
				require.NoError(t, err)
				body := a.Body[:start:start]
				for _, text := range []string{"", "EVIL", `\n`, "\u00c9", "EVIL", "a"} {
					body = slices.Concat(body, a.Body[start:at], bytes.ReplaceAll(said, []byte("EVIL"), []byte(text)), a.Body[at+len(event.Said):end])
				}
				pieces++
				body = append(body, a.Body[end:]...)
				requireSameAccounts(t, api, &provider.Answer{Status: 200, ContentType: a.ContentType, Body: body}, fmt.Sprint(n, path))
			})
		}
	}
	require.Greater(t, pieces, 100)
	const event = `data: {"candidates":[{"content":{"parts":[{"text":"%s"},{"functionCall":{"name":"pay","args":{}}}]}}]}` + "\n\n"
	body := fmt.Sprintf(event+event+event, "a", "b", "c")
	requireSameAccounts(t, "google.generate", &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body)}, "a text and a call")
}

// requireSameAccounts holds that all programs of an API read an answer alike, whether events are continued or not.
func requireSameAccounts(t *testing.T, api string, a *provider.Answer, where string) {
	all := func(a *account) string {
		a.blocked()
		return fmt.Sprintf("%q %q %v %v %v %d %d", a.text, a.finish, a.calls, a.pending, a.failed, a.event, a.differs)
	}
	for _, w := range byAPI[api].ways {
		each := w
		each.framing = func(a *provider.Answer, yield func(event) bool) {
			w.framing(a, func(e event) bool { e.Piece = nil; return yield(e) })
		}
		for _, step := range byAPI[api].steps {
			text := string(each.accountOf(a, step, "").text)
			for _, recorded := range []string{"", text, text[:len(text)/2] + "?"} {
				require.Equal(t, all(each.accountOf(a, step, recorded)), all(w.accountOf(a, step, recorded)), "%s %s: %s", api, where, a.Body)
			}
		}
	}
}

// TestHalfEvents cuts the short streams of the fake at each byte. Nothing is told of the half of an event at its end,
// which no program reads, but of what precedes it.
func TestHalfEvents(t *testing.T) {
	cuts := 0
	for api, a := range answersOfFake(t) {
		codec, ok := provider.Named(api)
		if !ok || a.Seen() == nil || a.Body[0] == 0 || len(a.Body) > 2<<10 {
			continue
		}
		for n := range a.Body {
			cut := &provider.Answer{Status: 200, ContentType: a.ContentType, Body: a.Body[:n]}
			resp, err := codec.DecodeResponse(cut)
			if err != nil || resp.Complete || resp.Error != nil {
				continue
			}
			cuts++
			for _, r := range Of(cut, api, "", resp) {
				require.NotContains(t, []string{"error", "line"}, r.Kind, "%s: %s", api, cut.Body)
			}
		}
	}
	require.NotZero(t, cuts)
	evil := &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte("evil\n\ndata: {\"choi")}
	require.Equal(t, "[{1 line evil}]", fmt.Sprint(Of(evil, "openai.chat", "", &modelio.Response{})))
}

// answersOfCases visits the answers with status 200 of the cases of codecs, by their APIs.
func answersOfCases(t *testing.T) iter.Seq2[string, *provider.Answer] {
	return func(yield func(string, *provider.Answer) bool) {
		for _, file := range files(t, "../provider/testdata/*/*.txtar") {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			for _, section := range archive.Files {
				contentType, ok := strings.CutPrefix(section.Name, "answer 200")
				a := &provider.Answer{Status: 200, ContentType: strings.TrimSpace(contentType), Body: section.Data}
				if ok && !yield(apiOf(file), a) {
					return
				}
			}
		}
	}
}

// answersOfFake visits those of the fake.
func answersOfFake(t *testing.T) iter.Seq2[string, *provider.Answer] {
	return func(yield func(string, *provider.Answer) bool) {
		for _, file := range files(t, "../fakeprovider/testdata/*/*.txt") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for answer := range strings.SplitSeq(string(text), "----\n") {
				head, body, _ := strings.Cut(answer, "\n\n")
				contentType, ok := strings.CutPrefix(head, "200 ")
				if ok && !yield(apiOf(file), &provider.Answer{Status: 200, ContentType: contentType, Body: []byte(body)}) {
					return
				}
			}
		}
	}
}

func files(t *testing.T, pattern string) []string {
	all, err := filepath.Glob(filepath.FromSlash(pattern))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// apiOf returns the API whose answers a file of test data has.
func apiOf(file string) string {
	return strings.Replace(filepath.Base(filepath.Dir(file)), "gemini.", "google.", 1)
}

// changeTexts returns how many texts of an answer it has changed.
func changeTexts(t *testing.T, api string, a *provider.Answer) (n int) {
	codec, ok := provider.Named(api)
	if !ok {
		return 0
	}
	if _, err := codec.DecodeResponse(a); err != nil {
		return 0
	}
	at := 0
	for _, event := range a.Seen() {
		at += max(0, bytes.Index(a.Body[at:], event.Said))
		before, after := a.Body[:at], a.Body[min(len(a.Body), at+len(event.Said)):]
		var value any
		values := json.NewDecoder(bytes.NewReader(event.Said))
		values.UseNumber()
		if values.Decode(&value) != nil || bytes.Contains(event.Said, []byte(`"type":"response.reasoning_`)) {
			continue
		}
		eachText(value, "", func(path string) {
			said, err := json.Marshal(value)
			require.NoError(t, err)
			b := &provider.Answer{Status: 200, ContentType: a.ContentType, Body: slices.Concat(before, said, after)}
			resp, err := codec.DecodeResponse(b)
			if err != nil {
				return
			}
			n++
			record, err := json.Marshal(resp)
			require.NoError(t, err)
			if !bytes.Contains(record, []byte("EVIL")) && len(Of(b, codec.API, "", resp)) == 0 {
				t.Errorf("%s: nothing tells %s in %s", codec.API, path, said)
			}
		})
	}
	return n
}

// eachText calls a function with each text within a value changed, and with its path.
func eachText(v any, path string, with func(path string)) {
	change := func(name string, m any, set func(any)) {
		path := strings.TrimPrefix(path+"/"+name, "/")
		text, isText := m.(string)
		switch {
		case slices.Contains(noWords, name), strings.HasSuffix(name, "id"), slices.Contains(saidElsewhere, path):
		case isText:
			set("EVIL" + text)
			with(path)
			set(text)
		default:
			eachText(m, path, with)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			change(name, m, func(m any) { v[name] = m })
		}
	case []any:
		for i, m := range v {
			change(fmt.Sprint(i), m, func(m any) { v[i] = m })
		}
	}
}

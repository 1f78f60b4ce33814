package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// TestNoise compares two answers of the corpus to equal requests, and counts the changed members of the record besides
// words and model: a time, a latency, the hash of the bytes, two counts and two seals, and each other changed count.
func TestNoise(t *testing.T) {
	byRequest := map[string][]*interaction{}
	var order []string
	for _, i := range slices.Concat(traffic(t, "sequences.jsonl"), traffic(t, "corpus.jsonl")) {
		if api, _ := i.endpoint(); api == generic || i.retryable() || i.Status >= 300 {
			continue
		}
		asked := i.Method + " " + i.URL + " " + string(i.request())
		if byRequest[asked] == nil {
			order = append(order, asked)
		}
		byRequest[asked] = append(byRequest[asked], i)
	}
	var counts []int
	often := map[string]int{}
	for _, asked := range order {
		for n, again := range byRequest[asked][1:] {
			first := byRequest[asked][n]
			if bytes.Equal(first.response(), again.response()) {
				continue
			}
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			was, now := members(recordedAlone(t, dir, first)), members(recordedAlone(t, dir, again))
			count := 0
			if saidBy(was) == saidBy(now) {
				continue
			}
			for pointer, value := range now {
				if before, had := was[pointer]; (!had || before != value) && !isSaid(pointer) && !isMeasured(pointer) {
					often[pointer]++
					count++
				}
			}
			counts = append(counts, count)
		}
	}
	require.Greater(t, len(counts), 10)
	slices.Sort(counts)
	t.Logf("%d second answers: %d members at the median, %d at most; %v", len(counts), counts[len(counts)/2], counts[len(counts)-1], often)
	require.LessOrEqual(t, counts[len(counts)/2], 7)
}

// TestDocumentsOfTraffic counts the lines of documents of one call. SF's own JavaScript computes their hashes.
func TestDocumentsOfTraffic(t *testing.T) {
	var lines []int
	var files []string
	kept := t.TempDir()
	for _, i := range sampled(traffic(t, "corpus.jsonl")) {
		if api, _ := i.endpoint(); api == generic || i.retryable() {
			continue
		}
		if text := recordedAlone(t, filepath.Join(t.TempDir(), ".ai-snapshots"), i); text != nil {
			lines = append(lines, bytes.Count(text, []byte("\n")))
			files = append(files, filepath.Join(kept, strconv.Itoa(len(files))+".json"))
			require.NoError(t, os.WriteFile(files[len(files)-1], text, 0o666))
		}
	}
	slices.Sort(lines)
	t.Logf("%d documents: %d lines at the median", len(lines), lines[len(lines)/2])
	require.LessOrEqual(t, lines[len(lines)/2], 80)

	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, and with it SF's own calculation of the hashes cannot run")
	}
	out, err := exec.Command(node, append([]string{"../snapshot/testdata/hashes.js"}, files...)...).Output()
	require.NoError(t, err)
	computed := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	require.Len(t, computed, len(files))
	for i, line := range computed {
		var is struct {
			Individual []string
			Combined   string
			LaidOut    bool
		}
		require.NoError(t, json.Unmarshal(line, &is))
		text, err := os.ReadFile(files[i])
		require.NoError(t, err)
		doc, err := snapshot.Parse(text)
		require.NoError(t, err)
		require.True(t, is.LaidOut, "%s", text)
		require.Equal(t, doc.Hash.Hex(), is.Combined, "%s", text)
		require.Equal(t, []string{doc.Snapshots[0].Hash.Hex()}, is.Individual, "%s", text)
	}
}

// recordedAlone records an interaction as the only call of a test, even if the store has it already, and returns the
// document, or nil if the recorder refuses it.
func recordedAlone(t *testing.T, dir string, i *interaction) []byte {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", "all")
	tb := tbtest.Run("TestNoise", func(tb *tbtest.TB) {
		i.call(tb, traceforgetest.New(tb, trafficOptions(dir, &inOrder{rest: []*interaction{i}})...))
	})
	if tb.Failed() {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, i.Origin)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return text
}

// isMeasured reports whether a member is a time measured on this machine.
func isMeasured(pointer string) bool {
	return strings.HasSuffix(pointer, "/latency_ms") || strings.Contains(pointer, "/timing_ms")
}

// isSaid reports whether a member holds words of an answer, or its model.
func isSaid(pointer string) bool {
	_, member, _ := strings.Cut(pointer, "/response/")
	name, _, _ := strings.Cut(member, "/")
	return slices.Contains([]string{"candidates", "citations", "content", "model", "parts", "tool_calls"}, name)
}

// saidBy returns the words of an answer.
func saidBy(members map[string]string) string {
	var said []string
	for pointer, value := range members {
		if isSaid(pointer) {
			said = append(said, pointer+value)
		}
	}
	slices.Sort(said)
	return strings.Join(said, "\n")
}

// members returns the values of a document by their pointers.
func members(document []byte) map[string]string {
	all := map[string]string{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				walk(at+"/"+name, value)
			}
		case []any:
			for i, value := range v {
				walk(at+"/"+strconv.Itoa(i), value)
			}
		default:
			text, _ := json.Marshal(v)
			all[at] = string(text)
		}
	}
	var v any
	_ = json.Unmarshal(document, &v)
	walk("", v)
	return all
}

// TestNoiseOfAModel records a conversation of 200 questions again with a model that answers with the same words. Each
// call then has another model, time, hash of bytes and seal. Calls in the middle inherit the model.
func TestNoiseOfAModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	was, lines := conversation(t, dir, 200, "gpt-4o-2024-08-06")
	now, _ := conversation(t, dir, 200, "gpt-4o-2024-11-20")
	changed := map[string]int{}
	for pointer, value := range now {
		if was[pointer] != value {
			changed[pointer[strings.LastIndex(pointer, "/")+1:]]++
		}
	}
	total := 0
	for _, n := range changed {
		total += n
	}
	t.Logf("200 calls, %d lines: %d members: %v", lines, total, changed)
	require.Less(t, total, 200*5+10)
}

// TestLinesOfTurns counts the lines of a new test of 100 turns.
func TestLinesOfTurns(t *testing.T) {
	_, lines := conversation(t, filepath.Join(t.TempDir(), ".ai-snapshots"), 100, "gpt-4o-2024-08-06")
	t.Logf("100 turns: %d lines", lines)
	require.LessOrEqual(t, lines, 4750)
}

// conversation records a conversation of turns calls with all headers that OpenAI sends. It returns the members and the
// number of lines of the document.
func conversation(t *testing.T, dir string, turns int, model string) (map[string]string, int) {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", "all")
	upstream := roundTrips(func(r *http.Request) (*http.Response, error) {
		header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {model}, "Openai-Processing-Ms": {"12"}}
		for _, name := range []string{"Limit-Requests", "Limit-Tokens", "Remaining-Requests", "Remaining-Tokens", "Reset-Requests", "Reset-Tokens"} {
			header.Set("X-Ratelimit-"+name, model)
		}
		body := `{"id":"chatcmpl-` + model + `","object":"chat.completion","created":1,"model":"` + model + `","system_fingerprint":"fp","choices":[{"index":0,` +
			`"message":{"role":"assistant","content":"It rains."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`
		return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	tb := tbtest.Run("TestTurns", func(tb *tbtest.TB) {
		client := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream)).Client()
		var messages []map[string]string
		for n := range turns {
			messages = append(messages, map[string]string{"role": "user", "content": "And how is the weather in town " + strconv.Itoa(n) + "?"})
			body, _ := json.Marshal(map[string]any{"model": "gpt-4o", "temperature": 0, "seed": 1, "messages": messages})
			resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
			if err != nil {
				tb.Fatalf("%v", err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			messages = append(messages, map[string]string{"role": "assistant", "content": "It rains."})
		}
	})
	require.False(t, tb.Failed(), tb.Logged())
	files, err := filepath.Glob(filepath.Join(dir, "openai", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return members(text), bytes.Count(text, []byte("\n"))
}

// TestNoiseOfARekey changes one word of the prompt of 197 imported calls, and keeps their answers.
func TestNoiseOfARekey(t *testing.T) {
	const calls = 197
	dir, file := filepath.Join(t.TempDir(), ".ai-snapshots"), filepath.Join(t.TempDir(), "TestAll.yaml")
	asked := func(n int, how string) string {
		return fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"system","content":"Answer %s."},{"role":"user","content":"What is %d?"}]}`, how, n)
	}
	var text strings.Builder
	text.WriteString("---\nversion: 2\ninteractions:\n")
	for n := range calls {
		fmt.Fprintf(&text, "- request:\n    body: '%s'\n    url: https://api.openai.com/v1/chat/completions\n    method: POST\n"+
			"  response:\n    body: '{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"A number.\"}}]}'\n"+
			"    headers: {Content-Type: [application/json]}\n    code: 200\n", asked(n, "briefly"))
	}
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o666))
	run := func(mode, how string, options ...traceforgetest.Option) map[string]string {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		tb := tbtest.Run("TestAll", func(tb *tbtest.TB) {
			client := traceforgetest.New(tb, append(options, traceforgetest.Dir(dir))...).Client()
			for n := range calls {
				resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(asked(n, how)))
				if err != nil {
					tb.Fatalf("%v", err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		require.False(t, tb.Failed(), tb.Logged())
		files, err := filepath.Glob(filepath.Join(dir, "openai", "*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		return members(text)
	}
	old, err := cassette.Open(file)
	require.NoError(t, err)
	was := run("1", "briefly", traceforgetest.Upstream(old))
	now := run("rekey", "in short")
	changed := map[string]int{}
	for pointer, value := range now {
		if was[pointer] != value {
			changed[pointer[strings.LastIndex(pointer, "/")+1:]]++
		}
	}
	t.Logf("%d calls: %v", calls, changed)
	require.Equal(t, calls, changed["stale"])
	require.LessOrEqual(t, changed["hash"], calls+1)
	require.LessOrEqual(t, changed["content"], calls)
	require.Len(t, changed, 3, "a prompt, a mark and seals: %v", changed)
}

type roundTrips func(*http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

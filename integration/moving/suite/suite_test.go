package suite

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The size of a suite.
const (
	tests = 40
	calls = 150
)

// A call is a provider's recorded call with its answer.
type call struct {
	Method, URL, Body, Sum string
	Header                 http.Header
	answer                 answer
}

type answer struct {
	status int
	header http.Header
	body   string
}

// A suite is a module whose tests use a tool, and its state before and after it moves.
type suite struct {
	*testing.T
	tool, dir     string
	files         map[string]string // of testdata/suite.txtar
	before, after state
	lines         string // numbers of added and removed lines
	records       int
}

// A state is the size and the speed of a suite.
type state struct {
	files  int
	bytes  int64
	binary int64
	times  []time.Duration
}

// TestTable moves each tool's suite by the recipe, checks that nothing is lost, and prints the table of
// docs/migrating.md.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	sample := sampleOf(t)
	var rows []string
	for _, tool := range []string{"go-vcr", "httprr"} {
		s := &suite{T: t, tool: tool, dir: toy.Dir(t), files: map[string]string{}}
		for _, f := range txtar.Parse(read(t, "testdata/suite.txtar")).Files {
			s.files[f.Name] = string(f.Data)
		}
		s.record(sample)
		s.move()
		s.race()
		s.leave()
		require.Equal(t, calls, s.records, "a call is a record")
		rows = append(rows, s.row())
	}
	t.Logf("%s", "\n| suite | lines changed | calls | records | files | bytes | test binary | replay |\n|---|---|---|---|---|---|---|---|\n"+
		strings.Join(rows, "\n"))
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

// sampleOf returns different calls from the recorded traffic, a third of them streams.
func sampleOf(t *testing.T) (sample []call) {
	t.Helper()
	dir := os.Getenv("TRACEFORGE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	f, err := os.Open(filepath.Join(dir, "corpus.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the recorded traffic is not part of the repository: TRACEFORGE_CORPUS names it")
	}
	require.NoError(t, err)
	defer f.Close()
	left := map[bool]int{true: calls / 3, false: calls - calls/3} // keyed by whether the call is a stream
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		c, ok := callOf(t, lines.Bytes())
		stream := strings.Contains(c.answer.header.Get("Content-Type"), "event-stream")
		if !ok || left[stream] == 0 || seen[c.URL+c.Body] || !kept(t, &c) {
			continue
		}
		seen[c.URL+c.Body] = true
		left[stream]--
		sample = append(sample, c)
	}
	require.NoError(t, lines.Err())
	require.Len(t, sample, calls)
	return sample
}

// callOf reads a call. ok is false if the call failed, or if its bytes are not those of the wire.
func callOf(t *testing.T, line []byte) (c call, ok bool) {
	t.Helper()
	var r struct {
		Method             string      `json:"method"`
		URL                string      `json:"url"`
		RequestHeaders     http.Header `json:"request_headers"`
		RequestBody        string      `json:"request_body"`
		RequestEncoding    string      `json:"request_body_encoding"`
		Status             int         `json:"status"`
		ResponseHeaders    http.Header `json:"response_headers"`
		ResponseBody       string      `json:"response_body"`
		ResponseEncoding   string      `json:"response_body_encoding"`
		RequestFidelity    string      `json:"request_fidelity"`
		ResponseFidelity   string      `json:"response_fidelity"`
		SyntheticSuspect   bool        `json:"synthetic_suspect"`
		ResponseCompressed any         `json:"response_was_compressed"`
		RequestCompressed  any         `json:"request_was_compressed"`
	}
	require.NoError(t, json.Unmarshal(line, &r))
	wire := r.RequestFidelity+r.ResponseFidelity == "" && !r.SyntheticSuspect && r.ResponseCompressed == nil && r.RequestCompressed == nil
	if !wire || r.Method != http.MethodPost || r.Status != http.StatusOK || r.RequestEncoding != "utf8" || r.ResponseEncoding != "utf8" {
		return c, false
	}
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta"} {
		if values := r.RequestHeaders.Values(name); len(values) > 0 {
			header[name] = values
		}
	}
	header.Set("Authorization", "Bearer unused")
	said := http.Header{}
	for _, name := range []string{"Content-Type", "Date"} {
		said[name] = r.ResponseHeaders.Values(name)
	}
	sum := sha256.Sum256([]byte(r.ResponseBody))
	return call{r.Method, r.URL, r.RequestBody, hex.EncodeToString(sum[:]), header, answer{r.Status, said, r.ResponseBody}},
		header.Get("Content-Type") != ""
}

// RoundTrip answers with the recorded answer. It is the upstream in kept.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.answer.status, Header: c.answer.header, Request: req,
		Body: io.NopCloser(strings.NewReader(c.answer.body))}, nil
}

// kept reports whether a call can be recorded without options. The page describes the options for other calls.
func kept(t *testing.T, c *call) bool {
	t.Helper()
	r, err := recorder.Open(recorder.Options{
		Dir: t.TempDir(), Package: "example.com/suite", Test: "TestIt", Mode: recorder.Update, Upstream: c,
		Lifted: true, Nondeterministic: "sampled", Fail: func() {}, Tell: func(*recorder.Failure) {},
		Source: func() snapshot.Source { return snapshot.Source{File: "a_test.go", Line: 1, Function: "TestIt"} },
	})
	require.NoError(t, err)
	req, err := http.NewRequest(c.Method, c.URL, strings.NewReader(c.Body))
	if err != nil {
		return false
	}
	req.Header = c.Header
	if r.Try(req) != nil || len(r.Unkept()) > 0 {
		return false
	}
	r.Finish(recorder.TestEnd{Skipped: true})
	return true
}

// record writes the suite and records it with its tool.
func (s *suite) record(sample []call) {
	s.Helper()
	byRequest := map[string]answer{}
	var each [tests][]call
	for i, c := range sample {
		each[i%tests] = append(each[i%tests], c)
		byRequest[c.URL+c.Body] = c.answer
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said := byRequest[r.Header.Get("X-Asked")+string(body)]
		maps.Copy(w.Header(), said.header)
		w.WriteHeader(max(said.status, 100))
		io.WriteString(w, said.body)
	}))
	defer server.Close()

	s.write("go.mod", strings.Replace(string(read(s.T, "../go.mod")), "/integration/moving", "/suite", 1))
	s.write("go.mod", strings.NewReplacer("module github.com/traceforge/traceforge-go/suite", "module example.com/suite", "=> ../../", "=> "+s.root()).
		Replace(string(read(s.T, filepath.Join(s.dir, "go.mod")))))
	s.write("go.sum", string(read(s.T, "../go.sum")))
	data, err := json.Marshal(each)
	require.NoError(s, err)
	s.write("calls.json", string(data))
	s.write("calls_test.go", s.files["calls_test.go"])
	s.write("internal/httprr/httprr.go", string(read(s.T, "../internal/httprr/httprr.go")))
	var functions strings.Builder
	functions.WriteString("package suite\n\nimport \"testing\"\n")
	for n := range tests {
		fmt.Fprintf(&functions, "\nfunc TestCase%02d(t *testing.T) { run(t, %d) }\n", n+1, n)
	}
	s.write("suite_test.go", functions.String())
	s.write("helper_test.go", s.files[s.tool+"/helper_test.go"])
	s.goTest("RECORD=1", "LIVE_URL="+server.URL)
	s.before = s.kept("testdata")
}

// move moves the suite by the recipe.
func (s *suite) move() {
	s.Helper()
	old := s.files[s.tool+"/helper_test.go"]
	s.before.binary = s.build("before.test")
	s.write("helper_test.go", s.files[s.tool+"/moving_test.go"])
	s.goTest("TRACEFORGE_UPDATE=1")
	s.write("helper_test.go", s.files["moved_test.go"])
	require.NoError(s, os.Rename(filepath.Join(s.dir, "testdata"), filepath.Join(s.dir, "old")))
	s.goTest("TRACEFORGE_UPDATE=")
	require.NoError(s, os.Rename(filepath.Join(s.dir, "old"), filepath.Join(s.dir, "testdata"))) // race needs it
	s.after = s.kept(".ai-snapshots")
	s.after.binary = s.build("after.test")
	s.lines = changed(old, s.files["moved_test.go"])
	kept, err := store.Open(filepath.Join(s.dir, ".ai-snapshots"))
	require.NoError(s, err)
	documents, err := kept.List()
	require.NoError(s, err)
	require.Len(s, documents, tests)
	for _, file := range documents {
		doc, err := kept.Load(strings.TrimSuffix(filepath.Base(file), ".json"), filepath.Dir(file))
		require.NoError(s, err)
		s.records += len(doc.Document.Snapshots)
	}
}

// race replays the old and the new suite in turn.
func (s *suite) race() {
	s.Helper()
	const rounds = 7
	for range rounds {
		for name, state := range map[string]*state{"before.test": &s.before, "after.test": &s.after} {
			start := time.Now()
			s.run("./" + name)
			state.times = append(state.times, time.Since(start))
		}
	}
}

// leave exports the store and has go-vcr answer the calls from it, with its own matcher.
func (s *suite) leave() {
	s.Helper()
	command := filepath.Join(s.TempDir(), "traceforge")
	s.run("go", "-C", filepath.Join(s.root(), "cmd", "traceforge"), "build", "-o", command, ".", "GOFLAGS="+toy.Flags())
	require.NoError(s, os.RemoveAll(filepath.Join(s.dir, "testdata")))
	said := s.run(command, "export", "--to", "go-vcr", "-o", ".")
	require.NotContains(s, said, "left out")
	require.NoError(s, os.RemoveAll(filepath.Join(s.dir, ".ai-snapshots")))
	require.Equal(s, tests, s.kept("testdata").files)
	ignored := regexp.MustCompile(`cassette\.WithIgnoreHeaders\(.*\{.*\}\.\.\.\)`).FindString(said)
	require.NotEmpty(s, ignored, said)
	s.write("helper_test.go", strings.Replace(s.files["go-vcr/helper_test.go"], `cassette.WithIgnoreHeaders("Authorization")`, ignored, 1))
	s.goTest()
}

func (s *suite) root() string {
	root, err := filepath.Abs("../../..")
	require.NoError(s, err)
	return root
}

func (s *suite) write(name, text string) {
	s.Helper()
	file := filepath.Join(s.dir, name)
	require.NoError(s, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(s, os.WriteFile(file, []byte(text), 0o666))
}

func (s *suite) goTest(env ...string) {
	s.Helper()
	s.run("go", append([]string{"test", "-count=1", "."}, env...)...)
}

func (s *suite) build(name string) int64 {
	s.Helper()
	s.run("go", "test", "-c", "-o", name, ".")
	info, err := os.Stat(filepath.Join(s.dir, name))
	require.NoError(s, err)
	return info.Size()
}

// run runs a program and returns its output. Arguments like A=b are added to its environment.
func (s *suite) run(name string, args ...string) string {
	s.Helper()
	cmd := exec.Command(name)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+toy.Flags("-mod=mod"), "GOPROXY=off", "GOWORK=off", "GONOSUMDB=*", "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=")
	for _, arg := range args {
		if strings.Contains(arg, "=") && arg[0] != '-' {
			cmd.Env = append(cmd.Env, arg)
			continue
		}
		cmd.Args = append(cmd.Args, arg)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(s, err, "%s: %s", cmd, out[max(0, len(out)-4000):])
	return string(out)
}

// kept counts the files and bytes in a directory, without files that git does not track.
func (s *suite) kept(dir string) (k state) {
	s.Helper()
	require.NoError(s, filepath.WalkDir(filepath.Join(s.dir, dir), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "manifest.json" {
			return err
		}
		info, err := d.Info()
		k.files++
		k.bytes += info.Size()
		return err
	}))
	return k
}

// changed counts added and removed lines between two texts, like git.
func changed(from, to string) string {
	a, b := strings.Split(from, "\n"), strings.Split(to, "\n")
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			common[i+1][j+1] = max(common[i][j+1], common[i+1][j])
			if a[i] == b[j] {
				common[i+1][j+1] = common[i][j] + 1
			}
		}
	}
	n := common[len(a)][len(b)]
	return fmt.Sprintf("+%d −%d", len(b)-n, len(a)-n)
}

func median(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

// row returns the suite's row in the table.
func (s *suite) row() string {
	size := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
	var b bytes.Buffer
	fmt.Fprintf(&b, "| %s | %s | %d | %d | %d → %d | %s → %s | %s → %s | 1 → %.2f |", s.tool, s.lines, calls, s.records,
		s.before.files, s.after.files, size(s.before.bytes), size(s.after.bytes), size(s.before.binary), size(s.after.binary),
		float64(median(s.after.times))/float64(median(s.before.times)))
	return b.String()
}

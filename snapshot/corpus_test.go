package snapshot_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An interaction is one line of the corpus of recorded traffic.
type interaction struct {
	Origin           string
	Method           string
	URL              string
	RequestHeaders   http.Header `json:"request_headers"`
	RequestBody      string      `json:"request_body"`
	RequestEncoding  string      `json:"request_body_encoding"`
	Status           int
	ResponseHeaders  http.Header `json:"response_headers"`
	ResponseBody     string      `json:"response_body"`
	ResponseEncoding string      `json:"response_body_encoding"`
}

// corpus returns every step-th interaction of a file of recorded traffic, which a user's clone does not have.
func corpus(tb testing.TB, name string, step int) (all []*interaction) {
	tb.Helper()
	root := os.Getenv("TRACEFORGE_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "corpus")
	}
	file, err := os.Open(filepath.Join(root, name))
	if errors.Is(err, os.ErrNotExist) {
		tb.Skipf("%s is not here (set TRACEFORGE_CORPUS): recorded traffic is no part of the project", name)
	}
	require.NoError(tb, err)
	defer file.Close()
	lines := bufio.NewReader(file)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 && n%step == 0 {
			x := &interaction{}
			require.NoError(tb, json.Unmarshal(line, x))
			all = append(all, x)
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(tb, err)
	}
}

// These match values for which recorders store a name: media, and random values that a client sends back unread.
var (
	media  = regexp.MustCompile(`"(data:[^",]*,)?[A-Za-z0-9+/]{510,}={0,2}"`)
	opaque = regexp.MustCompile(`("(?:signature|thoughtSignature|thought_signature|encrypted_content)": ?)"[^"]{20,}"`)
)

func stored(tb testing.TB, body, encoding string) []byte {
	if encoding == "base64" {
		b, err := base64.StdEncoding.DecodeString(body)
		require.NoError(tb, err)
		return b
	}
	text := media.ReplaceAllString(body, `"blob:sha256:`+strings.Repeat("0", 64)+`;;1"`)
	return []byte(opaque.ReplaceAllString(text, `$1"signature_1"`))
}

// decode returns the interaction's call, or false if no codec takes it.
func (x *interaction) decode(tb testing.TB) (*modelio.Request, *modelio.Response, bool) {
	u, err := url.Parse(x.URL)
	require.NoError(tb, err)
	w := &provider.Wire{
		Method: x.Method, URL: u, ContentType: x.RequestHeaders.Get("Content-Type"),
		Body: stored(tb, x.RequestBody, x.RequestEncoding),
	}
	codec, ok := provider.Match(w)
	if !ok {
		return nil, nil, false
	}
	req, err := codec.DecodeRequest(w)
	if err != nil {
		return nil, nil, false
	}
	resp, err := codec.DecodeResponse(&provider.Answer{
		Status: x.Status, ContentType: x.ResponseHeaders.Get("Content-Type"),
		Body: stored(tb, x.ResponseBody, x.ResponseEncoding),
	})
	if err != nil {
		resp = &modelio.Response{Error: &modelio.ProviderError{Message: "undecodable"}}
	}
	return req, resp, true
}

// record returns a call as the n-th record of its test, with ids numbered like a recorder does.
func (x *interaction) record(test string, n int, req *modelio.Request, resp *modelio.Response) snapshot.Snapshot {
	s := record(test, n)
	s.Request = *req
	s.Request.Messages, _ = modelio.NormalizeRefs(req.Messages)
	s.Response = snapshot.Response{Response: *resp, Status: x.Status, LatencyMS: 1}
	s.Response.Candidates = nil
	for _, c := range resp.Candidates {
		whole, _ := modelio.NormalizeRefs(append(req.Messages[:len(req.Messages):len(req.Messages)], c.Message))
		c.Message = whole[len(whole)-1]
		s.Response.Candidates = append(s.Response.Candidates, c)
	}
	if x.Status == 200 {
		outOfRange(&s.Request)
	}
	return s
}

// outOfRange moves parameters outside SF's ranges to the options, like recorders do.
func outOfRange(r *modelio.Request) {
	for _, p := range modelio.Parameters {
		field := p.Field(r)
		if *field == nil {
			continue
		}
		if f, err := (*field).Float64(); err == nil && (f < p.Least || f > p.Most) {
			r.Options = clone(r.Options)
			r.Options[p.Name] = json.RawMessage(**field)
			*field = nil
		}
	}
}

func clone(o modelio.Object) modelio.Object {
	c := modelio.Object{}
	maps.Copy(c, o)
	return c
}

// TestCorpusLines checks that at least 99 % of the lines of documents of real calls have at most 200 characters, and
// that reading a document restores every text.
func TestCorpusLines(t *testing.T) {
	t.Parallel()
	const most = 200
	lines, long, documents := 0, 0, 0
	start := time.Now()
	var longest []string
	for i, x := range corpus(t, "corpus.jsonl", tbtest.Sampled(5, 1)) {
		req, resp, ok := x.decode(t)
		if !ok {
			continue
		}
		s := x.record("TestCorpus", 1, req, resp)
		before, err := snapshot.RequestCore(&s.Request, nil)
		require.NoError(t, err, x.Origin)
		said, err := snapshot.ResponseCore(&s.Response)
		require.NoError(t, err, x.Origin)
		data := encode(t, document(t, s))
		require.NoError(t, schematest.Validate("document", data), x.Origin)
		documents++
		doc, violations := spelling.Examine(data)
		require.Empty(t, violations, x.Origin)
		after, err := snapshot.RequestCore(&doc.Snapshots[0].Request, nil)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), x.Origin)
		after, err = snapshot.ResponseCore(&doc.Snapshots[0].Response)
		require.NoError(t, err)
		require.Equal(t, string(said), string(after), x.Origin)
		for line := range strings.Lines(string(data)) {
			lines++
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > most {
				long++
				longest = append(longest, fmt.Sprintf("%d %s", i, strings.TrimSpace(line)))
			}
		}
	}
	if file := os.Getenv("LONG_LINES"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(longest, "\n")), 0o666))
	}
	t.Logf("%d documents, %d lines, %d (%.2f %%) of more than %d characters, %v", documents, lines, long,
		100*float64(long)/float64(lines), most, time.Since(start).Round(time.Millisecond))
	require.Less(t, 100*long, lines)
}

// TestCorpusContinues checks that in recorded conversations and tool loops, the answer that a client sends back is
// recognized in every spelling on the wire.
func TestCorpusContinues(t *testing.T) {
	t.Parallel()
	type tally struct{ loops, known, sent int }
	tallies := map[string]*tally{}
	var unknown []string
	for _, file := range []string{"sequences.jsonl", "corpus.jsonl"}[:tbtest.Sampled(1, 2)] {
		cassettes := map[string][]snapshot.Snapshot{}
		origins := map[string]string{}
		for _, x := range corpus(t, file, 1) {
			cassette, _, _ := strings.Cut(x.Origin, "#")
			req, resp, ok := x.decode(t)
			if !ok || x.Status >= 300 {
				continue
			}
			s := x.record(cassette, len(cassettes[cassette])+1, req, resp)
			cassettes[cassette] = append(cassettes[cassette], s)
			origins[s.ID] = x.Origin
		}
		for _, name := range slices.Sorted(maps.Keys(cassettes)) {
			doc := document(t, cassettes[name]...)
			data := encode(t, doc)
			require.NoError(t, schematest.Validate("document", data), name)
			again := parse(t, data)
			for i := range doc.Snapshots {
				s := &doc.Snapshots[i]
				before, err := snapshot.RequestCore(&s.Request, nil)
				require.NoError(t, err)
				after, err := snapshot.RequestCore(&again.Snapshots[i].Request, nil)
				require.NoError(t, err)
				require.Equal(t, string(before), string(after), s.ID)
				base := followed(doc.Snapshots[:i], s)
				if base == nil {
					continue
				}
				row := tallies[s.Request.API]
				if row == nil {
					row = &tally{}
					tallies[s.Request.API] = row
				}
				row.loops++
				if s.Continues.Messages > len(base.Request.Messages) {
					row.known++
					if s.Continues.Sent != nil {
						row.sent++
					}
				} else {
					unknown = append(unknown, origins[s.ID])
				}
			}
		}
	}
	for _, api := range slices.Sorted(maps.Keys(tallies)) {
		row := tallies[api]
		t.Logf("%-20s %4d answers sent back, %4d known again, %4d of them in another spelling", api, row.loops, row.known, row.sent)
	}
	t.Logf("not known:\n%s", strings.Join(unknown, "\n"))
}

// followed returns the latest earlier call whose whole request s begins with, followed by a message of the model, or
// nil.
func followed(earlier []snapshot.Snapshot, s *snapshot.Snapshot) *snapshot.Snapshot {
	for i := len(earlier) - 1; i >= 0; i-- {
		base := earlier[i].Request.Messages
		if n := len(base); n > 0 && n < len(s.Request.Messages) && s.Request.Messages[n].Role == modelio.RoleModel &&
			string(core(s.Request.Messages[:n])) == string(core(base)) {
			return &earlier[i]
		}
	}
	return nil
}

func core(messages []modelio.Message) []byte {
	text, _ := snapshot.RequestCore(&modelio.Request{Messages: messages}, nil)
	return text
}

package integration_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A corpusRow counts the results for the interactions of one endpoint.
type corpusRow struct {
	store                            string // its directory
	interactions, retryable, refused int
	own, generic                     int // recorded by the API's codec; recorded by the generic codec
	identical                        int // replayed byte for byte
	decoded, equal                   int // decoded by the provider's SDK; decoded to equal values in recording and replay
	streams, said                    int // good answers; those whose snapshot has the same content as the SDK's values
	whole, saidWhole                 int
}

func (r *corpusRow) recorded() int { return r.own + r.generic }

// A corpusRun sends recorded traffic through recorders.
type corpusRun struct {
	t     *testing.T
	all   []*interaction
	live  func(index int) http.RoundTripper
	rows  map[string]*corpusRow
	notes []string // faults and omissions

	credible int // refused because of something that looked like a secret; the corpus has no secrets
}

// row returns the row of an endpoint. Each endpoint has its own store.
func (run *corpusRun) row(name string) *corpusRow {
	row := run.rows[name]
	if row == nil {
		row = &corpusRow{store: filepath.Join(run.t.TempDir(), ".ai-snapshots")}
		run.rows[name] = row
	}
	return row
}

// TestCorpus records the interactions of the corpus from a loopback server and replays them without it. The replayed
// body must have the same bytes, the provider's SDK must decode equal values from it, and the store must pass verify
// and have the same content as the SDK's values.
func TestCorpus(t *testing.T) {
	all := append(sampled(slices.Concat(traffic(t, "corpus.jsonl"), traffic(t, "sequences.jsonl"))), traffic(t, "findings.jsonl")...)
	run := &corpusRun{t: t, all: all, live: serve(t, all), rows: map[string]*corpusRow{}}
	for index := range all {
		run.through(index)
	}
	for _, name := range slices.Sorted(maps.Keys(run.rows)) {
		run.compare(name)
	}
	run.report()
}

// serve answers with the interactions from a loopback address. Each interaction has its own transport.
func serve(t *testing.T, all []*interaction) func(int) http.RoundTripper {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		index, _ := strconv.Atoi(r.Header.Get("X-Interaction"))
		body, encoding := all[index].wire()
		maps.Copy(w.Header(), all[index].answered())
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		w.WriteHeader(all[index].Status)
		w.Write(body)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	transport := &http.Transport{DisableCompression: true} // the recorder decodes
	t.Cleanup(transport.CloseIdleConnections)
	return func(index int) http.RoundTripper { return toInteraction{transport, base, index} }
}

type toInteraction struct {
	transport http.RoundTripper
	server    *url.URL
	index     int
}

func (t toInteraction) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = t.server.Scheme, t.server.Host
	out.Header.Set("X-Interaction", strconv.Itoa(t.index))
	return t.transport.RoundTrip(out)
}

func testName(index int) string { return fmt.Sprintf("TestCorpus/%d", index) }

// through records an interaction and replays it.
func (run *corpusRun) through(index int) {
	t, i := run.t, run.all[index]
	api, name := i.endpoint()
	row := run.row(name)
	row.interactions++

	var replayed *http.Response
	var recordedBody, replayedBody []byte
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := tbtest.Run(testName(index), func(tb *tbtest.TB) {
		_, recordedBody = i.call(tb, traceforgetest.New(tb, trafficOptions(row.store, run.live(index))...))
	})
	if tb.Failed() && i.retryable() {
		row.retryable++
		return
	}
	if tb.Failed() {
		row.refused++
		run.credible += one(strings.Contains(tb.Logged(), ": nothing was recorded"))
		run.note("refused", i, firstLines(tb.Logged()))
		assert.Contains(t, explained, i.Origin, "nothing that a provider sent is refused: %s", tb.Logged())
		return
	}
	sent, _ := i.wire()
	require.Equal(t, sent, recordedBody, "%s: the caller gets what the provider sent", i.Origin)

	t.Setenv("TRACEFORGE_UPDATE", "")
	tb = tbtest.Run(testName(index), func(tb *tbtest.TB) {
		replayed, replayedBody = i.call(tb, traceforgetest.New(tb, trafficOptions(row.store, nil)...))
	})
	require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
	require.Equal(t, i.Status, replayed.StatusCode, i.Origin)
	require.Empty(t, replayed.Header.Get("Content-Encoding"), i.Origin)
	if bytes.Equal(i.response(), replayedBody) {
		row.identical++
	}
	if decode := sdkDecoders[api]; decode != nil {
		row.decoded++
		row.equal += one(sameAnswer(decode(t.Context(), i.bare(), i.response()), decode(t.Context(), replayed, replayedBody)))
	}
}

// compare checks an endpoint's store, and compares its content with the values of the provider's SDK.
func (run *corpusRun) compare(name string) {
	row := run.rows[name]
	if row.retryable+row.refused == row.interactions {
		return // there is no store
	}
	recorded.RequireSound(run.t, row.store)
	for _, call := range recorded.Calls(run.t, row.store) {
		index, err := strconv.Atoi(strings.TrimPrefix(call.Source.Test, "TestCorpus/"))
		require.NoError(run.t, err)
		i := run.all[index]
		api, _ := i.endpoint()
		switch {
		case api == generic:
			row.generic++
		case call.Request.API != api:
			row.generic++
			run.note("recorded as "+call.Request.API, i, "not explained")
		default:
			row.own++
			run.says(row, i, &call.Response)
		}
	}
}

// says compares a snapshot of a good answer with the values of the provider's SDK.
func (run *corpusRun) says(row *corpusRow, i *interaction, stored *snapshot.Response) {
	api, _ := i.endpoint()
	decode := sdkDecoders[api]
	if decode == nil || i.Status >= 300 {
		return
	}
	got := decode(run.t.Context(), i.bare(), i.response())
	if got.err != "" {
		return // the SDK cannot decode it
	}
	said := storedSpeech(run.t, stored)
	if said != got.said {
		run.note("not what the SDK says", i, fmt.Sprintf("stored %s, the SDK says %s", shorten(said), shorten(got.said)))
	}
	if i.streams() {
		row.streams++
		row.said += one(said == got.said)
	} else {
		row.whole++
		row.saidWhole += one(said == got.said)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// note records a fault of an interaction, or the reason why it is right.
func (run *corpusRun) note(what string, i *interaction, detail string) {
	if reason, ok := explained[i.Origin]; ok {
		detail = reason
	}
	_, name := i.endpoint()
	run.notes = append(run.notes, fmt.Sprintf("%s: %s: %s: %s", what, name, i.Origin, detail))
}

func firstLines(text string) string {
	lines := strings.SplitN(text, "\n", 4)
	return strings.Join(lines[:min(3, len(lines))], " | ")
}

// report prints the table and checks it.
func (run *corpusRun) report() {
	t := run.t
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %6s %6s %7s %7s %9s %9s %9s %9s %9s\n",
		"endpoint", "total", "own", "generic", "refused", "try again", "identical", "SDK equal", "aggregate", "whole")
	total, refused := &corpusRow{}, 0
	for _, name := range slices.Sorted(maps.Keys(run.rows)) {
		r := run.rows[name]
		fmt.Fprintf(&table, "%-24s %6d %6d %7d %7d %9d %9d %9s %9s %9s\n", name,
			r.interactions, r.own, r.generic, r.refused, r.retryable, r.identical,
			of(r.equal, r.decoded), of(r.said, r.streams), of(r.saidWhole, r.whole))
		assert.Equal(t, r.interactions, r.recorded()+r.retryable+r.refused, "%s: none is lost", name)
		assert.Equal(t, r.recorded(), r.identical, "%s: every replay is byte-identical", name)
		assert.Equal(t, r.decoded, r.equal, "%s: the SDK decodes both alike", name)
		refused += r.refused
		if !strings.HasPrefix(name, generic) {
			total.interactions += r.interactions - r.retryable
			total.own += r.own
			total.streams += r.streams
			total.said += r.said
		}
	}
	t.Logf("\n%s%s", &table, strings.Join(run.notes, "\n"))
	own := 100 * float64(total.own) / float64(total.interactions)
	assert.GreaterOrEqual(t, 100*total.said, 99*total.streams, "streams whose aggregate is what the SDK makes of them")
	assert.LessOrEqual(t, 100*refused, len(run.all), "refused")
	t.Logf("of %d interactions, %d refused for what is no secret", len(run.all), run.credible)
	assert.Less(t, 1000*run.credible, len(run.all), "refused for what is no secret")
	assert.GreaterOrEqual(t, own, 99.0, "of the named APIs, by their own codec")
	t.Logf("of %d interactions of the named APIs, %.2f%% by their own codec", total.interactions, own)
}

func of(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", n, all)
}

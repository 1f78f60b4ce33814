package integration_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestStreamsInPieces records the streams of the corpus in reads of random sizes. The snapshots must equal those of
// streams that are read at once.
func TestStreamsInPieces(t *testing.T) {
	all := sampled(slices.Concat(traffic(t, "corpus.jsonl"), traffic(t, "sequences.jsonl")))
	seed := rand.Uint64()
	t.Setenv("TRACEFORGE_UPDATE", "1")
	streams := 0
	for index, i := range all {
		if !i.streams() || i.retryable() {
			continue
		}
		streams++
		body, _ := i.wire()
		whole := recordStream(t, i, len(body), nil)
		inPieces := recordStream(t, i, 16, rand.New(rand.NewPCG(seed, uint64(index))))
		require.Equal(t, whole, inPieces, "%s: seed %d", i.Origin, seed)
	}
	t.Logf("%d streams", streams)
}

// recordStream returns the snapshot of an interaction that arrives in reads of at most most bytes, without its times,
// or nil if the recorder refuses it.
func recordStream(t *testing.T, i *interaction, most int, sizes *rand.Rand) *snapshot.Snapshot {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	body, _ := i.wire()
	tbtest.Run("TestStreamsInPieces", func(tb *tbtest.TB) {
		i.call(tb, traceforgetest.New(tb, trafficOptions(dir, inPieces{i, body, most, sizes})...))
	})
	for _, call := range recorded.Calls(t, dir) {
		s := call.Snapshot
		s.Timestamp, s.Response.LatencyMS, s.Hash = time.Time{}, 0, ""
		return s
	}
	return nil
}

// inPieces answers with an interaction in reads of random sizes, or of size most if sizes is nil.
type inPieces struct {
	answer *interaction
	body   []byte
	most   int
	sizes  *rand.Rand
}

func (p inPieces) RoundTrip(r *http.Request) (*http.Response, error) {
	header := p.answer.answered()
	if _, encoding := p.answer.wire(); encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	return &http.Response{
		StatusCode: p.answer.Status, Header: header, ContentLength: -1, Request: r,
		Body: io.NopCloser(&pieces{bytes.NewReader(p.body), p.most, p.sizes}),
	}, nil
}

type pieces struct {
	r     io.Reader
	most  int
	sizes *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	most := p.most
	if p.sizes != nil {
		most = 1 + p.sizes.IntN(most)
	}
	return p.r.Read(b[:min(len(b), most)])
}

// Package oracle compares package canon with RFC 8785's reference implementation in Go.
package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// seeds returns the seed texts of canon's tests.
func seeds(t testing.TB) (all [][]byte) {
	t.Helper()
	data, err := os.ReadFile("../../canon/testdata/seeds.golden")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		text, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		require.NoError(t, err)
		all = append(all, []byte(text))
	}
	require.Greater(t, len(all), 200)
	return all
}

// check checks that both agree on a text, and reports whether both accept it.
func check(t *testing.T, src []byte) (taken bool) {
	t.Helper()
	got, err := canon.JSON(src)
	want, wantErr := jcs.Transform(src)
	if err != nil {
		require.True(t, wantErr != nil || errors.Is(err, canon.ErrNumber) || errors.Is(err, canon.ErrDepth), "jcs takes %q, which we reject: %v", src, err)
		return false
	}
	require.NoError(t, wantErr, "%q", src)
	require.Equal(t, string(want), string(got))
	return true
}

func TestSeeds(t *testing.T) {
	taken := 0
	for _, src := range seeds(t) {
		if check(t, src) {
			taken++
		}
	}
	require.Greater(t, taken, 100)
}

func FuzzJSON(t *testing.F) {
	f := mutation.New(t)
	for _, src := range seeds(t) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) { check(t, src) })
}

// TestNumbers compares numbers of every size.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(8785, 7493))
	for range 50_000 {
		f := math.Float64frombits(random.Uint64())
		want, err := jcs.NumberToJSON(f)
		got, gotErr := canon.Marshal(f)
		require.Equal(t, err == nil, gotErr == nil, f)
		if err == nil {
			require.Equal(t, want, string(got))
		}
	}
}

// TestCorpus compares recorded provider traffic.
func TestCorpus(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "corpus", "corpus.jsonl")
	if dir := os.Getenv("TRACEFORGE_CORPUS"); dir != "" {
		file = filepath.Join(dir, "corpus.jsonl")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("set TRACEFORGE_CORPUS to the folder of the corpus: %v", err)
	}
	bodies := 0
	for line := range bytes.Lines(data) {
		var call struct {
			Request  string `json:"request_body"`
			Response string `json:"response_body"`
		}
		require.NoError(t, json.Unmarshal(line, &call))
		for _, body := range []string{call.Request, call.Response} {
			if len(body) > 16<<10 || !json.Valid([]byte(body)) {
				continue // too slow with jcs, or not JSON: a stream, a form, binary data
			}
			kept, err := canon.KeepNumbers([]byte(body))
			require.NoError(t, err)
			require.True(t, check(t, kept))
			bodies++
		}
	}
	require.Greater(t, bodies, 2000)
}

// BenchmarkTransform measures jcs with the input of canon's BenchmarkJSON.
func BenchmarkTransform(b *testing.B) {
	src := []byte(`{"z": [` + strings.Repeat(`{"role": "user", "content": "Say \"why\" in one line."}, `, 200) + `1.50], "a": {}}`)
	for name, run := range map[string]func([]byte) ([]byte, error){"jcs": jcs.Transform, "canon": canon.JSON} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				_, _ = run(src)
			}
		})
	}
}

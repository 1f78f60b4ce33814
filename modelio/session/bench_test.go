package session_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio/session"
)

// BenchmarkVerifyReader verifies files of 10,000 interactions: one of 100 MB, and one with a line for each interaction.
// It reports MB/s and, if there is /proc, the peak memory of a process that does nothing else. With
// GOEXPERIMENT=jsonv2, it also reports the rate as a fraction of the limit, measured in the same run: reading the
// tokens of the file and hashing it.
func BenchmarkVerifyReader(b *testing.B) {
	b.Run("large", func(b *testing.B) { benchmarkVerifyReader(b, 9_400) })
	b.Run("tiny", func(b *testing.B) { benchmarkVerifyReader(b, 0) })
}

func benchmarkVerifyReader(b *testing.B, responseBytes int) {
	path := filepath.Join(b.TempDir(), "model_io.json")
	size := writeSession(b, path, responseBytes)
	b.SetBytes(size)
	var limit time.Duration
	for b.Loop() {
		verifyFile(b, path)
		if readTokens != nil { // in each round, so that other load affects both
			b.StopTimer()
			start := time.Now()
			tokensAndHash(b, path)
			limit += time.Since(start)
			b.StartTimer()
		}
	}
	if readTokens != nil {
		b.ReportMetric(limit.Seconds()/b.Elapsed().Seconds(), "of-limit")
		b.ReportMetric(float64(size)*float64(b.N)/limit.Seconds()/1e6, "limit-MB/s")
	}
	if peak, ok := peakMemory(b, path); ok {
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
	}
}

// writeSession writes a session whose responses have about responseBytes more bytes than a line, with text like a
// model's.
func writeSession(b *testing.B, path string, responseBytes int) (size int64) {
	b.Helper()
	const paragraph = "The \"snapshot\" is compared by hash; a change shows as an edit in place.\n" +
		"\tfunc main() { fmt.Println(`naïve`, 'é') } // see https://example.com/a?b=c&d=e\n"
	s := session.New("bench", "bench")
	for i := range session.MaxInteractions {
		prefix := fmt.Sprintf("answer %d\n", i)
		s.Append(fmt.Sprintf("prompt %d", i), prefix+strings.Repeat(paragraph, responseBytes/len(paragraph)))
	}
	data, err := s.Encode()
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(path, data, 0o600))
	return int64(len(data))
}

func verifyFile(tb testing.TB, path string) {
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	report, err := session.VerifyReader(f, session.VerifyOptions{})
	require.NoError(tb, err)
	require.True(tb, report.OK(), report)
}

func tokensAndHash(b *testing.B, path string) {
	f, err := os.Open(path)
	require.NoError(b, err)
	defer f.Close()
	h := sha256.New()
	require.NoError(b, readTokens(io.TeeReader(f, h)))
}

const verifyInChild = "MODELIO_TEST_VERIFY"

// TestVerifyInChild is not a test. peakMemory runs it in a separate process.
func TestVerifyInChild(t *testing.T) {
	path := os.Getenv(verifyInChild)
	if path == "" {
		t.Skip("run by BenchmarkVerifyReader in a process of its own")
	}
	verifyFile(t, path)
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	fmt.Printf("%s", status)
}

// peakMemory returns the peak memory in bytes of a process that verifies the file.
func peakMemory(b *testing.B, path string) (peak int64, ok bool) {
	b.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return 0, false
	}
	child := exec.Command(os.Args[0], "-test.run=^TestVerifyInChild$")
	child.Env = append(os.Environ(), verifyInChild+"="+path)
	out, err := child.Output()
	require.NoError(b, err, string(out))
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if kb, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(kb, "kB")), 10, 64)
			require.NoError(b, err)
			return n << 10, true
		}
	}
	return 0, false
}

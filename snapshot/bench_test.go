package snapshot_test

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// fourKB returns a document of one call with a prompt of 40 lines.
func fourKB(tb testing.TB) []byte {
	s := record("TestBench", 1)
	s.Request.Messages = []modelio.Message{
		text(modelio.RoleSystem, strings.Repeat("Answer kindly, and name the order that is asked for.\n", 36)),
		text(modelio.RoleUser, "Where is my order?"),
	}
	return encode(tb, document(tb, s))
}

func BenchmarkParse(b *testing.B) {
	data := fourKB(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := snapshot.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExamine(b *testing.B) {
	data := fourKB(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found := spelling.Examine(data); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

// TestExamineAllocations limits the allocations of Examine beyond those of reading the document. Each text is cut into
// pieces only once.
func TestExamineAllocations(t *testing.T) {
	data := fourKB(t)
	read := testing.AllocsPerRun(10, func() { _, _ = snapshot.Parse(data) })
	examined := testing.AllocsPerRun(10, func() { _, _ = spelling.Examine(data) })
	require.LessOrEqual(t, examined-read, 40.0)
}

// TestExamineMemory checks that documents are written into pooled memory. The collector, the race detector and other
// processors take some of that memory away, so the run with the fewest allocations counts.
func TestExamineMemory(t *testing.T) {
	s := record("TestBench", 1)
	s.Request.Messages = []modelio.Message{text(modelio.RoleUser, strings.Repeat("a", 500_000))}
	data := encode(t, document(t, s))
	allocated := func(look func()) (least uint64) {
		least = math.MaxUint64
		for range 20 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			look()
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	read := allocated(func() { _, _ = snapshot.Parse(data) })
	examined := allocated(func() { _, _ = spelling.Examine(data) })
	times := (float64(examined) - float64(read)) / float64(len(data))
	t.Logf("%.2f bytes for each byte of the document", times)
	require.Less(t, times, 0.5) // more than 2 without pooled memory
}

// BenchmarkSeal seals an agent of 200 turns whose requests do not share memory.
func BenchmarkSeal(b *testing.B) {
	records, _ := agent(prompt("Never guess."), 200)
	doc := &snapshot.Document{Version: snapshot.Version, Snapshots: records}
	b.ReportAllocs()
	for b.Loop() {
		for i := range doc.Snapshots {
			doc.Snapshots[i].Continues = nil
		}
		if err := doc.Seal(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseAgent reads an agent of 200 turns.
func BenchmarkParseAgent(b *testing.B) {
	records, _ := agent(prompt("Never guess."), 200)
	data := encode(b, document(b, records...))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := snapshot.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

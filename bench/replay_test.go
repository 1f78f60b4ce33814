package bench

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// replay makes the rounds of calls that a tool recorded: a run is a test that makes all of them, in the given order.
// What the tool does before the first call and after the last counts only where whole is set.
func (t tool) replay(b *testing.B, calls, sent []call, whole bool) contestant {
	b.Helper()
	dir := b.TempDir()
	t.record(b, dir, "TestIt", calls)
	return contestant{t.name, func() time.Duration {
		begin := time.Now()
		client, end, err := t.open(dir, "TestIt", nil)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		for _, c := range sent {
			c.send(b, client)
		}
		took := time.Since(start)
		if err := end(); err != nil {
			b.Fatal(err)
		}
		if whole {
			return time.Since(begin)
		}
		return took
	}}
}

// limitOf is the limit of calls.
func limitOf(b *testing.B, calls []call) contestant {
	client := &http.Client{Transport: newMemory(calls)}
	return contestant{"memory", func() time.Duration {
		start := time.Now()
		for _, c := range calls {
			c.send(b, client)
		}
		return time.Since(start)
	}}
}

func shuffled(calls []call) []call {
	other := append([]call(nil), calls...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	return other
}

func BenchmarkReplay2KB(b *testing.B) {
	const n = 100
	calls := chats(n, 2<<10, 1<<10)
	us := traceforge.replay(b, calls, calls, false)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls, false), govcr.replay(b, calls, calls, false), us)
	add(c.row("replay 2 KB, in order", n, 12).also(allocations(func() { us.run() })/n, 100, "allocations"))
}

func BenchmarkReplay2KBShuffled(b *testing.B) {
	const n = 100
	calls := chats(n, 2<<10, 1<<10)
	order := shuffled(calls)
	us := traceforge.replay(b, calls, order, false)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, order, false), govcr.replay(b, calls, order, false), us)
	add(c.row("replay 2 KB, shuffled", n, 12).also(allocations(func() { us.run() })/n, 100, "allocations"))
}

func BenchmarkReplay100KB(b *testing.B) {
	const n = 20
	calls := chats(n, 100<<10, 1<<10)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls, false), govcr.replay(b, calls, calls, false), traceforge.replay(b, calls, calls, false))
	add(c.row("replay 100 KB", n, 6))
}

func BenchmarkReplay100KBRespelled(b *testing.B) {
	const n = 20
	calls := chats(n, 100<<10, 1<<10)
	var other []call
	for _, c := range calls {
		other = append(other, c.respelled())
	}
	c := compete(b, limitOf(b, other), traceforge.replay(b, calls, other, false))
	add(c.row("replay 100 KB, other spelling", n, 6))
}

func BenchmarkStream200(b *testing.B)  { benchmarkStream(b, "stream of 200 events", 200) }
func BenchmarkStream5000(b *testing.B) { benchmarkStream(b, "stream of 5,000 events", 5000) }

func benchmarkStream(b *testing.B, work string, events int) {
	calls := []call{stream(events)}
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls, false), govcr.replay(b, calls, calls, false), traceforge.replay(b, calls, calls, false))
	add(c.row(work, 1, 30))
}

// BenchmarkFirstEvent is the time to the first event of a stream of 5,000, beside a plain body of 2 KB, both replayed
// by traceforge as first calls of their tests.
func BenchmarkFirstEvent(b *testing.B) {
	plain := chats(1, 2<<10, 1<<10)
	long := []call{stream(5000)}
	dir := b.TempDir()
	traceforge.record(b, dir, "TestIt", long)
	us := contestant{ours, func() time.Duration {
		client, end, err := traceforge.open(dir, "TestIt", nil)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		resp, err := client.Post(endpoint, "application/json", bytes.NewReader(long[0].body))
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(resp.Body)
		lines.Scan()
		took := time.Since(start)
		for lines.Scan() {
		}
		resp.Body.Close()
		if err := end(); err != nil {
			b.Fatal(err)
		}
		return took
	}}
	body := traceforge.replay(b, plain, plain, false)
	body.name = "plain"
	c := compete(b, body, us)
	add(c.row("first event of 5,000", 1, 5))
}

func BenchmarkReplay20MB(b *testing.B) {
	calls := chats(1, 2<<10, 20<<20)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls, false), govcr.replay(b, calls, calls, false), traceforge.replay(b, calls, calls, false))
	add(c.row("replay 20 MB", 1, 4))
}

func BenchmarkWholeTest(b *testing.B) {
	calls := chats(1, 2<<10, 1<<10)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls, true), govcr.replay(b, calls, calls, true), traceforge.replay(b, calls, calls, true))
	add(c.row("whole test of one call", 1, 20))
}

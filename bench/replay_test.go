package bench

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// replay returns a contestant that replays recorded calls. A run is one test that makes all calls in the given order.
// It includes the time in which the tool reads its files before the first call.
func (t tool) replay(b *testing.B, calls, sent []call) contestant {
	b.Helper()
	dir := b.TempDir()
	t.record(b, dir, "TestIt", calls)
	c := contestant{name: t.name, later: &[]time.Duration{}}
	c.run = func() time.Duration {
		start := time.Now()
		client, end, err := t.open(dir, "TestIt", nil)
		if err != nil {
			b.Fatal(err)
		}
		took := c.send(b, client, sent, start)
		if err := end(); err != nil {
			b.Fatal(err)
		}
		return took
	}
	return c
}

// send makes calls, and returns the time since start. It keeps the time of each call except the first.
func (c contestant) send(b *testing.B, client *http.Client, calls []call, start time.Time) time.Duration {
	last := start
	for i, call := range calls {
		call.send(b, client)
		now := time.Now()
		if i > 0 {
			*c.later = append(*c.later, now.Sub(last))
		}
		last = now
	}
	return last.Sub(start)
}

// tests returns a contestant whose run makes each call in a separate test with its own document, and times the whole
// test.
func (t tool) tests(b *testing.B, calls []call) contestant {
	b.Helper()
	dir := b.TempDir()
	for i := range calls {
		t.record(b, dir, testName(i), calls[i:i+1])
	}
	return contestant{name: t.name, run: func() time.Duration {
		start := time.Now()
		for i := range calls {
			t.play(b, dir, testName(i), nil, calls[i])
		}
		return time.Since(start)
	}}
}

// limitOf returns the limit, the best possible time of calls: a run makes them once untimed, then several times, and
// the fastest time counts.
func limitOf(b *testing.B, calls []call) contestant {
	client := &http.Client{Transport: newMemory(calls)}
	c := contestant{name: "memory", later: &[]time.Duration{}}
	c.run = func() time.Duration {
		for _, call := range calls {
			call.send(b, client)
		}
		best, begin := time.Hour, time.Now()
		for n := 0; n < 3 || n < 20 && time.Since(begin) < 5*time.Millisecond; n++ {
			best = min(best, c.send(b, client, calls, time.Now()))
		}
		return best
	}
	return c
}

func shuffled(calls []call) []call {
	other := append([]call(nil), calls...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	return other
}

// benchmarkReplay replays many calls in one test, and does the same with the peers.
func benchmarkReplay(b *testing.B, work string, calls, sent []call, mean, p50 float64) (row, contestant) {
	us := traceforge.replay(b, calls, sent)
	c := compete(b, limitOf(b, sent), httprr.replay(b, calls, sent), govcr.replay(b, calls, sent), us)
	return c.perCall(work, len(calls), mean, p50), us
}

func BenchmarkReplay2KB(b *testing.B) {
	calls := chats(100, 2<<10, 1<<10)
	r, us := benchmarkReplay(b, "replay 2 KB, in order", calls, calls, 12, 9)
	add(r.also(allocations(func() { us.run() })/100, 90, "allocations").like("2 KB"))
}

func BenchmarkReplay2KBShuffled(b *testing.B) {
	calls := chats(100, 2<<10, 1<<10)
	r, us := benchmarkReplay(b, "replay 2 KB, shuffled", calls, shuffled(calls), 14, 9)
	add(r.also(allocations(func() { us.run() })/100, 90, "allocations").like("2 KB"))
}

func BenchmarkReplay2KBTests(b *testing.B) {
	calls := chats(100, 2<<10, 1<<10)
	c := compete(b, limitOf(b, calls), httprr.tests(b, calls), govcr.tests(b, calls), traceforge.tests(b, calls))
	add(c.row("replay 2 KB, each call a test of its own", len(calls), 35).like("2 KB"))
}

func BenchmarkReplay100KB(b *testing.B) {
	calls := chats(20, 100<<10, 1<<10)
	r, _ := benchmarkReplay(b, "replay 100 KB", calls, calls, 4, 0)
	add(r.like("100 KB"))
}

// BenchmarkReplay100KBRespelled has as its limit the calls in their recorded spelling.
func BenchmarkReplay100KBRespelled(b *testing.B) {
	calls := chats(20, 100<<10, 1<<10)
	var other []call
	for _, c := range calls {
		other = append(other, c.respelled())
	}
	c := compete(b, limitOf(b, calls), traceforge.replay(b, calls, other))
	add(c.perCall("replay 100 KB, other spelling", len(calls), 6, 0).like("100 KB"))
}

func BenchmarkStream200(b *testing.B) {
	calls := streams(20, 200)
	r, _ := benchmarkReplay(b, "stream of 200 events", calls, calls, 30, 0)
	add(r)
}

func BenchmarkStream5000(b *testing.B) {
	calls := streams(5, 5000)
	r, _ := benchmarkReplay(b, "stream of 5,000 events", calls, calls, 30, 0)
	add(r)
}

// BenchmarkFirstEvent measures the time to the first event of a stream of 5,000, next to a plain body of 2 KB.
// traceforge replays both, each as the first call of a test.
func BenchmarkFirstEvent(b *testing.B) {
	first := func(name string, c call, send func(*http.Client) time.Duration) contestant {
		dir := b.TempDir()
		traceforge.record(b, dir, "TestIt", []call{c})
		return contestant{name: name, run: func() time.Duration {
			client, end, err := traceforge.open(dir, "TestIt", nil)
			if err != nil {
				b.Fatal(err)
			}
			took := send(client)
			if err := end(); err != nil {
				b.Fatal(err)
			}
			return took
		}}
	}
	plain, long := chats(1, 2<<10, 1<<10)[0], streams(1, 5000)[0]
	body := first("plain", plain, func(client *http.Client) time.Duration {
		start := time.Now()
		plain.send(b, client)
		return time.Since(start)
	})
	us := first(ours, long, func(client *http.Client) time.Duration {
		start := time.Now()
		resp, err := client.Post(endpoint, "application/json", bytes.NewReader(long.body))
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		events := bufio.NewScanner(resp.Body)
		events.Scan()
		took := time.Since(start)
		for events.Scan() {
		}
		return took
	})
	add(compete(b, body, us).row("first event of 5,000", 1, 5))
}

func BenchmarkReplay20MB(b *testing.B) {
	calls := chats(1, 2<<10, 20<<20)
	c := compete(b, limitOf(b, calls), httprr.replay(b, calls, calls), govcr.replay(b, calls, calls), traceforge.replay(b, calls, calls))
	add(c.row("replay 20 MB", 1, 4))
}

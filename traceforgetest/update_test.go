package traceforgetest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// jitter has the provider answer each call with another text, as real ones do, and counts the calls.
func (s *scene) jitter() *atomic.Int64 {
	calls := new(atomic.Int64)
	s.provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.Text(fmt.Sprintf("answer %d to %s", calls.Add(1), c.LastUser()))
	})
	return calls
}

// waiting returns the records of the pending answers, as logs have them.
func (s *scene) waiting() (records []string) {
	for _, log := range s.logs() {
		text, err := os.ReadFile(log)
		require.NoError(s.t, err)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, `{"id":`) {
				records = append(records, line)
			}
		}
	}
	return records
}

// logs returns the files of the pending answers.
func (s *scene) logs() []string {
	logs, err := filepath.Glob(filepath.Join(s.dir, ".pending", "*.log"))
	require.NoError(s.t, err)
	return logs
}

// fails is a test that fails after it has done what another one does.
func fails(test func(*tbtest.TB, *traceforgetest.Recorder)) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		test(t, tf)
		t.Errorf("the test's own failure")
	}
}

// TestUpdateBuysWhatChanged records three calls, changes something, and counts what an update makes of it.
func TestUpdateBuysWhatChanged(t *testing.T) {
	system := func(c chat, text string) chat {
		messages := append([]any{map[string]any{"role": "system", "content": text}}, c["messages"].([]any)...)
		return c.with("messages", messages)
	}
	a, b, c := system(newChat("Name a fruit"), "Be brief"), newChat("Name a town"), newChat("Name a river")
	broken := func(s *scene) {
		s.edit(filepath.Join(s.dir, filepath.FromSlash(strings.TrimSuffix(s.document("TestIt"), ".json")), "2.json"),
			func(raw string) string { return strings.Replace(raw, "answer", "Answer", 1) })
	}
	for _, x := range []struct {
		name, why string
		mode      string
		change    func(*scene)
		calls     []chat
		bought    int
		log       string
		kept      []int // numbers of records that stay as they are
	}{
		{"nothing", "all is served", "1", nil, []chat{a, b, c}, 0, "", []int{1, 2, 3}},
		{"order", "records keep their places", "1", nil, []chat{c, a, b}, 0, "", []int{1, 2, 3}},
		{"prompt", "one call of three drifted", "1", nil, []chat{a, newChat("Name a big town"), c}, 1,
			"2 kept, 1 changed (user message, answer), ", []int{1, 3}},
		{"system", "so the system prompt", "1", nil, []chat{system(newChat("Name a fruit"), "Be kind"), b, c}, 1,
			"2 kept, 1 changed (system, answer), ", []int{2, 3}},
		{"parameter", "or a parameter", "1", nil, []chat{a, b, c.with("max_tokens", 7)}, 1,
			"2 kept, 1 changed (parameters: max_tokens, answer), ", []int{1, 2}},
		{"new", "one call more", "1", nil, []chat{a, b, newChat("What time is it?"), c}, 1, "3 kept, 1 new, ", []int{1, 2, 3}},
		{"again", "the same once more is a new call", "1", nil, []chat{a, b, b, c}, 1, "3 kept, 1 new, ", []int{1, 2, 3}},
		{"removed", "one call less", "1", nil, []chat{a, c}, 0, "2 kept, 1 removed", []int{1, 3}},
		{"broken", "a raw answer that was altered is bought again", "1", broken, []chat{a, b, c}, 1, "2 kept, 1 changed (answer), ", []int{1, 3}},
		{"all", "every call is bought", "all", nil, []chat{a, b, c}, 3, "3 changed (answer), ", nil},
		{"missing", "nothing is", "new", nil, []chat{a, b, c}, 0, "", []int{1, 2, 3}},
		{"missing one", "a call that is like no record", "new", nil, []chat{a, b, newChat("Why?"), c}, 1, "3 kept, 1 new, ", []int{1, 2, 3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t)
			calls := s.jitter()
			s.record("TestIt", asks(a, b, c))
			before, _ := s.byNumber()
			if x.change != nil {
				x.change(s)
			}
			calls.Store(10)
			tb := s.update(x.mode, "TestIt", asks(x.calls...))
			requirePass(t, tb)
			require.EqualValues(t, x.bought, calls.Load()-10, x.why)
			if x.log == "" {
				require.Empty(t, tb.Logged(), x.why)
			} else {
				require.Contains(t, tb.Logged(), "traceforge: "+x.log, x.why)
				require.Equal(t, x.bought > 0, strings.Contains(tb.Logged(), " tokens"))
			}
			after, _ := s.byNumber()
			for n := range before {
				kept := after[n] == before[n]
				require.Equal(t, strings.Contains(fmt.Sprint(x.kept), fmt.Sprint(n)), kept, "record %d: %s", n, x.why)
			}
			tbtest.NoPending(t, s.dir)
			s.requireWhole()
			requirePass(t, s.replay("TestIt", asks(x.calls...)))
		})
	}
}

// TestUpdateNewPaysForNoDrift holds that a call that changed is not made where only missing ones are to be.
func TestUpdateNewPaysForNoDrift(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	s.record("TestIt", asks(newChat("Name a big town")))
	before := s.files()
	tb := s.update("new", "TestIt", asks(newChat("Name a small town")))
	require.True(t, tb.Failed())
	require.Contains(t, s.text(tb), "openai request drifted from STORE/"+s.document("TestIt")+", call 1")
	require.Contains(t, tb.Logged(), "accept: go test ")
	require.EqualValues(t, 1, calls.Load())
	s.requireFiles(before)

	tb = s.update("new", "TestIt", asks(newChat("Why?")))
	require.True(t, tb.Failed(), "it is like no record, and yet may be the one that is not called")
	require.Contains(t, tb.Logged(), "TRACEFORGE_UPDATE=new replaces nothing")
	require.Contains(t, tb.Logged(), "1 new answer waits in ")
	s.requireFiles(before)
	requirePass(t, s.update("1", "TestIt", asks(newChat("Why?"))))
	require.EqualValues(t, 2, calls.Load(), "what was bought is not bought again")
}

// TestPendingWithoutText says of an answer without a text why it ended.
func TestPendingWithoutText(t *testing.T) {
	s := newScene(t)
	live := answering(http.Header{"Content-Type": {"application/json"}}, `{"id":"c","object":"chat.completion",`+
		`"created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null},`+
		`"finish_reason":"length"}]}`)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("Why?"))(t, tf)
		t.Errorf("no answer")
	}, traceforgetest.Upstream(live))
	require.Contains(t, tb.Logged(), "-1: no text, with the finish reason length")
}

// TestPending fails a test after it has bought answers, in each way that a test can, and counts what the next runs buy.
func TestPending(t *testing.T) {
	changed := []chat{newChat("Name a small town"), newChat("Name a river"), newChat("Name a long street")}
	recorded := []chat{newChat("Name a big town"), newChat("Name a river")}
	for _, x := range []struct {
		name, why string
		end       func(*tbtest.TB)
		waits     string
	}{
		{"fails", "t.Errorf", func(t *tbtest.TB) { t.Errorf("no") }, "2 new answers wait in "},
		{"panics", "a panic", func(*tbtest.TB) { panic("no") }, "2 new answers wait in "},
		{"skips", "a skip records nothing", func(t *tbtest.TB) { t.SkipNow() }, "2 new answers wait in "},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t)
			calls := s.jitter()
			s.record("TestIt", asks(recorded...))
			before := s.files()
			first := s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				asks(changed...)(tb, tf)
				x.end(tb)
			})
			require.EqualValues(t, 4, calls.Load())
			name := strings.TrimSuffix(filepath.Base(s.document("TestIt")), ".json")
			require.Contains(t, s.text(first), x.waits+"STORE/.pending: the next -update uses them; accept or reject them: "+
				"traceforge accept --dir STORE "+name+"-1 "+name+"-3\n      "+name+"-1: answer 3 to Name a small town\n      "+name+"-3: answer 4 to Name a long street")
			require.Len(t, s.waiting(), 2)
			s.requireFiles(before)
			s.requireWhole()
			require.True(t, s.replay("TestIt", asks(changed...)).Failed(), "replay knows nothing of it")

			again := s.update("1", "TestIt", fails(asks(changed...)))
			require.EqualValues(t, 4, calls.Load(), "a test that fails again pays nothing")
			require.Contains(t, s.text(again), x.waits)
			last := s.update("1", "TestIt", asks(changed...))
			requirePass(t, last)
			require.EqualValues(t, 4, calls.Load(), "nor does one that passes: %s", x.why)
			require.Contains(t, last.Logged(), "traceforge: 1 kept, 1 changed (user message, answer), 1 new")
			require.NotContains(t, last.Logged(), "token")
			tbtest.NoPending(t, s.dir)
			s.requireWhole()
			requirePass(t, s.replay("TestIt", asks(changed...)))
		})
	}
}

// TestPendingKeepsWhatWasPaid holds what of an answer stays when a later run uses it, and when it does not.
func TestPendingKeepsWhatWasPaid(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	start := time.Now()
	s.update("1", "TestIt", fails(asks(newChat("a"), newChat("b").with("stream", true))))
	bought := time.Now()
	time.Sleep(5 * time.Millisecond)
	s.record("TestIt", asks(newChat("a"), newChat("b").with("stream", true), newChat("c")))
	require.EqualValues(t, 3, calls.Load())
	records := s.records("openai")
	require.Len(t, records, 3)
	require.NotNil(t, records[0].Response.Usage)
	for _, record := range records[:2] {
		require.WithinRange(t, record.Timestamp, start.Truncate(time.Millisecond), bought, "the time of the purchase")
		require.Empty(t, record.Response.Stale)
	}
	s.requireWhole()

	s.update("1", "TestIt", fails(asks(newChat("A"))))
	requirePass(t, s.update("all", "TestIt", asks(newChat("A"))))
	require.EqualValues(t, 5, calls.Load(), "all pays for every call")
	s.update("1", "TestIt", fails(asks(newChat("B"))))
	undone := s.update("1", "TestIt", asks(newChat("A")))
	requirePass(t, undone)
	require.Contains(t, undone.Logged(), "traceforge: 1 answer waits that no call asks for: traceforge reject")
	requirePass(t, s.replay("TestIt", asks(newChat("A"))))
	requirePass(t, s.update("1", "TestIt", asks(newChat("B"))))
	require.EqualValues(t, 6, calls.Load(), "what was paid for a prompt that was undone is there when it comes back")
	tbtest.NoPending(t, s.dir)

	s.update("1", "TestIt", fails(asks(newChat("B"), newChat("C"))))
	s.update("1", "TestIt", fails(asks(newChat("D"), newChat("E"))))
	require.EqualValues(t, 9, calls.Load())
	requirePass(t, s.update("1", "TestIt", asks(newChat("D"))))
	require.EqualValues(t, 9, calls.Load())
	rest := s.update("1", "TestIt", asks(newChat("D")))
	require.NotContains(t, rest.Logged(), "no call asks for", "C and E: a process says it once")
	require.DirExists(t, filepath.Join(s.dir, ".pending"))
	s.requireWhole()
}

// TestManyPending names the document of many answers that wait, where no others wait for it.
func TestManyPending(t *testing.T) {
	s := newScene(t)
	s.jitter()
	name := strings.TrimSuffix(filepath.Base(s.document("TestIt")), ".json")
	few := s.update("1", "TestIt", fails(asks(newChat("0"))))
	require.Contains(t, s.text(few), "accept or reject it: traceforge accept --dir STORE "+name+"-1\n")
	more := s.update("1", "TestIt", fails(asks(newChat("0"), newChat("1"), newChat("2"), newChat("3"))))
	require.Contains(t, more.Logged(), "4 new answers wait in ")
	require.Contains(t, s.text(more), "accept or reject them: traceforge accept --dir STORE "+name+"\n")
	others := s.update("1", "TestIt", fails(asks(newChat("4"), newChat("5"), newChat("6"), newChat("7"))))
	require.Contains(t, s.text(others), "accept or reject them: traceforge accept --dir STORE "+name+"-", "those of the run before wait too")
}

// TestSplit splits a test into subtests, which buy nothing that it has recorded. Replay names who has it.
func TestSplit(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	s.record("TestIt", asks(newChat("a"), newChat("b"), newChat("c")))
	for _, sub := range []struct {
		name  string
		chats []chat
	}{{"TestIt/one", []chat{newChat("b")}}, {"TestIt/two", []chat{newChat("a"), newChat("c")}}, {"TestIt/deep/er", []chat{newChat("c")}}} {
		tb := s.replay(sub.name, asks(sub.chats...))
		require.True(t, tb.Failed())
		require.Contains(t, s.text(tb), "TestIt has this call recorded: recording takes its answer, and makes no call\n    record: ")
		requirePass(t, s.update("1", sub.name, asks(sub.chats...)))
		require.EqualValues(t, 3, calls.Load(), "nothing is bought")
		requirePass(t, s.replay(sub.name, asks(sub.chats...)))
	}
	requirePass(t, s.update("1", "TestIt/new", asks(newChat("d"))))
	requirePass(t, s.update("1", "TestIt/new", asks(newChat("d"), newChat("a"))))
	require.EqualValues(t, 5, calls.Load(), "a subtest that has records was not split off now")
	requirePass(t, s.update("all", "TestIt/all", asks(newChat("a"))))
	require.EqualValues(t, 6, calls.Load(), "all pays for every call")
	requirePass(t, s.replay("TestIt", asks(newChat("a"), newChat("b"), newChat("c"))))
	s.requireWhole()
}

// TestPendingOfAParent: where a subtest fails its parent, whose own answers wait then, the parent's log names the subtest and how to accept.
func TestPendingOfAParent(t *testing.T) {
	s := newScene(t)
	s.jitter()
	run := func(says func(*tbtest.TB)) *tbtest.TB {
		return s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			asks(newChat("a"))(tb, tf)
			for _, name := range []string{"TestIt/one", "TestIt/two", "TestIt/three"} {
				sub := tbtest.Run(name, func(sub *tbtest.TB) {
					asks(newChat(name))(sub, traceforgetest.New(sub, traceforgetest.Dir(s.dir), traceforgetest.Upstream(s.provider.Transport())))
					if name != "TestIt/one" {
						says(sub)
					}
				})
				if sub.Failed() {
					tb.Fail()
				}
			}
		})
	}
	parent := run(func(sub *tbtest.TB) { sub.Errorf("the subtest's own failure") })
	require.True(t, parent.Failed())
	require.Regexp(t, `traceforge: the test failed by its subtest TestIt/three and 1 more: 1 new answer waits in .*/\.pending: the next -update uses it; `+
		`accept or reject it: traceforge accept --dir '?/.*/\.ai-snapshots'? [a-z-]+-testit-[0-9a-f]+-1`, parent.Logged())
	require.Equal(t, 1, strings.Count(parent.Logged(), "TestIt/three"), "it is said once")
	again := run(func(*tbtest.TB) {})
	requirePass(t, again)
	require.NotContains(t, again.Logged(), "subtest")
	alone := s.update("1", "TestIt", fails(asks(newChat("b"))))
	require.NotContains(t, alone.Logged(), "subtest", "it failed by itself")
}

// TestPendingOfAKilledRun puts back what waited while a test ran, as if that had been killed: the next run uses it. Of an
// answer that was not yet whole there it says so, and buys it again.
func TestPendingOfAKilledRun(t *testing.T) {
	for _, x := range []struct {
		name     string
		torn     int // bytes that are missing
		bought   int
		mentions string
	}{
		{"whole", 0, 0, ""},
		{"torn", 9, 1, "traceforge: an answer that a killed run was about to keep in STORE/.pending is not whole: it is left out"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t)
			calls := s.jitter()
			pending, kept := filepath.Join(s.dir, ".pending"), filepath.Join(t.TempDir(), "kept")
			both := asks(newChat("a"), newChat("b"))
			s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				both(tb, tf)
				require.NoError(t, os.CopyFS(kept, os.DirFS(pending)))
				tb.Errorf("the test's own failure")
			})
			require.NoError(t, os.RemoveAll(pending))
			require.NoError(t, os.CopyFS(pending, os.DirFS(kept)))
			logs, err := filepath.Glob(filepath.Join(pending, "*.log"))
			require.NoError(t, err)
			require.Len(t, logs, 1)
			info, err := os.Stat(logs[0])
			require.NoError(t, err)
			require.NoError(t, os.Truncate(logs[0], info.Size()-int64(x.torn)))
			again := s.update("1", "TestIt", fails(both))
			require.EqualValues(t, 2+x.bought, calls.Load())
			require.Contains(t, s.text(again)+again.Logged(), "2 new answers wait")
			last := s.update("1", "TestIt", both)
			requirePass(t, last)
			require.EqualValues(t, 2+x.bought, calls.Load())
			require.Contains(t, s.text(again), x.mentions)
			tbtest.NoPending(t, s.dir)
			s.requireWhole()
			requirePass(t, s.replay("TestIt", both))
		})
	}
}

// TestPendingOfManyAtOnce buys from goroutines, and from two runs of a test at once.
func TestPendingOfManyAtOnce(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	const many = 8
	at := func(from int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			var group sync.WaitGroup
			for i := range many {
				group.Go(func() {
					if _, err := send(tf.Client(), newChat(fmt.Sprint("call ", from+i))); err != nil {
						tb.Errorf("%v", err)
					}
				})
			}
			group.Wait()
		}
	}
	s.update("1", "TestIt", fails(at(0)))
	s.update("1", "TestIt", fails(at(many)))
	require.EqualValues(t, 2*many, calls.Load())
	requirePass(t, s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { at(0)(tb, tf); at(many)(tb, tf) }))
	require.EqualValues(t, 2*many, calls.Load(), "what the first run bought is there beside that of the second")
	require.Len(t, s.records("openai"), 2*many)
	s.requireWhole()
}

// TestPendingOfAnotherRun holds that a run which passes leaves what another process has bought since it began.
func TestPendingOfAnotherRun(t *testing.T) {
	s := newScene(t)
	s.jitter()
	s.update("1", "TestIt", fails(asks(newChat("a"))))
	requirePass(t, s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(tb, tf)
		st, err := store.Open(s.dir)
		require.NoError(t, err)
		name := snapshot.DocumentName("github.com/traceforge/traceforge-go/traceforgetest", "TestIt")
		doc, err := st.Pending().Load(name, "openai")
		require.NoError(t, err)
		raw, err := doc.Raw(0)
		require.NoError(t, err)
		bought := doc.Document.Snapshots[0]
		bought.ID = snapshot.ID(name, 2)
		require.NoError(t, st.NewLog(name, "openai").Append(0, bought, raw, nil))
	}))
	require.Len(t, s.records("openai"), 1)
	waiting := s.waiting()
	require.Len(t, waiting, 1, "what this run has used is gone")
	require.Contains(t, waiting[0], `-2"`)
}

// TestPendingOfAStranger holds that an update without git uses no answer that this user has not bought, says so, and leaves it.
func TestPendingOfAStranger(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	failing := fails(asks(newChat("a")))
	s.update("1", "TestIt", failing)
	s.update("1", "TestIt", failing)
	require.EqualValues(t, 1, calls.Load(), "what this user has bought is used")
	logs := s.logs()
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	unmarked := regexp.MustCompile(`(?m)^(record \d+ \d+) [0-9a-f]{64}$`).ReplaceAllString(string(text), "$1")
	require.NotEqual(t, string(text), unmarked)
	require.NoError(t, os.WriteFile(logs[0], []byte(unmarked), 0o666))
	tb := s.update("1", "TestIt", asks(newChat("a")))
	requirePass(t, tb)
	require.EqualValues(t, 2, calls.Load())
	require.Contains(t, s.text(tb)+tb.Logged(), "holds answers that a test bought, and is not used: it has no mark of this user, and there is no git to say")
	require.FileExists(t, logs[0])
}

// TestPendingIsNotRead holds that a replay does not look at what waits, and an update not at what it cannot read.
func TestPendingIsNotRead(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	s.record("TestIt", asks(newChat("a")))
	pending := filepath.Join(s.dir, ".pending", strings.TrimSuffix(filepath.Base(s.document("TestIt")), ".json")+".1.log")
	require.NoError(t, os.MkdirAll(filepath.Dir(pending), 0o777))
	require.NoError(t, os.WriteFile(pending, []byte("{"), 0o666))
	require.Empty(t, s.replay("TestIt", asks(newChat("a"))).Logged())
	data, err := os.ReadFile(pending)
	require.NoError(t, err)
	require.Equal(t, "{", string(data))
	requirePass(t, s.update("1", "TestIt", asks(newChat("b"))))
	require.EqualValues(t, 2, calls.Load())
	require.NoFileExists(t, pending)
}

// TestPendingSaysToolCalls: a failure tells of a call that waits as traceforge accept lists it.
func TestPendingSaysToolCalls(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.CallTools(fakeprovider.ToolCall{Name: "get_degrees", Arguments: `{"city":"<Paris>"}`}))
	tb := s.update("1", "TestIt", fails(asks(newChat("a"))))
	require.Regexp(t, `testit-[0-9a-f]+-1: get_degrees\(\{"city":"<Paris>"\}\)(\n|$)`, tb.Logged())
}

// TestPendingRefuses holds that what must not be stored does not wait either.
func TestPendingRefuses(t *testing.T) {
	s := newScene(t)
	s.provider.Handle(fakeprovider.Echo())
	t.Setenv("OTHER_API_KEY", "s3cret-s3cret-s3cret")
	tb := s.update("1", "TestIt", asks(newChat("fine"), newChat("my key is s3cret-s3cret-s3cret")))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "nothing was recorded")
	require.Contains(t, tb.Logged(), "1 new answer waits")
	require.Len(t, s.waiting(), 1)
	for _, file := range s.logs() {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(data), "s3cret")
	}

	s = newScene(t)
	s.provider.Reply(fakeprovider.Reply{Failure: &fakeprovider.Failure{Status: 400, Message: "no"}}, fakeprovider.Text("yes"))
	ask := func(tb *tbtest.TB, tf *traceforgetest.Recorder) { _, _ = send(tf.Client(), newChat("a")) }
	s.update("1", "TestIt", fails(ask))
	require.Empty(t, s.waiting(), "an error costs nothing, and the next run may do better")
	requirePass(t, s.update("1", "TestIt", ask))
	require.Equal(t, 200, s.records("openai")[0].Response.Status)
}

// TestPendingErrors accepts a test that was answered with errors: they wait beside its answers, since it makes their calls. An
// update asks again, as an error costs nothing, except what a tool server answered.
func TestPendingErrors(t *testing.T) {
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = send(tf.Client(), newChat("fine"))
		_, _ = send(tf.Client(), newChat("bad"))
		_, _ = send(tf.Client(), newChat("broken"))
		_, _ = post(tf.Client(), "https://tools.example.com/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "none"}})
		_, _ = tf.Tool("add", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no") })(context.Background(), nil)
	}
	options := []traceforgetest.Option{traceforgetest.Record("tools.example.com"), traceforgetest.Allow(traceforgetest.TransportErrors)}
	for _, accepts := range []bool{true, false} {
		s := newScene(t)
		asked, refuses := map[string]int{}, true
		live := roundTripper(func(r *http.Request) (*http.Response, error) {
			text, _ := io.ReadAll(r.Body)
			status, answer, what := 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}}`, "tool"
			switch {
			case strings.Contains(string(text), "broken"):
				return nil, io.ErrUnexpectedEOF
			case r.URL.Path != "/mcp":
				what = "fine"
				answer = `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`
				if strings.Contains(string(text), "bad") {
					what = "bad"
					if refuses {
						status, answer = 400, `{"error":{"message":"not this","type":"invalid_request_error"}}`
					}
				}
			}
			asked[what]++
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
		})
		t.Setenv("TRACEFORGE_UPDATE", "1")
		tb := s.run("TestIt", fails(test), append(options, traceforgetest.Upstream(live))...)
		require.Contains(t, tb.Logged(), "5 new answers wait")
		require.Contains(t, tb.Logged(), "-3: 400 not this (the next run asks again)")
		require.Contains(t, tb.Logged(), "-5: no (the next run asks again)")
		require.Len(t, s.waiting(), 5)
		t.Setenv("TRACEFORGE_UPDATE", "")
		if accepts {
			st, err := store.Open(s.dir)
			require.NoError(t, err)
			_, err = audit.Accept(st, []string{strings.TrimSuffix(filepath.Base(s.document("TestIt")), ".json")})
			require.NoError(t, err)
			requirePass(t, s.replay("TestIt", test, options...))
			s.requireWhole()
			continue
		}
		t.Setenv("TRACEFORGE_UPDATE", "1")
		s.run("TestIt", fails(test), append(options, traceforgetest.Upstream(live))...)
		require.Len(t, s.waiting(), 5)
		refuses = false
		requirePass(t, s.run("TestIt", test, append(options, traceforgetest.Upstream(live))...))
		require.Equal(t, map[string]int{"fine": 1, "bad": 3, "tool": 1}, asked)
		require.Empty(t, s.waiting())
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.replay("TestIt", test, options...))
		s.requireWhole()
	}
}

// TestIDOfNewAnswer buys all of a test again that names what it uploads: the new answer stays whose id a later call has.
func TestIDOfNewAnswer(t *testing.T) {
	s := newScene(t)
	uploads := 0
	upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		answer := `{"id":"vsf_00000000","object":"vector_store.file","status":"completed"}`
		if strings.HasSuffix(r.URL.Path, "/files") && !strings.Contains(r.URL.Path, "vector_stores") {
			uploads++
			answer = fmt.Sprintf(`{"id":"file-%08d","object":"file","filename":"a.txt","purpose":"assistants"}`, uploads)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}))
	upload := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		said, err := post(tf.Client(), "https://api.openai.com/v1/files", map[string]any{"purpose": "assistants"})
		require.NoError(s.t, err)
		id := said[strings.Index(said, "file-"):][:len("file-00000000")]
		if _, err := post(tf.Client(), "https://api.openai.com/v1/vector_stores/vs_00000000/files", map[string]any{"file_id": id}); err != nil {
			tb.Fatalf("%v", err)
		}
	}
	for _, mode := range []string{"1", "all", "", "all", ""} {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		requirePass(t, s.run("TestIt", upload, upstream))
	}
	require.Equal(t, 3, uploads)
	s.requireWhole()
}

// TestConversationWithAnOldID goes on from a served answer with a call whose provider does not know its id any more.
func TestConversationWithAnOldID(t *testing.T) {
	s := newScene(t)
	gone := false
	calls := 0
	upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		body, _ := io.ReadAll(r.Body)
		answer := fmt.Sprintf(`{"id":"resp_%08d","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_%[1]d",
			"role":"assistant","status":"completed","content":[{"type":"output_text","text":"answer %[1]d","annotations":[]}]}]}`, calls)
		status, header := http.StatusOK, http.Header{"Content-Type": {"application/json"}}
		if strings.Contains(string(body), "previous_response_id") && gone {
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			_, _ = io.WriteString(w, `{"error":{"message":"Previous response not found","type":"invalid_request_error"}}`)
			w.Close()
			status, answer = http.StatusNotFound, zipped.String()
			header.Set("Content-Encoding", "gzip")
		}
		return &http.Response{StatusCode: status, Header: header,
			Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}))
	talk := func(second string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			const url = "https://api.openai.com/v1/responses"
			first, err := post(tf.Client(), url, map[string]any{"model": "m", "temperature": 0, "input": "Hello"})
			require.NoError(s.t, err)
			id := first[strings.Index(first, "resp_"):][:len("resp_00000000")]
			if _, err := post(tf.Client(), url, map[string]any{"model": "m", "temperature": 0, "input": second, "previous_response_id": id}); err != nil {
				tb.Fatalf("%v", err)
			}
		}
	}
	run := func(mode, second string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return s.run("TestIt", talk(second), upstream)
	}
	requirePass(t, run("1", "And then?"))
	requirePass(t, run("1", "And what then?"))
	require.Equal(t, 3, calls, "the provider knows the id of the served answer")
	before := s.files()
	gone = true
	tb := run("1", "And what?")
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai answered 404 Not Found: the call has the id resp_00000001 of an answer that was served from the store")
	require.Contains(t, tb.Logged(), "Previous response not found")
	require.NotContains(t, tb.Logged(), "neither read to its end nor closed", "nobody could read it")
	require.Contains(t, tb.Logged(), "buy the whole conversation: TRACEFORGE_UPDATE=all go test github.com/traceforge/traceforge-go/traceforgetest -run '^TestIt$'")
	t.Setenv("TRACEFORGE_CHECK", "from=2")
	tb = run("live", "And what then?")
	t.Setenv("TRACEFORGE_CHECK", "")
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "let the live run begin it: TRACEFORGE_CHECK=from=1")
	require.NotContains(t, tb.Logged(), "TRACEFORGE_UPDATE=all", "a live run writes nothing")
	s.requireFiles(before)
	require.Empty(t, s.waiting())
	require.NotContains(t, tb.Logged(), "traceforge accept")
	gone = false
	t.Setenv("TRACEFORGE_UPDATE", "all")
	require.True(t, s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		talk("And what?")(tb, tf)
		tb.Errorf("it fails")
	}, upstream).Failed())
	gone = true
	require.Contains(t, run("1", "And what?").Logged(), "or take over the answers that wait: traceforge accept ")
	gone = false
	requirePass(t, run("all", "And what?"))
	s.requireWhole()
}

// counting returns an upstream whose answers have the number of their call, and that number.
func counting(answer string) (calls *int, upstream traceforgetest.Option) {
	calls = new(int)
	return calls, traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		*calls++
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(fmt.Sprintf(answer, *calls))), Request: r}, nil
	}))
}

// requireUpdatedOnce changes the first text of a test, which then replays, and whose second update makes no call.
func requireUpdatedOnce(t *testing.T, run func(mode, text string) *tbtest.TB, calls *int) {
	t.Helper()
	requirePass(t, run("1", "Hello"))
	requirePass(t, run("1", "Hello there"))
	requirePass(t, run("", "Hello there"))
	bought := *calls
	requirePass(t, run("1", "Hello there"))
	require.Equal(t, bought, *calls, "a second update makes no call")
}

// TestUpdateOfAThread changes the first message of one of Anthropic's threads, whose later calls name the answer before.
func TestUpdateOfAThread(t *testing.T) {
	s := newScene(t)
	calls, upstream := counting(`{"id":"msg_%08d","type":"message","role":"assistant","model":"claude-sonnet-5-5",
		"content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","stop_sequence":null}`)
	run := func(mode, first string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			thread := map[string]any{"type": "create"}
			for _, said := range []string{first, "And then?", "And at last?"} {
				answer, err := post(tf.Client(), "https://api.anthropic.com/v1/messages", map[string]any{
					"model": "claude-sonnet-5-5", "max_tokens": 9, "thread": thread,
					"messages": []any{map[string]any{"role": "user", "content": said}},
				})
				require.NoError(s.t, err)
				id := answer[strings.Index(answer, "msg_"):][:len("msg_00000000")]
				thread = map[string]any{"type": "continue", "previous_message_id": id}
			}
		}, upstream)
	}
	requireUpdatedOnce(t, run, calls)
	s.requireWhole()
}

// TestUpdateOfAContinuation changes a prompt of Gemini, whose answer goes on in the answer to a call with its token.
func TestUpdateOfAContinuation(t *testing.T) {
	s := newScene(t)
	calls, upstream := counting(`{"candidates":[{"content":{"role":"model","parts":[{"text":"yes"}]},
		"finishReason":"CONTINUATION","continuationToken":"TOKEN%03d"}]}`)
	run := func(mode, text string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			request := map[string]any{
				"contents":         []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}}},
				"generationConfig": map[string]any{"temperature": 0, "seed": 1},
			}
			for range 3 {
				answer, err := post(tf.Client(), "https://generativelanguage.googleapis.com/v1beta/models/gemini-4:generateContent", request)
				require.NoError(s.t, err)
				request["continuationToken"] = answer[strings.Index(answer, "TOKEN"):][:len("TOKEN000")]
			}
		}, upstream)
	}
	requireUpdatedOnce(t, run, calls)
	s.requireWhole()
}

// TestUpdateOfAStoredChat changes a chat whose answer says the same, and which a later call fetches by the answer's id.
func TestUpdateOfAStoredChat(t *testing.T) {
	s := newScene(t)
	calls, upstream := counting(`{"id":"chatcmpl-%08d","object":"chat.completion","model":"m","choices":[{"index":0,
		"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	run := func(mode, text string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			const chats = "https://api.openai.com/v1/chat/completions"
			answer, err := post(tf.Client(), chats, map[string]any{
				"model": "m", "temperature": 0, "seed": 1, "store": true,
				"messages": []any{map[string]any{"role": "user", "content": text}},
			})
			require.NoError(s.t, err)
			resp, err := tf.Client().Get(chats + "/" + answer[strings.Index(answer, "chatcmpl-"):][:len("chatcmpl-00000000")])
			require.NoError(s.t, err)
			require.NoError(s.t, resp.Body.Close())
			require.Equal(s.t, http.StatusOK, resp.StatusCode)
		}, upstream)
	}
	requireUpdatedOnce(t, run, calls)
	s.requireWhole()
}

// TestUpdateOfAFileThatIsGone says that a call names an uploaded file, by its address, that Google no longer keeps.
func TestUpdateOfAFileThatIsGone(t *testing.T) {
	s := newScene(t)
	gone := false
	const host = "https://generativelanguage.googleapis.com"
	upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		status, answer := http.StatusOK, `{"file":{"name":"files/abc-def1","uri":"`+host+`/v1beta/files/abc-def1","mimeType":"text/plain","state":"ACTIVE"}}`
		if strings.HasSuffix(r.URL.Path, ":generateContent") {
			answer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"It is."}]},"finishReason":"STOP"}]}`
			if gone {
				status, answer = http.StatusForbidden, `{"error":{"code":403,"message":"You do not have permission to access the File abc-def1 or it may not exist."}}`
			}
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}))
	ask := func(question string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			_, err := post(tf.Client(), host+"/upload/v1beta/files", map[string]any{"file": map[string]any{"displayName": "a"}})
			require.NoError(t, err)
			_, err = post(tf.Client(), host+"/v1beta/models/gemini-2.5-flash:generateContent", map[string]any{
				"generationConfig": map[string]any{"temperature": 0, "seed": 1},
				"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": question},
					map[string]any{"fileData": map[string]any{"fileUri": host + "/v1beta/files/abc-def1", "mimeType": "text/plain"}}}}}})
			if err != nil {
				tb.Fatalf("%v", err)
			}
		}
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", ask("What is it?"), upstream))
	gone = true
	tb := s.run("TestIt", ask("What is in it?"), upstream)
	require.Contains(t, tb.Logged(), "google answered 403 Forbidden: the call has the id "+host+"/v1beta/files/abc-def1 of an answer that was served from the store")
	require.Contains(t, tb.Logged(), "buy the whole conversation: TRACEFORGE_UPDATE=all")
}

// TestUpdateOfAnUploadThatIsOver says that the address of an upload, which Google gives out in a header, came from the
// store.
func TestUpdateOfAnUploadThatIsOver(t *testing.T) {
	s := newScene(t)
	const files = "https://generativelanguage.googleapis.com/upload/v1beta/files"
	uploads, over := 0, false
	upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		header, status, answer := http.Header{"Content-Type": {"application/json"}}, http.StatusOK, "{}"
		switch {
		case r.Header.Get("X-Goog-Upload-Command") == "start":
			uploads++
			header.Set("X-Goog-Upload-Url", fmt.Sprintf("%s?upload_protocol=resumable&upload_id=%040d", files, uploads))
		case over:
			status, answer = http.StatusBadRequest, `{"error":{"code":400,"message":"Upload has already been terminated."}}`
		default:
			answer = `{"file":{"name":"files/abc-def1","mimeType":"text/plain","state":"ACTIVE"}}`
		}
		body := io.NopCloser(strings.NewReader(answer))
		return &http.Response{StatusCode: status, Header: header, Body: body, Request: r}, nil
	}))
	upload := func(text string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			send := func(url, command, body string) *http.Response {
				r, err := http.NewRequest("POST", url, strings.NewReader(body))
				require.NoError(t, err)
				r.Header = http.Header{"Content-Type": {"application/json"}, "X-Goog-Upload-Command": {command}}
				resp, err := tf.Client().Do(r)
				if err != nil {
					tb.Fatalf("%v", err)
				}
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				return resp
			}
			announced := send(files, "start", `{"file":{"displayName":"a"}}`)
			send(announced.Header.Get("X-Goog-Upload-Url"), "upload, finalize", text)
		}
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", upload("one"), upstream))
	over = true
	tb := s.run("TestIt", upload("two"), upstream)
	require.Contains(t, tb.Logged(), "google answered 400 Bad Request: the call has the id "+files+
		"?upload_protocol=resumable of an answer that was served from the store")
	require.Contains(t, tb.Logged(), "buy the whole conversation: TRACEFORGE_UPDATE=all")
	over = false
	t.Setenv("TRACEFORGE_UPDATE", "all")
	requirePass(t, s.run("TestIt", upload("two"), upstream))
	s.requireWhole()
}

// A keeper is a provider that keeps what it is told under an id, and answers calls with that id by what it was told.
type keeper struct {
	told  map[string]string // by id
	calls []string          // since the last look
}

func (m *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	m.calls = append(m.calls, r.Method+" "+r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
	knows := ""
	for id, told := range m.told {
		if strings.Contains(string(body), id) || strings.Contains(r.URL.Path, id) {
			knows = id + " " + told
		}
	}
	id, told, _ := strings.Cut(knows, " ")
	said := regexp.MustCompile(`"(?:input|text)":"(told [^"]*)"`).FindStringSubmatch(string(body))
	number := fmt.Sprintf("%012d", len(m.told))
	answer := ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/cachedContents"):
		m.told["cachedContents/"+number] = said[1]
		answer = `{"name":"cachedContents/` + number + `","model":"models/m","usageMetadata":{"totalTokenCount":2000}}`
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		answer = `{"candidates":[{"content":{"parts":[{"text":"` + told + `"}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"m"}`
	case r.Method == "POST" && strings.Contains(string(body), `"background":true`):
		m.told["resp_"+number] = said[1]
		answer = `{"id":"resp_` + number + `","object":"response","status":"queued","model":"m","output":[]}`
	default:
		previous := "null"
		if said != nil {
			told = said[1]
			m.told["resp_"+number] = told
		}
		if id != "" {
			previous = `"` + id + `"`
		}
		answer = `{"id":"resp_` + number + `","object":"response","status":"completed","model":"m","previous_response_id":` + previous +
			`,"output":[{"type":"message","id":"msg_` + number + `","role":"assistant","status":"completed",
			"content":[{"type":"output_text","text":"` + told + `","annotations":[]}]}]}`
		if r.Method == "GET" {
			answer = strings.Replace(answer, "resp_"+number, id, 1)
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// TestUpdateOfWhatFollows changes a call whose answer has an id that a later, unchanged call names: an update makes the later
// call too, as the provider looks up the id, and no call that names another id.
func TestUpdateOfWhatFollows(t *testing.T) {
	const google, openai = "https://generativelanguage.googleapis.com/v1beta/", "https://api.openai.com/v1/responses"
	ask := func(tf *traceforgetest.Recorder, url string, body map[string]any) string {
		said, err := post(tf.Client(), url, body)
		require.NoError(t, err)
		return said
	}
	text := func(s string) map[string]any { return map[string]any{"parts": []any{map[string]any{"text": s}}} }
	idIn := func(said, sign string) string { return said[strings.Index(said, sign):][:len(sign)+12] }
	respond := func(tf *traceforgetest.Recorder, more map[string]any) string {
		body := map[string]any{"model": "m", "temperature": 0}
		maps.Copy(body, more)
		return ask(tf, openai, body)
	}
	for _, c := range []struct {
		name, why string
		test      func(tf *traceforgetest.Recorder, told string) (said string)
		calls     []string
	}{
		{"cache", "the answer that made it says the same", func(tf *traceforgetest.Recorder, told string) string {
			made := ask(tf, google+"cachedContents", map[string]any{"model": "models/m", "systemInstruction": text(told)})
			return ask(tf, google+"models/m:generateContent", map[string]any{"contents": []any{text("hello")},
				"cachedContent": idIn(made, "cachedContents/"), "generationConfig": map[string]any{"temperature": 0, "seed": 1}})
		}, []string{"POST cachedContents", "POST m:generateContent"}},
		{"response", "an answer that repeats an id has not created it", func(tf *traceforgetest.Recorder, told string) string {
			first := idIn(respond(tf, map[string]any{"input": "told first"}), "resp_")
			second := idIn(respond(tf, map[string]any{"input": told, "previous_response_id": first}), "resp_")
			respond(tf, map[string]any{"input": "hello", "previous_response_id": first})
			return respond(tf, map[string]any{"input": "again", "previous_response_id": second})
		}, []string{"POST responses", "POST responses"}},
		{"poll", "the id is in the path", func(tf *traceforgetest.Recorder, told string) string {
			made := respond(tf, map[string]any{"input": told, "background": true})
			resp, err := tf.Client().Get(openai + "/" + idIn(made, "resp_"))
			require.NoError(t, err)
			defer resp.Body.Close()
			said, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return string(said)
		}, []string{"POST responses", "GET resp_"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, m := newScene(t), &keeper{told: map[string]string{}}
			run := func(mode, told string, passes bool) (calls []string) {
				t.Helper()
				t.Setenv("TRACEFORGE_UPDATE", mode)
				m.calls = nil
				tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					if said := c.test(tf, told); !strings.Contains(said, told) {
						tb.Errorf("%q is the answer to another than %q", said, told)
					}
					if !passes {
						tb.Errorf("it fails")
					}
				}, traceforgetest.Upstream(m))
				require.Equal(t, !passes, tb.Failed(), tb.Logged())
				require.NotContains(t, tb.Logged(), "another than", c.why)
				for _, call := range m.calls {
					calls = append(calls, strings.TrimRight(call, "0123456789"))
				}
				return calls
			}
			run("1", "told one", true)
			require.Equal(t, c.calls, run("1", "told two", true), c.why)
			require.Empty(t, run("1", "told two", true))
			require.Empty(t, run("", "told two", true))
			require.Equal(t, c.calls, run("1", "told three", false))
			require.Empty(t, run("1", "told three", false), "the answers that wait are used")
			require.Equal(t, c.calls, run("1", "told four", false), "but not for a new id")
			require.Equal(t, c.calls, run("tools", "told five", true))
			require.Empty(t, run("", "told five", true))
			s.requireWhole()
		})
	}
}

// A transcriber is a provider of jobs: what is uploaded has an address, a job about it an id, and the answer to a question
// for the job repeats what was uploaded, and the prompt. Its first answer is the same for every job, but for the id.
type transcriber struct {
	id    string         // a format
	made  map[string]any // what each address and each job is about
	calls []string       // since the last look
}

func (m *transcriber) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	var asked struct{ Audio, Prompt string }
	_ = json.Unmarshal(body, &asked)
	id := fmt.Sprintf(m.id, len(m.made))
	var answer any
	switch path := strings.TrimPrefix(r.URL.Path, "/v2"); {
	case path == "/upload":
		m.calls = append(m.calls, "upload")
		m.made["https://cdn.assemblyai.com/"+id] = string(body)
		answer = map[string]any{"upload_url": "https://cdn.assemblyai.com/" + id}
	case path == "/transcript":
		m.calls = append(m.calls, "start")
		m.made[id] = fmt.Sprint(m.made[asked.Audio], " ", asked.Prompt)
		answer = map[string]any{"id": id, "status": "queued"}
	default:
		m.calls = append(m.calls, "ask")
		id = strings.TrimPrefix(path, "/transcript/")
		answer = map[string]any{"id": id, "status": "completed", "text": m.made[id]}
	}
	text, err := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(text)), Request: r}, err
}

// TestUpdateOfJobs changes what a job is about: an update buys all that names it, whether its id stands in an address, in a
// body or behind a placeholder, and what it writes replays.
func TestUpdateOfJobs(t *testing.T) {
	const host = "https://api.assemblyai.com/v2"
	for _, id := range []string{"%08x-1111-4111-8111-111111111111", "job%020dabc"} {
		for _, rules := range [][]traceforgetest.Option{nil, {traceforgetest.Scrub(traceforgetest.Volatile())}} {
			t.Run(fmt.Sprint(id[:3], len(rules)), func(t *testing.T) {
				s, m := newScene(t), &transcriber{id: id, made: map[string]any{}}
				run := func(mode, audio, prompt string, passes bool) []string {
					t.Helper()
					t.Setenv("TRACEFORGE_UPDATE", mode)
					m.calls = nil
					tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
						call := func(method, path string, body any) (said struct {
							ID, Text string
							At       string `json:"upload_url"`
						}) {
							text, err := json.Marshal(body)
							require.NoError(t, err)
							req, err := http.NewRequest(method, host+path, bytes.NewReader(text))
							require.NoError(t, err)
							req.Header.Set("Content-Type", "application/json")
							resp, err := tf.Client().Do(req)
							require.NoError(t, err)
							require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
							require.NoError(t, resp.Body.Close())
							return said
						}
						at := call("POST", "/upload", map[string]any{"audio": audio}).At
						job := call("POST", "/transcript", map[string]any{"audio": at, "prompt": prompt}).ID
						if said := call("GET", "/transcript/"+job, nil).Text; !strings.Contains(said, audio) || !strings.HasSuffix(said, prompt) {
							tb.Errorf("%q is the answer to another job", said)
						}
						if !passes {
							tb.Errorf("it fails")
						}
					}, append(rules, traceforgetest.Upstream(m), traceforgetest.Nondeterministic("jobs have no seed"))...)
					require.Equal(t, !passes, tb.Failed(), tb.Logged())
					require.NotContains(t, tb.Logged(), "another job")
					return m.calls
				}
				all, since := []string{"upload", "start", "ask"}, []string{"start", "ask"}
				require.Equal(t, all, run("1", "one", "slow", true))
				require.Equal(t, since, run("1", "one", "fast", true), "the upload stays")
				require.Empty(t, run("1", "one", "fast", true))
				require.Empty(t, run("", "one", "fast", true))
				require.Equal(t, all, run("1", "two", "fast", true))
				require.Empty(t, run("1", "two", "fast", true))
				require.Empty(t, run("", "two", "fast", true))
				require.Equal(t, all, run("1", "three", "fast", false))
				require.Empty(t, run("1", "three", "fast", false), "the answers that wait are used")
				require.Empty(t, run("1", "three", "fast", true))
				require.Empty(t, run("", "three", "fast", true))
				require.Equal(t, all, run("all", "three", "fast", true))
				require.Empty(t, run("", "three", "fast", true))
				s.requireWhole()
			})
		}
	}
}

// TestUpdateOfAnotherForm: an answer that says what the recorded one says takes its place if the request asks for another
// form, which programs read.
func TestUpdateOfAnotherForm(t *testing.T) {
	plain := newChat("Name a big town")
	stream := plain.with("stream", true)
	answers := 0
	upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		var asked struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			return nil, err
		}
		answers++
		kind, format := "application/json", `{"id":"%d","choices":[{"message":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}]}`
		if asked.Stream {
			kind, format = "text/event-stream", `data: {"id":"%d","choices":[{"index":0,"delta":{"content":"Paris"},"finish_reason":"stop"}]}`+
				"\n\ndata: [DONE]\n\n"
		}
		return answering(http.Header{"Content-Type": {kind}}, fmt.Sprintf(format, answers)).RoundTrip(r)
	}))
	for _, c := range []struct {
		name        string
		before, now chat
		taken       bool
	}{
		{"a stream", plain, stream, true},
		{"no stream", stream, plain, true},
		{"another option", plain, plain.with("logprobs", true), true},
		{"another prompt", plain, newChat("Name a town"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var got string
			run := func(mode string, asked chat) {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				requirePass(t, s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					var err error
					got, err = send(tf.Client(), asked)
					require.NoError(t, err)
				}, upstream))
			}
			run("1", c.before)
			run("1", c.now)
			bought := got
			run("", c.now)
			require.Equal(t, c.taken, bought == got, got)
			s.requireWhole()
		})
	}
}

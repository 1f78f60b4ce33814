package recorder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The bounds of a check's live calls.
const (
	checkTime    = 5 * time.Minute  // for a call and its second try
	maxPause     = 30 * time.Second // that a provider may request before the second try
	defaultPause = time.Second
	heedTime     = time.Second     // for a call to notice that its context has ended
	reportTime   = 2 * time.Second // that must remain of the test's time for the report
)

// liveCalls bounds how many live calls of checks a process makes at once, across parallel tests: a provider's limits
// apply to the key.
var liveCalls = make(chan struct{}, 4)

// checks are the calls of a test that are made live while the test is served its records. The two answers are compared
// (design R7).
type checks struct {
	run    *run
	report *report

	created locked.Map[string, int] // numbers of calls that must not be repeated, by the ids that their answers gave out

	mu       sync.Mutex
	ended    bool
	all      []*check
	underWay int        // how many live calls; no sync.WaitGroup, which belongs to one testing/synctest bubble
	oneLess  *sync.Cond // of underWay
}

// A check is a record whose call is made live. Its functions work after the caller has gone on.
type check struct {
	usage.Check
	call   *call
	stored *servedRecord
	again  func() *call                        // returns the call as if it came in again, to number another answer
	make   func(ctx context.Context, tk *take) // makes the call live, into a take
	// context of a check that runs before its caller goes on; nil if it runs in the background
	within context.Context
	source snapshot.Source

	mu   sync.Mutex
	live []*statement // the live answers, in no order
	gone string       // the provider's message that it no longer has the model, or ""
}

// begin makes the call of a check live, in the background. For tools and for servers on this machine it waits: a tool
// may change what the next one finds, and the server may end before the test does. A check whose call cannot be made
// already has its state.
func (k *checks) begin(ck *check) {
	k.run.learn(ck.call.what)
	record := ck.stored.record
	ck.source, ck.AskedModel, ck.Provider = k.run.Source(), k.run.Checking.New, ck.call.provider
	ck.Call, ck.Number, ck.File = record.ID, record.Number(), k.run.Shown+"/"+ck.stored.proof.doc.File()
	if state, why := k.chosen(ck.call, record); state != "" {
		ck.State, ck.Why = state, why
	}
	k.mu.Lock()
	ended, made := k.ended, ck.State == ""
	if !ended {
		k.all = append(k.all, ck)
	}
	if !ended && made {
		k.underWay += k.run.Checking.Repeat
	}
	k.mu.Unlock()
	if ended || !made {
		return // the test may have ended, and left behind the goroutine that made this call
	}
	for range k.run.Checking.Repeat {
		if ck.within != nil {
			k.runCheck(ck)
		} else {
			go k.runCheck(ck)
		}
	}
}

// chosen returns "" for a call that is to be made live, else its state and why it is not made.
func (k *checks) chosen(c *call, record *snapshot.Snapshot) (state, why string) {
	o := k.run.Checking
	switch {
	case !o.Covers(c.codec.Tools), !isSampled(o, record.ID), record.Number() < o.From,
		o.Old != "" && c.request.Model != o.Old:
		return usage.CheckUnchosen, ""
	case !c.codec.Generates && !c.codec.Tools:
		return usage.CheckUncheckable, "nothing is generated, and what it does must not be done twice"
	case !repeats(c, record):
		return usage.CheckUncheckable, "it is a part of what client and server ask each other"
	case record.Response.Incomplete != "":
		return usage.CheckUncheckable, "the recorded answer was cut"
	case provider.AsksForRetry(record.Response.Status, nil):
		return usage.CheckUncheckable, "the recorded answer is " + statusText(record.Response.Status) +
			", which nobody can ask for"
	}
	if _, kept := lookedUp(c); kept != "" {
		return usage.CheckUncheckable, "the request names " + kept + ", which the provider looks up"
	}
	return "", ""
}

// isSampled reports whether a record belongs to the sample that is checked. Only its id decides, which names package,
// test and call, so the shards of several machines share no call.
func isSampled(o usage.CheckOptions, id string) bool {
	sum := sha256.Sum256([]byte(id))
	part, shard := binary.BigEndian.Uint32(sum[:4]), binary.BigEndian.Uint32(sum[4:8])
	return float64(part) < o.Percent/100*(1<<32) && int(shard%uint32(o.Shards)) == o.Shard-1
}

// runCheck makes the call of a check, and makes it once more if the provider asks for that.
func (k *checks) runCheck(ck *check) {
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.underWay--
		k.oneLess.Broadcast()
	}()
	ctx := ck.within
	if ctx == nil {
		liveCalls <- struct{}{}
		defer func() { <-liveCalls }()
		ctx = context.Background()
	}
	ck.mu.Lock()
	failed := ck.Why != ""
	ck.mu.Unlock()
	if failed {
		return // the other calls would fail in the same way
	}
	ctx, cancel := context.WithTimeout(ctx, k.timeForCheck())
	defer cancel()
	s := k.askInTime(ctx, ck)
	ck.mu.Lock()
	defer ck.mu.Unlock()
	if s.why != "" {
		ck.Why, ck.gone = cmp.Or(ck.Why, s.why), cmp.Or(ck.gone, s.gone)
		return
	}
	ck.live = append(ck.live, s)
}

// askInTime runs ask on a goroutine of its own, and leaves it running if a tool ignores the end of its context.
func (k *checks) askInTime(ctx context.Context, ck *check) *statement {
	answered := make(chan *statement, 1)
	go func() {
		s := &statement{why: "the live call ended the goroutine that made it"} // by runtime.Goexit, as t.FailNow does
		defer func() {
			if p := recover(); p != nil {
				s.why = fmt.Sprintf("the live call panicked: %v", p)
			}
			answered <- s
		}()
		s = k.ask(ctx, ck)
	}()
	select {
	case s := <-answered:
		return s
	case <-ctx.Done():
	}
	select {
	case s := <-answered:
		return s
	case <-time.After(heedTime):
		return &statement{why: "it did not return in the time that there was, and is left running"}
	}
}

func (k *checks) timeForCheck() time.Duration {
	if k.run.Deadline.IsZero() {
		return checkTime
	}
	return min(checkTime, time.Until(k.run.Deadline)-reportTime)
}

// ask returns what a live call answers, or why the answer cannot be compared.
func (k *checks) ask(ctx context.Context, ck *check) *statement {
	for again := true; ; again = false {
		tk := k.run.newTake(ck.again())
		ck.make(ctx, tk)
		tk.endWithTest()
		if tk.ending() != retryable {
			return k.liveStatement(ctx, ck, tk)
		}
		wait, ok := pauseOf(tk.header)
		if !again || !ok || !pause(ctx, wait) {
			return &statement{why: fmt.Sprintf("%s answered %s", tk.provider, statusText(tk.status))}
		}
	}
}

// liveStatement returns what a take received, or why it cannot be compared.
func (k *checks) liveStatement(ctx context.Context, ck *check, tk *take) *statement {
	if ctx.Err() != nil {
		return &statement{why: fmt.Sprintf("%s gave no whole answer in the time that there was", tk.who())}
	}
	if bad := asA[*noJSON](tk.err); bad != nil {
		return &statement{why: bad.Error()}
	}
	if tk.ending() == failed {
		return &statement{why: noAnswer(tk.who(), tk.err)}
	}
	s, f := k.run.statementOf(tk)
	if f != nil {
		return &statement{why: f.brief}
	}
	if tk.status >= http.StatusBadRequest && tk.status != ck.stored.record.Response.Status {
		refused := fmt.Sprintf("%s refused the call: %s: %s", tk.provider, statusText(tk.status), short(s.refusal))
		s.why = cmp.Or(s.gone, refused)
	}
	return s
}

// statusText names a status in a sentence. Some statuses, such as 529, have no phrase.
func statusText(status int) string { return strings.TrimSpace(statusLine(status)) }

// statusLine returns a status as HTTP writes it.
func statusLine(status int) string {
	if status == http.StatusOK {
		return "200 OK" // the usual case needs no formatting
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}

// pauseOf returns how long a provider asks to wait (RFC 9110 section 10.2.3), and whether a test can wait that long.
func pauseOf(header http.Header) (time.Duration, bool) {
	asked := header.Get("Retry-After")
	wait := defaultPause
	if seconds, err := strconv.ParseFloat(asked, 64); err == nil {
		wait = time.Duration(seconds * float64(time.Second))
	} else if at, err := http.ParseTime(asked); err == nil {
		wait = time.Until(at)
	}
	return max(wait, 0), wait <= maxPause
}

// pause waits, and reports whether there is time left.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// recordedStatement returns what the record of a check says, under the rules of this run.
func (k *checks) recordedStatement(ck *check) (*statement, *Failure) {
	stored := &ck.stored.record.Response
	tk := k.run.newTake(ck.again())
	tk.begin(stored.Status, http.Header{"Content-Type": stored.Headers["content-type"]})
	tk.receive(ck.stored.body)
	tk.end(whole, nil)
	return k.run.statementOf(tk)
}

// end waits for the live calls of the test. Each has its own time limit.
func (k *checks) end() {
	k.mu.Lock()
	for k.ended = true; k.underWay > 0; {
		k.oneLess.Wait()
	}
	k.mu.Unlock()
	inorder.By(k.all, func(a, b *check) int { return cmp.Compare(a.stored.proof.record, b.stored.proof.record) })
	for _, ck := range k.all {
		k.conclude(ck)
	}
}

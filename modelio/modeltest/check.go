package modeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestModel proves that m obeys the model contract (GK), like testing/fstest.TestFS does for file systems. It runs
// [Check] with the capabilities that m declares (see [modelio.Declarer]). A model that declares none must support all.
// TestModel makes a few dozen calls, some of them concurrently.
func TestModel(m modelio.Model) error {
	return Check(context.Background(), m, modelio.InfoOf(m))
}

// Check calls m with requests of each kind that info declares, streamed and not, and returns all breaches of the
// contract, joined. Each is a [*Breach]. Nil means that Check found none. A breach is MUST or SHOULD where GK uses that
// word. Otherwise its [Level] tells whether GK defines the rule or this package adds it.
//
// The two or three dozen requests are small and real: a model of a provider calls it. Check requires no particular
// answer, except where a request constrains it. It compares two answers only if the model repeats itself.
//
// If info lacks a capability for which GK lets the framework stand in, [Simulate] prepares the request. Check leaves
// out requests that need other undeclared capabilities. [modelio.InfoOf] returns the info that a model declares.
//
// Check calls m from several goroutines. If ctx ends, it returns an error that wraps ctx's.
func Check(ctx context.Context, m modelio.Model, info modelio.ModelInfo) error {
	c := &checker{model: m}
	for _, p := range probes(info.Supports) {
		p.request = Simulate(p.request, info)
		c.both(ctx, p)
	}
	c.streamError(ctx)
	c.cancel(ctx)
	c.concurrent(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("modelio: check ended early: %w", err)
	}
	return errors.Join(c.breaches...)
}

type checker struct {
	model modelio.Model

	mu       sync.Mutex
	breaches []error // each a *Breach
}

// breach records a breach found by the named probe.
func (c *checker) breach(probe string, b *Breach) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, err := range c.breaches {
		seen := err.(*Breach)
		if seen.Rule == b.Rule && seen.Detail == b.Detail {
			if !slices.Contains(seen.Probes, probe) {
				seen.Probes = append(seen.Probes, probe)
			}
			return
		}
	}
	b.Probes = []string{probe}
	c.breaches = append(c.breaches, b)
}

// both makes a request without and with streaming, and judges the answers.
func (c *checker) both(ctx context.Context, p probe) {
	whole, ok := c.answer(ctx, p, false)
	if !ok {
		return
	}
	streamed, ok := c.answer(ctx, p, true)
	if !ok || sayJSON(whole) == sayJSON(streamed) {
		return
	}
	// The answers may differ because the model never repeats itself.
	again, ok := c.answer(ctx, p, false)
	if !ok || sayJSON(again) != sayJSON(whole) {
		return
	}
	again, ok = c.answer(ctx, p, true)
	if ok && sayJSON(again) == sayJSON(streamed) {
		c.breach(p.name, breach(RuleStreamConsistent, "the answer is %s, but streamed it is %s",
			jsontext.Excerpt(sayJSON(whole)), jsontext.Excerpt(sayJSON(streamed))))
	}
}

// answer makes a request, streamed or not. It reports whether there is an answer whose message can be judged further.
func (c *checker) answer(ctx context.Context, p probe, stream bool) (*modelio.GenerateResponse, bool) {
	name := p.name
	var log chunkLog
	if stream {
		name += " streamed"
	}
	response, err := c.call(ctx, p, log.callback(stream))
	if err != nil {
		c.breach(name, breach(p.rule, "the request fails: %v", err))
		return nil, false
	}
	if !c.judge(name, p, response) {
		return nil, false
	}
	if stream {
		if b := log.breach(response); b != nil {
			c.breach(name, b)
			return nil, false
		}
	}
	return response, true
}

// call gives the model its own copy of the request, and checks that the model does not change it. A panic counts as an
// error, so that the other probes still run.
func (c *checker) call(ctx context.Context, p probe,
	stream modelio.StreamFunc) (response *modelio.GenerateResponse, err error) {
	before, _ := p.request.MarshalJSON() // the probes are valid
	var request modelio.GenerateRequest
	_ = request.UnmarshalJSON(before)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		after, changed := request.MarshalJSON()
		if changed != nil || !bytes.Equal(before, after) {
			c.breach(p.name, breach(RuleRequest, "the call changes the request"))
		}
	}()
	return c.model.Generate(ctx, &request, stream)
}

// streamError checks that the callback's error ends the generation and is returned.
func (c *checker) streamError(ctx context.Context) {
	const name = "callback error"
	stop := errors.New("the callback's error")
	calls := 0
	_, err := c.call(ctx, textProbe(), func(context.Context, *modelio.GenerateResponseChunk) error {
		calls++
		return stop
	})
	switch {
	case calls == 0: // RuleStreamChunks
	case calls > 1:
		c.breach(name, breach(RuleStreamError, "the callback is called again after its error"))
	case err == nil:
		c.breach(name, breach(RuleStreamError, "the callback's error is lost"))
	case !errors.Is(err, stop):
		c.breach(name, breach(RuleStreamError, "the error does not wrap the callback's: %v", err))
	}
}

// cancel checks that a context that has ended ends the generation.
func (c *checker) cancel(ctx context.Context) {
	const name = "cancelled context"
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err := c.call(ctx, textProbe(), nil)
	switch {
	case err == nil:
		c.breach(name, breach(RuleCancel, "the request is answered"))
	case !errors.Is(err, context.Canceled):
		c.breach(name, breach(RuleCancelCause, "the error does not wrap context.Canceled: %v", err))
	}
}

// concurrent checks that simultaneous calls do not disturb each other: each gets its own chunks and its own answer.
func (c *checker) concurrent(ctx context.Context) {
	requests := []probe{ // a model that does not always answer the same answers these two differently
		{name: "concurrent", rule: RuleConcurrent, request: asking(askFrance, "")},
		{name: "concurrent", rule: RuleConcurrent, request: asking(askJapan, "")},
	}
	var alone []string // the answer to each request when no other call runs
	streams := true    // whether the chunks of these answers obey the rules
	for _, p := range requests {
		var log chunkLog
		response, err := c.call(ctx, p, log.add)
		if err != nil || badMessage(response) {
			return // other probes report it
		}
		alone = append(alone, sayJSON(response))
		streams = streams && log.breach(response) == nil
	}

	var calls sync.WaitGroup
	for n := range 4 * len(requests) {
		i, stream := n%len(requests), streams && n < 2*len(requests)
		calls.Go(func() {
			if detail := c.amongOthers(ctx, requests[i], stream, alone[i], alone); detail != "" {
				c.breach("concurrent", breach(RuleConcurrent, "%s", detail))
			}
		})
	}
	calls.Wait()
}

// amongOthers makes a request while others run, and returns the fault of its answer. own is the expected answer; all
// are the expected answers of all requests.
func (c *checker) amongOthers(ctx context.Context, p probe, stream bool, own string, all []string) string {
	var log chunkLog
	response, err := c.call(ctx, p, log.callback(stream))
	switch {
	case err != nil:
		return fmt.Sprintf("a request that is answered alone fails among others: %v", err)
	case badMessage(response):
		return "a request that is answered alone gets no good message among others"
	case sayJSON(response) != own && slices.Contains(all, sayJSON(response)):
		return "a request gets the answer to another one"
	case stream && log.breach(response) != nil:
		return log.breach(response).Detail
	}
	return ""
}

// badMessage reports whether response has no message that can be compared.
func badMessage(response *modelio.GenerateResponse) bool {
	return response == nil || response.Message == nil || contentBreach(response.Message.Content, nil) != nil
}

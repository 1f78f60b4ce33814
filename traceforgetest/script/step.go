package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Step is the answer to one request. Its methods return a step that says more, and leave the one that they are called on
// as it was.
type Step struct {
	said  said
	pause time.Duration
	when  func(*modelio.Request) bool
	wrong error // what cannot be said at all
}

// said is what identifies a step: what it answers, whoever asks.
type said struct {
	Pieces    []string             `json:"say,omitempty"`
	Reasoning string               `json:"reasoning,omitempty"`
	Refusal   string               `json:"refusal,omitempty"`
	Calls     []call               `json:"calls,omitempty"`
	Finish    modelio.FinishReason `json:"finish,omitempty"`
	Usage     *usage               `json:"usage,omitempty"`
	Embeds    bool                 `json:"embeds,omitempty"`
	Vectors   [][]float64          `json:"vectors,omitempty"`
	Failure   *failure             `json:"failure,omitempty"`
	Cut       *int                 `json:"cut,omitempty"` // after so many events

	// Only fixtures say these.
	ID        string `json:"id,omitempty"`
	Model     string `json:"model,omitempty"`
	Signature string `json:"signature,omitempty"`
}

type call struct {
	ID        string `json:"id,omitempty"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

type failure struct {
	Status     int    `json:"status"`
	Message    string `json:"message,omitempty"`
	Type       string `json:"type,omitempty"`
	Code       string `json:"code,omitempty"`
	Param      string `json:"param,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // seconds
}

// Say returns a step that says a text. A stream has it in these pieces, and a single one in words.
func Say(pieces ...string) Step { return Step{}.Say(pieces...) }

// Think returns a step with reasoning, which goes before what it says.
func Think(reasoning string) Step { return Step{said: said{Reasoning: reasoning}} }

// Call returns a step that calls a tool with arguments, a JSON object. Arguments that are none fail the test.
func Call(tool, arguments string) Step { return Step{}.Call(tool, arguments) }

// Refuse returns a step in which the model declines, with the reason, as far as the API tells one.
func Refuse(reason string) Step { return Step{said: said{Refusal: reason}} }

// Fail returns a step that fails with an HTTP status and the API's error for it, with this message if there is one.
// It takes each request, also one that the API would refuse.
func Fail(status int, message ...string) Step {
	s := Step{said: said{Failure: &failure{Status: status, Message: strings.Join(message, " ")}}}
	if status < 400 || status > 599 {
		s.wrong = fmt.Errorf("status %d is no error: want 400 to 599", status)
	}
	return s
}

// Embed returns a step that answers a request for embeddings with vectors, one for each of its texts. A text without one
// gets a vector that depends on nothing but the text.
func Embed(vectors ...[]float64) Step { return Step{said: said{Embeds: true, Vectors: vectors}} }

// Say adds a text, in pieces, to what a step says.
func (s Step) Say(pieces ...string) Step {
	s.said.Pieces = append(slices.Clip(s.said.Pieces), pieces...)
	return s.unlessItFails("says")
}

// unlessItFails has a step that fails be wrong where it answers something besides.
func (s Step) unlessItFails(answers string) Step {
	if s.said.Failure != nil {
		s.wrong = fmt.Errorf("it fails, and %s something: make it two steps", answers)
	}
	return s
}

// Call adds a call of a tool: the calls of one step are those of one turn.
func (s Step) Call(tool, arguments string) Step {
	s.said.Calls = append(slices.Clip(s.said.Calls), call{Tool: tool, Arguments: arguments})
	if object := map[string]json.RawMessage(nil); json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		s.wrong = fmt.Errorf("the arguments %s are no JSON object", arguments)
	}
	return s.unlessItFails("calls")
}

// Finish says why the model stopped where what it says does not imply it: [modelio.FinishLength] for an answer that
// reached its limit.
func (s Step) Finish(reason modelio.FinishReason) Step {
	s.said.Finish = reason
	return s
}

// Usage says how many tokens the call used. Without it they are counted in words.
func (s Step) Usage(input, output int) Step {
	s.said.Usage = &usage{input, output}
	if input < 0 || output < 0 {
		s.wrong = fmt.Errorf("usage of %d and %d tokens: want 0 or more", input, output)
	}
	return s
}

// Pause waits before the answer, and between the pieces of one that is streamed. A replay does not wait.
func (s Step) Pause(d time.Duration) Step {
	s.pause = d
	return s
}

// Cut ends the connection after so many events of a stream, before the answer is whole. An answer that is not streamed is
// cut in its middle. A number of events that the stream does not have fails the test.
func (s Step) Cut(events int) Step {
	if s.said.Cut = &events; events < 0 {
		s.wrong = fmt.Errorf("a cut after %d events: want 0 or more", events)
	}
	return s
}

// RetryAfter has a failure say when to try again, in whole seconds.
func (s Step) RetryAfter(d time.Duration) Step {
	if s.said.Failure == nil {
		s.wrong = fmt.Errorf("RetryAfter is for script.Fail")
		return s
	}
	if d < 0 {
		s.wrong = fmt.Errorf("RetryAfter of %v: want 0 or more", d)
	}
	f := *s.said.Failure
	f.RetryAfter = int((d + time.Second - 1) / time.Second)
	s.said.Failure = &f
	return s
}

// When makes a step answer the requests that fulfill a condition, in any order and number, before steps without one are
// asked. The condition is called by several goroutines where these ask at once. It must not change the request.
func (s Step) When(condition func(*modelio.Request) bool) Step {
	s.when = condition
	return s
}

// hash returns the hash of what the step says.
func (s *said) hash() canon.Hash {
	sum, _ := canon.SumJSON(s) // fails for a vector with NaN, which is refused when it is asked for
	return sum
}

// String names the step as it is written.
func (s *said) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.Reasoning != "" {
		add("Think(%q)", short(s.Reasoning))
	}
	if len(s.Pieces) > 0 {
		add("Say(%q)", short(strings.Join(s.Pieces, "")))
	}
	for _, c := range s.Calls {
		add("Call(%q, %s)", c.Tool, short(c.Arguments))
	}
	if s.Refusal != "" {
		add("Refuse(%q)", short(s.Refusal))
	}
	if s.Failure != nil {
		add("Fail(%d)", s.Failure.Status)
	}
	if s.Embeds {
		add("Embed()")
	}
	if len(parts) == 0 {
		add("Say()")
	}
	return strings.Join(parts, ".")
}

// short cuts a text to what a line has room for.
func short(text string) string {
	const most = 60 // characters
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

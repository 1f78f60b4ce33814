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

// A Step is the answer to one request. Its methods return an extended copy and do not change the receiver.
type Step struct {
	said  content
	pause time.Duration
	when  func(*modelio.Request) bool
	wrong error // why no API could give this answer
}

// A content is what a step answers, in any API. It identifies the step.
type content struct {
	Pieces    []string             `json:"say,omitempty"`
	Reasoning string               `json:"reasoning,omitempty"`
	Refusal   string               `json:"refusal,omitempty"`
	Calls     []call               `json:"calls,omitempty"`
	Finish    modelio.FinishReason `json:"finish,omitempty"`
	Usage     *usage               `json:"usage,omitempty"`
	Embeds    bool                 `json:"embeds,omitempty"`
	Vectors   [][]float64          `json:"vectors,omitempty"`
	Failure   *failure             `json:"failure,omitempty"`
	Cut       *int                 `json:"cut,omitempty"` // number of events before the cut

	// Only fixtures have these.
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

// Say returns a step that answers with a text. A stream sends it in the given pieces; a single piece is sent word by
// word.
func Say(pieces ...string) Step { return Step{}.Say(pieces...) }

// Think returns a step with reasoning, which comes before the text.
func Think(reasoning string) Step { return Step{said: content{Reasoning: reasoning}} }

// Call returns a step that calls a tool with arguments, a JSON object. Other arguments fail the test.
func Call(tool, arguments string) Step { return Step{}.Call(tool, arguments) }

// Refuse returns a step in which the model refuses. The reason is included if the API has a place for it.
func Refuse(reason string) Step { return Step{said: content{Refusal: reason}} }

// Fail returns a step that fails with an HTTP status, the API's error for that status, and the message, if there is
// one. The step answers any request, even one that the API would refuse.
func Fail(status int, message ...string) Step {
	s := Step{said: content{Failure: &failure{Status: status, Message: strings.Join(message, " ")}}}
	if status < 400 || status > 599 {
		s.wrong = fmt.Errorf("status %d is no error: want 400 to 599", status)
	}
	return s
}

// Embed returns a step that answers a request for embeddings with vectors, one for each text. A text without a vector
// gets one that depends only on the text.
func Embed(vectors ...[]float64) Step { return Step{said: content{Embeds: true, Vectors: vectors}} }

// Say adds text to a step, in pieces.
func (s Step) Say(pieces ...string) Step {
	s.said.Pieces = append(slices.Clip(s.said.Pieces), pieces...)
	return s.unlessItFails("says")
}

// unlessItFails marks a failing step as wrong if it also answers something.
func (s Step) unlessItFails(answers string) Step {
	if s.said.Failure != nil {
		s.wrong = fmt.Errorf("it fails, and %s something: make it two steps", answers)
	}
	return s
}

// Call adds a tool call: the calls of one step belong to one turn.
func (s Step) Call(tool, arguments string) Step {
	s.said.Calls = append(slices.Clip(s.said.Calls), call{Tool: tool, Arguments: arguments})
	if object := map[string]json.RawMessage(nil); json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		s.wrong = fmt.Errorf("the arguments %s are no JSON object", arguments)
	}
	return s.unlessItFails("calls")
}

// Finish sets why the model stopped if the content does not imply it, such as [modelio.FinishLength] for an answer that
// reached its token limit.
func (s Step) Finish(reason modelio.FinishReason) Step {
	s.said.Finish = reason
	return s
}

// Usage sets how many tokens the call used. The default counts words.
func (s Step) Usage(input, output int) Step {
	s.said.Usage = &usage{input, output}
	if input < 0 || output < 0 {
		s.wrong = fmt.Errorf("usage of %d and %d tokens: want 0 or more", input, output)
	}
	return s
}

// Pause waits before the answer and between the pieces of a stream. A replay does not wait.
func (s Step) Pause(d time.Duration) Step {
	s.pause = d
	return s
}

// Cut closes the connection after a number of events of a stream, before the answer is complete. An answer that is not
// streamed is cut in the middle. If the stream has fewer events, the test fails.
func (s Step) Cut(events int) Step {
	if s.said.Cut = &events; events < 0 {
		s.wrong = fmt.Errorf("a cut after %d events: want 0 or more", events)
	}
	return s
}

// RetryAfter adds the time after which a failed request may be retried, in whole seconds.
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

// When makes a step answer every request that meets a condition, in any order and any number of times. Steps without a
// condition are considered after it. The condition may be called by several goroutines at once. It must not change the
// request.
func (s Step) When(condition func(*modelio.Request) bool) Step {
	s.when = condition
	return s
}

// hash returns the hash of the step's answer.
func (s *content) hash() canon.Hash {
	sum, _ := canon.SumJSON(s) // fails for a vector with NaN, which is refused when the step is used
	return sum
}

// String returns the step as it is written in Go.
func (s *content) String() string {
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

// short shortens a text to fit on a line.
func short(text string) string {
	const most = 60 // characters
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The components of answers, as used in [Change.Component] and [Change.Kind], in the order of [Answers].
const (
	Readings      = "answer: readings" // what other programs read in its bytes
	AnswerText    = "answer: text"
	ToolCalls     = "answer: tool calls"
	Reasoning     = "answer: reasoning"
	AnswerParts   = "answer: parts" // everything else that it contains, such as media
	FinishReason  = "answer: finish reason"
	AnswerModel   = "answer: model"
	AnswerError   = "answer: error"
	AnswerStatus  = "answer: status"
	AnswerType    = "answer: content type"
	AnswerCut     = "answer: incomplete"
	AnswerNote    = "answer: note" // why no codec of its API can decode it
	Citations     = "answer: citations"
	AnswerHeaders = "answer: headers" // headers that replay serves
	AnswerSource  = "answer: source"  // where it comes from, how it was made, and the time of its test
)

// Answers returns the differences between the answers of two records. It ignores times, token counts, ids, hashes, and
// the values of headers that change with every call.
func Answers(recorded, got *snapshot.Snapshot) ([]Change, error) {
	w := writer{c: NewComparer(nil)}
	before, err := w.c.answer(&recorded.Response)
	after, err2 := w.c.answer(&got.Response)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	w.named(Readings, "/readings", before.members[Readings], after.members[Readings])
	w.candidate("", "", before.candidate, after.candidate)
	never := func(candidate, candidate) bool { return false } // equal candidates add nothing
	align(before.others, after.others, never, func(i int, b, a candidate) {
		w.candidate(fmt.Sprintf(" %d", i+2), fmt.Sprintf("/candidates/%d", i), b, a)
	})
	for _, m := range []struct{ component, pointer string }{
		{AnswerModel, "/model"}, {AnswerError, "/error"}, {AnswerStatus, "/status"}, {AnswerType, "/headers/content-type"},
		{AnswerCut, "/incomplete"}, {AnswerNote, "/note"}, {Citations, "/citations"}, {AnswerHeaders, "/headers"},
	} {
		w.named(m.component, m.pointer, before.members[m.component], after.members[m.component])
	}
	was, is := sources(recorded, got)
	w.named(AnswerSource, "/source", w.c.word(was), w.c.word(is))
	return w.found, nil
}

// sources returns how two records were made, as lines. Facts that only the old record has are left out if the call was
// recorded again since.
func sources(recorded, got *snapshot.Snapshot) (before, after string) {
	was, is := facts(recorded), facts(got)
	for _, name := range inorder.Names(is) {
		if is[name] != "" {
			after += name + ": " + is[name] + "\n"
		}
		if was[name] != "" && (is[name] != "" || recorded.Timestamp.Equal(got.Timestamp)) {
			before += name + ": " + was[name] + "\n"
		}
	}
	return strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")
}

// facts returns how a record was made, by the names in the format; empty values are absent.
func facts(s *snapshot.Snapshot) map[string]string {
	now, command := "", ""
	if !s.Source.Now.IsZero() {
		now = s.Source.Now.Format(time.RFC3339Nano)
	}
	if s.Source.Package == snapshot.ProgramPackage { // people copy it
		command = s.Source.Function
	}
	return map[string]string{
		"command": command, "ignored": strings.Join(s.Source.Ignored, ", "), "lane": s.Source.Lane, "nondeterministic": s.Source.Nondeterministic, "now": now,
		"origin": s.Source.Origin, "scripted": string(s.Source.Scripted), "stale": string(s.Response.Stale), "unknown": strings.Join(s.Source.Unknown, ", "),
	}
}

// ofOneCall matches names of headers whose values differ with each call.
var ofOneCall = regexp.MustCompile(`(?:^|-)(?:age|date|etag|id|processing-ms|ratelimit|ray|requestid|session|time|url)(?:-|$)`)

// An answer is an answer divided into components.
type answer struct {
	candidate
	others  []candidate
	members map[string]part // everything else, by component
}

// A candidate is a candidate of an answer, divided into components.
type candidate struct {
	text, calls, reasoning, parts, reason part
	listed                                map[string]part // parts that are items of a list, by the name that [Listed] returns
	result                                string          // name of the tool whose result the last part is; "" if it is none
}

// Listed names a part that is an item of a list, such as a server's list of tools: "tool add". It reports false for any
// other part.
func Listed(p jsontext.Value) (name string, ok bool) {
	custom := p.Member("custom")
	for kind, listed := range custom.Members() {
		name, ok = kind+" "+listed.Member("name").Word(), custom.Len() == 1 && listed.Member("name").IsWord()
	}
	return name, ok
}

func (c *Comparer) answer(r *snapshot.Response) (answer, error) {
	core, err := snapshot.ResponseCore(r)
	if err != nil {
		return answer{}, err
	}
	said := jsontext.ValueOf(core)
	var headers []string
	for _, name := range inorder.Names(r.Headers) {
		switch {
		case name == "content-type": // reported separately
		case ofOneCall.MatchString(name):
			headers = append(headers, name)
		default:
			headers = append(headers, name+": "+strings.Join(r.Headers[name], ", "))
		}
	}
	a := answer{candidate: c.candidate(said), members: map[string]part{
		AnswerModel: c.word(r.Model), AnswerError: c.part(said.Member("error").Raw()), AnswerCut: c.word(r.Incomplete),
		AnswerHeaders: c.word(strings.Join(headers, "\n")), AnswerType: c.word(strings.Join(r.Headers["content-type"], ", ")),
		AnswerNote: c.word(r.Note), Readings: c.word(strings.Join(reading.Sentences(r.Readings, r.ReadingsMore), "\n")),
	}}
	var cited []modelio.Citation
	for i := range r.Candidates {
		cited = append(cited, r.Candidates[i].Citations...)
	}
	if cited != nil {
		text, _ := json.MarshalIndent(cited, "", "  ") // contains only texts and numbers
		a.members[Citations] = c.word(string(text))
	}
	if r.Status != 0 {
		a.members[AnswerStatus] = c.word(fmt.Sprint(r.Status))
	}
	for _, other := range said.Member("candidates").Elements() {
		a.others = append(a.others, c.candidate(other))
	}
	return a, nil
}

func (c *Comparer) candidate(core jsontext.Value) candidate {
	var reasoning []string
	s := candidate{listed: map[string]part{}}
	var rest []json.RawMessage
	for _, p := range core.Member("parts").Elements() {
		if text, ok := p.Member("reasoning").Text(); ok {
			reasoning = append(reasoning, text)
		}
		name, listed := Listed(p)
		if _, twice := s.listed[name]; listed && !twice {
			s.listed[name] = c.part(p.Member("custom").Raw())
			continue
		}
		rest = append(rest, p.Raw())
		s.result = p.Member("toolResponse", "name").Word()
	}
	s.text, s.calls = c.word(core.Member("content").Word()), c.part(core.Member("tool_calls").Raw())
	s.reason, s.reasoning = c.part(core.Member("finish_reason").Raw()), c.word(strings.Join(reasoning, "\n"))
	if s.parts = c.part(core.Member("parts").Raw()); len(s.listed) > 0 {
		s.parts = c.part(jsontext.List(rest))
	}
	return s
}

// word returns the part for a text; an empty text is absent.
func (c *Comparer) word(text string) part {
	if text == "" {
		return part{}
	}
	return c.part(jsontext.Text(text))
}

// candidate adds the differences between two candidates; number is empty for the first one.
func (w *writer) candidate(number, pointer string, before, after candidate) {
	named := func(component, at string, b, a part, spell spelling) {
		w.change(strings.Replace(component, "answer", "answer"+number, 1), component, pointer+at, b, a, spell)
	}
	found := len(w.found)
	named(AnswerText, "/content", before.text, after.text, readable)
	named(ToolCalls, "/tool_calls", before.calls, after.calls, spoken)
	named(Reasoning, "/parts", before.reasoning, after.reasoning, readable)
	for _, name := range inorder.Names(before.listed, after.listed) {
		w.change("answer"+number+": "+name, AnswerParts, pointer+"/parts", before.listed[name], after.listed[name], readable)
	}
	if len(w.found) == found {
		named(AnswerParts, "/parts", before.parts, after.parts, readable)
		if last := len(w.found) - 1; last >= found && after.result != "" {
			w.found[last].Component = "answer" + number + ": result of tool " + after.result
		}
	}
	named(FinishReason, "/finish_reason", before.reason, after.reason, readable)
}

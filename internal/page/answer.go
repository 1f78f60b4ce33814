package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The components of answers, as used in [drift.Change.Component] and [drift.Change.Kind], in the order of [Answers].
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

// Answers returns the differences between the answers of two records. It ignores times, token counts, ids and hashes,
// and, if the call was recorded again, the values of headers that change with every call.
func Answers(recorded, got *snapshot.Snapshot) ([]drift.Change, error) {
	again := isRecordedAgain(recorded, got)
	before, err := divideAnswer(&recorded.Response, again)
	after, err2 := divideAnswer(&got.Response, again)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	var w answerWriter
	w.add(Readings, Readings, "/readings", before.members[Readings], after.members[Readings], drift.Readable)
	n := max(len(before.candidates), len(after.candidates))
	both := [2][]candidate{make([]candidate, n), make([]candidate, n)} // one side may have more
	copy(both[0], before.candidates)
	copy(both[1], after.candidates)
	for i := range n {
		w.candidate(i, both[0][i], both[1][i])
	}
	for _, m := range []struct{ component, pointer string }{
		{AnswerModel, "/model"}, {AnswerError, "/error"}, {AnswerStatus, "/status"}, {AnswerType, "/headers/content-type"},
		{AnswerCut, "/incomplete"}, {AnswerNote, "/note"}, {Citations, "/citations"}, {AnswerHeaders, "/headers"},
	} {
		w.add(m.component, m.component, m.pointer, before.members[m.component], after.members[m.component], drift.Readable)
	}
	was, is := sources(recorded, got)
	w.add(AnswerSource, AnswerSource, "/source", jsonOf(was), jsonOf(is), drift.Readable)
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
		if was[name] != "" && (is[name] != "" || !isRecordedAgain(recorded, got)) {
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
		"command": command, "ignored": strings.Join(s.Source.Ignored, ", "), "lane": s.Source.Lane,
		"nondeterministic": s.Source.Nondeterministic, "now": now,
		"origin": s.Source.Origin, "scripted": string(s.Source.Scripted), "stale": string(s.Response.Stale),
		"unknown": strings.Join(s.Source.Unknown, ", "),
	}
}

// variable matches names of headers whose values differ with each call.
var variable = regexp.MustCompile(
	`(?:^|-)(?:age|date|etag|id|processing-ms|ratelimit|ray|requestid|session|time|url)(?:-|$)`)

// An answer is an answer divided into components, each in JSON; nil if absent.
type answer struct {
	candidates []candidate
	members    map[string]json.RawMessage // everything else, by component
}

// A candidate is a candidate of an answer, divided into components.
type candidate struct {
	text, calls, reasoning, parts, reason json.RawMessage
	beside                                json.RawMessage // of parts, what the others do not say
	// parts that are items of a list, by the name that [drift.Listed] returns
	listed map[string]json.RawMessage
	result string // name of the tool whose result the last part is; "" if it is none
}

func divideAnswer(r *snapshot.Response, again bool) (a answer, err error) {
	core, err := snapshot.ResponseCore(r)
	if err != nil {
		return a, err
	}
	said := jsontext.ValueOf(core)
	for _, other := range append([]jsontext.Value{said}, said.Member("candidates").Values()...) {
		a.candidates = append(a.candidates, divideCandidate(other))
	}
	var headers []string
	for _, name := range inorder.Names(r.Headers) {
		switch {
		case name == "content-type": // reported separately
		case again && variable.MatchString(name):
			headers = append(headers, name)
		default:
			headers = append(headers, name+": "+strings.Join(r.Headers[name], ", "))
		}
	}
	a.members = map[string]json.RawMessage{
		AnswerModel: jsonOf(r.Model), AnswerError: said.Member("error").Raw(), AnswerCut: jsonOf(r.Incomplete),
		AnswerHeaders: jsonOf(strings.Join(headers, "\n")), AnswerType: jsonOf(strings.Join(r.Headers["content-type"], ", ")),
		AnswerNote: jsonOf(r.Note), Readings: jsonOf(strings.Join(reading.Sentences(r.Readings, r.ReadingsMore), "\n")),
	}
	var cited []modelio.Citation
	for i := range r.Candidates {
		cited = append(cited, r.Candidates[i].Citations...)
	}
	if cited != nil {
		text, _ := json.MarshalIndent(cited, "", "  ") // contains only texts and numbers
		a.members[Citations] = jsonOf(string(text))
	}
	if r.Status != 0 {
		a.members[AnswerStatus] = jsonOf(fmt.Sprint(r.Status))
	}
	return a, nil
}

func divideCandidate(core jsontext.Value) candidate {
	var reasoning []string
	s := candidate{listed: map[string]json.RawMessage{}}
	var rest, beside []json.RawMessage
	called := map[string]bool{}
	for _, call := range core.Member("tool_calls").Elements() {
		called[string(call.Raw())] = true
	}
	for _, p := range core.Member("parts").Elements() {
		if text, ok := p.Member("reasoning").Text(); ok {
			reasoning = append(reasoning, text)
		}
		name, listed := drift.Listed(p)
		if _, twice := s.listed[name]; listed && !twice {
			s.listed[name] = p.Member("custom").Raw()
			continue
		}
		rest = append(rest, p.Raw())
		s.result = p.Member("toolResponse", "name").Word()
		other := p.Rest("text", "reasoning")
		if called[string(other["toolRequest"])] {
			delete(other, "toolRequest")
		}
		if len(other) > 0 {
			beside = append(beside, jsontext.ObjectText(other))
		}
	}
	s.text, s.calls = jsonOf(core.Member("content").Word()), core.Member("tool_calls").Raw()
	s.reason, s.reasoning = core.Member("finish_reason").Raw(), jsonOf(strings.Join(reasoning, "\n"))
	if s.parts = core.Member("parts").Raw(); len(s.listed) > 0 {
		s.parts = jsontext.List(rest)
	}
	if beside != nil {
		s.beside = jsontext.List(beside)
	}
	return s
}

// jsonOf returns a text in JSON; an empty text is absent.
func jsonOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return jsontext.Text(text)
}

// An answerWriter collects the changes of an answer.
type answerWriter struct{ found []drift.Change }

// add adds a component unless both sides are equal.
func (w *answerWriter) add(component, kind, pointer string, before, after json.RawMessage, as drift.Spelling) {
	w.found = append(w.found, drift.Between(component, kind, pointer, before, after, as)...)
}

// candidate adds the differences between the i-th candidates.
func (w *answerWriter) candidate(i int, before, after candidate) {
	number, pointer, found := "answer", "", len(w.found)
	if i > 0 {
		number, pointer = fmt.Sprintf("answer %d", i+1), fmt.Sprintf("/candidates/%d", i-1)
	}
	add := func(kind, at string, b, a json.RawMessage, as drift.Spelling) {
		w.add(strings.Replace(kind, "answer", number, 1), kind, pointer+at, b, a, as)
	}
	add(AnswerText, "/content", before.text, after.text, drift.Readable)
	add(ToolCalls, "/tool_calls", before.calls, after.calls, drift.Spoken)
	add(Reasoning, "/parts", before.reasoning, after.reasoning, drift.Readable)
	for _, name := range inorder.Names(before.listed, after.listed) {
		w.add(number+": "+name, AnswerParts, pointer+"/parts", before.listed[name], after.listed[name], drift.Readable)
	}
	was, is := before.parts, after.parts
	if len(w.found) > found { // and not again what was told
		was, is = before.beside, after.beside
	}
	told := len(w.found)
	if add(AnswerParts, "/parts", was, is, drift.Readable); len(w.found) > told && after.result != "" {
		w.found[told].Component = number + ": result of tool " + after.result
	}
	add(FinishReason, "/finish_reason", before.reason, after.reason, drift.Readable)
}

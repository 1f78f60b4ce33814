package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// maxFixtures limits the size of a fixture file in bytes (design R16).
const maxFixtures = 64 << 20

// Open reads an aimock fixture file, JSON of at most 64 MB. Each fixture is a step with a condition; the script chooses
// the one that aimock would choose, and answers in the format of the API that is called. Several tests may share a
// file, so unused fixtures do not fail the test. Images, audio and video are not supported.
func Open(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open fixtures: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFixtures+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(data) > maxFixtures:
		return nil, fmt.Errorf("%s: more than %d MB: split it", path, maxFixtures>>20)
	}
	s, err := readFixtures(path, data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return s, nil
}

// readFixtures parses fixtures; path only names them.
func readFixtures(path string, data []byte) (*Script, error) {
	doc, err := jsontext.ParseLenient(data)
	if err != nil {
		return nil, fmt.Errorf("1: is no JSON: %w", err)
	}
	list := doc.Root().Member("fixtures")
	if !list.IsArray() {
		return nil, errors.New(
			"1: has no fixtures: script.Open reads those of aimock, and cassette.Open recordings of other tools")
	}
	s := &Script{from: "the fixtures of " + path}
	var all []*fixture
	for n, v := range list.Elements() {
		f := &fixture{number: n + 1, line: 1 + bytes.Count(data[:v.Offset()], []byte("\n"))}
		if err := f.read(v); err != nil {
			return nil, fmt.Errorf("%d: fixture %d: %w", f.line, f.number, err)
		}
		f.name = fmt.Sprintf("line %d of %s, fixture %d,", f.line, path, f.number)
		all = append(all, f)
	}
	s.choose = func(a *question) *step {
		s.mu.Lock()
		defer s.mu.Unlock()
		f := chosen(all, a)
		if f == nil {
			return nil
		}
		f.count(all)
		return &f.step
	}
	s.otherwise = func() string { return unmatched(all) }
	return s, nil
}

// A fixture is a rule of aimock: the conditions on a request, and an answer that is independent of any provider's
// format.
type fixture struct {
	step
	number, line int
	served       int

	match struct {
		UserMessage        *string `json:"userMessage"`
		SystemMessage      texts   `json:"systemMessage"`
		InputText          *string `json:"inputText"`
		ToolCallID         *string `json:"toolCallId"`
		ToolResultContains *string `json:"toolResultContains"`
		ToolName           *string `json:"toolName"`
		Model              *string `json:"model"`
		ResponseFormat     *string `json:"responseFormat"`
		Endpoint           *string `json:"endpoint"`
		HasToolResult      *bool   `json:"hasToolResult"`
		SequenceIndex      *int    `json:"sequenceIndex"`
		TurnIndex          *int    `json:"turnIndex"`
	}
	criteria string // match without sequenceIndex, as JSON
	response struct {
		Content            value         `json:"content"`
		ToolCalls          []fixtureCall `json:"toolCalls"`
		Reasoning          string        `json:"reasoning"`
		ReasoningSignature string        `json:"reasoningSignature"`
		Embedding          []float64     `json:"embedding"`
		Error              *struct {
			Message string `json:"message"`
			Type    string `json:"type"`
			Param   string `json:"param"`
			Code    string `json:"code"`
		} `json:"error"`
		Status       int              `json:"status"`
		ID           string           `json:"id"`
		Model        string           `json:"model"`
		FinishReason string           `json:"finishReason"`
		Usage        map[string]value `json:"usage"`
	}
}

// A fixtureCall is a tool call in a fixture.
type fixtureCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments value  `json:"arguments"`
}

// A value is a string, or the text of any other JSON value, as aimock reads it.
type value string

func (v *value) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) == nil {
		*v = value(s)
		return nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, text)
	*v = value(b.String())
	return err
}

// texts are one string or a list of strings.
type texts []string

func (t *texts) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// matchMembers are the supported members of match. otherAnswers are members of responses of kinds that are not
// supported.
var (
	matchMembers = []string{
		"userMessage", "systemMessage", "inputText", "toolCallId", "toolResultContains", "toolName", "model",
		"responseFormat", "endpoint", "hasToolResult", "sequenceIndex", "turnIndex",
	}
	otherAnswers = []string{"image", "images", "audio", "transcription", "video", "json", "blocks"}
)

func (f *fixture) read(v jsontext.Value) error {
	match, response := v.Member("match"), v.Member("response")
	if !match.IsObject() || !response.IsObject() {
		return errors.New("want match and response; correct or remove the fixture")
	}
	criteria := match.Object()
	for name := range criteria {
		if !slices.Contains(matchMembers, name) {
			return fmt.Errorf("match has %q, which traceforge does not know: want some of %s; remove it, or the fixture",
				name, strings.Join(matchMembers, ", "))
		}
	}
	delete(criteria, "sequenceIndex")
	f.criteria = string(jsontext.ObjectText(criteria))
	for _, kind := range otherAnswers {
		if response.Member(kind).Present() {
			f.wrong = fmt.Errorf("it answers with %q, which is not told here", kind)
			return json.Unmarshal(match.Raw(), &f.match)
		}
	}
	if latency, ok := v.Member("latency").Count(); ok && latency != nil {
		f.pause = time.Duration(*latency) * time.Millisecond
	}
	if err := errors.Join(json.Unmarshal(match.Raw(), &f.match), json.Unmarshal(response.Raw(), &f.response)); err != nil {
		return err
	}
	return f.say()
}

// say makes the step from the fixture's response.
func (f *fixture) say() error {
	r := &f.response
	if e := r.Error; e != nil {
		f.Step = Fail(cmp.Or(r.Status, http.StatusInternalServerError), e.Message)
		f.said.Failure.Type, f.said.Failure.Code, f.said.Failure.Param = e.Type, e.Code, e.Param
		return f.wrong
	}
	if r.Content != "" {
		f.Step = f.Say(string(r.Content))
	}
	for i, c := range r.ToolCalls {
		f.Step = f.Call(c.Name, string(c.Arguments))
		f.said.Calls[i].ID = c.ID
	}
	f.said.Reasoning, f.said.Signature, f.said.ID, f.said.Model = r.Reasoning, r.ReasoningSignature, r.ID, r.Model
	f.said.Usage = f.usage()
	if f.said.Embeds = r.Embedding != nil; f.said.Embeds {
		f.said.Vectors = [][]float64{r.Embedding}
	}
	reason, known := finishes[r.FinishReason]
	if !known {
		return fmt.Errorf("finishReason is %q: want one of stop, length, tool_calls, content_filter", r.FinishReason)
	}
	f.said.Finish = reason
	return f.wrong
}

// finishes maps the finish reasons of fixtures; "" stands for a reason that the content implies.
var finishes = map[string]modelio.FinishReason{
	"": "", "stop": "", "tool_calls": "", "length": modelio.FinishLength, "content_filter": modelio.FinishBlocked,
}

// count counts an answer, also for the fixtures of the same sequence.
func (f *fixture) count(all []*fixture) {
	for _, sibling := range all {
		if sibling == f ||
			f.match.SequenceIndex != nil && sibling.match.SequenceIndex != nil && sibling.criteria == f.criteria {
			sibling.served++
		}
	}
}

// chosen returns the fixture that answers a call: the first that matches. Among fixtures with a turn it prefers the
// latest that is not ahead of the conversation.
func chosen(all []*fixture, a *question) *fixture {
	turn := 0
	for _, m := range a.call.Messages {
		if m.Role == "assistant" || m.Role == "model" {
			turn++
		}
	}
	var plain, behind, ahead *fixture
	for _, f := range all {
		if !a.may(&f.said) || !f.matches(&a.call) {
			continue
		}
		switch at := f.match.TurnIndex; {
		case at == nil && plain == nil:
			plain = f
			if behind != nil && *behind.match.TurnIndex == turn {
				return behind
			}
		case at == nil:
		case *at <= turn && (behind == nil || *at > *behind.match.TurnIndex):
			behind = f
		case *at > turn && (ahead == nil || *at < *ahead.match.TurnIndex):
			ahead = f
		}
	}
	switch {
	case behind != nil && plain != nil && *behind.match.TurnIndex == turn && plain.number < behind.number:
		return plain
	case behind != nil:
		return behind
	case plain != nil:
		return plain
	}
	return ahead
}

// matches reports whether a call meets the fixture's conditions.
func (f *fixture) matches(c *fakeprovider.Call) bool {
	m := &f.match
	holds := func(want *string, text string) bool { return want == nil || strings.Contains(text, *want) }
	results := c.ToolResults()
	answers := func(t fakeprovider.ToolResult) bool { return t.ID == *m.ToolCallID }
	offers := func(t fakeprovider.Tool) bool { return t.Name == *m.ToolName }
	embeds := strings.Contains(c.API, "embed")
	switch {
	case m.SequenceIndex != nil && *m.SequenceIndex != f.served,
		m.Endpoint != nil && (*m.Endpoint == "embedding") != embeds,
		m.Endpoint != nil && *m.Endpoint != "chat" && *m.Endpoint != "embedding",
		!holds(m.UserMessage, c.LastUser()),
		m.InputText != nil && !embeds, !holds(m.InputText, c.LastUser()),
		m.HasToolResult != nil && *m.HasToolResult != (len(results) > 0),
		m.ToolCallID != nil && !slices.ContainsFunc(results, answers),
		m.ToolResultContains != nil && len(results) == 0,
		len(results) > 0 && !holds(m.ToolResultContains, results[len(results)-1].Text),
		m.ToolName != nil && !slices.ContainsFunc(c.Tools, offers),
		m.ResponseFormat != nil && (*m.ResponseFormat == "json_schema") != (len(c.Schema) > 0),
		m.Model != nil && !isModel(c.Model, *m.Model):
		return false
	}
	system := systemText(c)
	return !slices.ContainsFunc(m.SystemMessage, func(want string) bool { return !strings.Contains(system, want) })
}

// isModel reports whether model is name or a dated version of it.
func isModel(model, name string) bool {
	rest, ok := strings.CutPrefix(model, name)
	return ok && (rest == "" || len(rest) > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9')
}

func systemText(c *fakeprovider.Call) string {
	var all []string
	for _, m := range c.Messages {
		if m.Role == "system" || m.Role == "developer" {
			all = append(all, m.Text)
		}
	}
	return strings.Join(all, "\n")
}

// usage returns the fixture's token counts, which may have the names of any provider; nil if there are none.
func (f *fixture) usage() *usage {
	count := func(names ...string) (n int) {
		for _, name := range names {
			if text, ok := f.response.Usage[name]; ok {
				_, _ = fmt.Sscan(string(text), &n)
			}
		}
		return n
	}
	if len(f.response.Usage) == 0 {
		return nil
	}
	return &usage{
		Input:  count("prompt_tokens", "input_tokens", "promptTokenCount"),
		Output: count("completion_tokens", "output_tokens", "candidatesTokenCount"),
	}
}

// unmatched describes the fixtures, for a call that none of them matches.
func unmatched(all []*fixture) string {
	const most = 3
	var text strings.Builder
	text.WriteString("the fixtures are")
	for _, f := range all[:min(most, len(all))] {
		text.WriteString(fmt.Sprintf("\n  line %d, fixture %d: %s", f.line, f.number, f.criteria))
	}
	if more := len(all) - most; more > 0 {
		text.WriteString(fmt.Sprintf("\n  and %d more", more))
	}
	return text.String() + "\nadd one that matches"
}

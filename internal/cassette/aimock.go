package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// A fixture is a rule of aimock: what a request must hold, and what is answered, in no provider's format.
type fixture struct {
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
	criteria string // match without its place in a sequence
	response struct {
		Content            value     `json:"content"`
		ToolCalls          []mocked  `json:"toolCalls"`
		Reasoning          string    `json:"reasoning"`
		ReasoningSignature string    `json:"reasoningSignature"`
		Embedding          []float64 `json:"embedding"`
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
	latency time.Duration
	kind    string // of an answer that is not told here; empty: it is
}

// mocked is a tool call of a fixture.
type mocked struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments value  `json:"arguments"`
}

// A value is a text, or any other JSON, which aimock takes for its own text.
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

// texts are one text or several.
type texts []string

func (t *texts) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// told are the members of answers that are told here; those of others say of what kind they are.
var (
	matchMembers = []string{
		"userMessage", "systemMessage", "inputText", "toolCallId", "toolResultContains", "toolName", "model", "responseFormat",
		"endpoint", "hasToolResult", "sequenceIndex", "turnIndex",
	}
	otherAnswers = []string{"image", "images", "audio", "transcription", "video", "json", "blocks"}
)

// readFixtures reads the fixtures of aimock. They hold no answers as a provider sends them, so these are made in the
// format of the API that is asked, as aimock makes them.
func (r *Recording) readFixtures(data []byte, list jsontext.Value) error {
	r.Tool = "aimock"
	var all []*fixture
	for n, v := range list.Elements() {
		f := &fixture{number: n + 1, line: lineAt(data, v.Offset())}
		if err := f.read(v); err != nil {
			return wrong(f.line, "fixture %d: %v", f.number, err)
		}
		all = append(all, f)
	}
	r.answer = func(req *http.Request) (*http.Response, recorder.Provenance, error) { return r.mock(req, all) }
	return nil
}

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
			f.kind = kind
		}
	}
	if f.kind != "" {
		return json.Unmarshal(match.Raw(), &f.match)
	}
	if latency, ok := v.Member("latency").Count(); ok && latency != nil {
		f.latency = time.Duration(*latency) * time.Millisecond
	}
	return errors.Join(json.Unmarshal(match.Raw(), &f.match), json.Unmarshal(response.Raw(), &f.response))
}

// mock answers a request by the fixture that aimock would choose.
func (r *Recording) mock(req *http.Request, all []*fixture) (*http.Response, recorder.Provenance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var asked *fakeprovider.Call
	var f *fixture
	n := 0
	for _, f := range all {
		n += f.served
	}
	resp, err := fakeprovider.Answer(req, n, func(c fakeprovider.Call) fakeprovider.Reply {
		asked = &c
		if f = chosen(all, &c); f == nil {
			return fakeprovider.Reply{}
		}
		return f.reply(c.API)
	})
	switch {
	case err != nil:
		return nil, recorder.Provenance{}, err
	case asked == nil:
		from := "made by " + r.what() + ", which has fixtures for requests that a provider takes"
		return resp, recorder.Provenance{From: from}, nil
	case f == nil:
		return nil, recorder.Provenance{}, errors.New(r.unmatched(asked, all))
	case f.kind != "":
		return nil, recorder.Provenance{}, fmt.Errorf("%s, line %d: fixture %d answers with %q, which is not told here: "+
			"record the call live, without this upstream", r.what(), f.line, f.number, f.kind)
	}
	f.count(all)
	from := fmt.Sprintf("made of %s, fixture %d", r.what(), f.number)
	return resp, recorder.Provenance{From: from, Latency: f.latency}, nil
}

// count counts an answer, for its siblings in a sequence too.
func (f *fixture) count(all []*fixture) {
	for _, sibling := range all {
		if sibling == f || f.match.SequenceIndex != nil && sibling.match.SequenceIndex != nil && sibling.criteria == f.criteria {
			sibling.served++
		}
	}
}

// chosen returns the fixture that answers a call: the first that it matches, or of those with a turn the latest that is
// not ahead of the conversation.
func chosen(all []*fixture, c *fakeprovider.Call) *fixture {
	turn := 0
	for _, m := range c.Messages {
		if m.Role == "assistant" || m.Role == "model" {
			turn++
		}
	}
	var plain, behind, ahead *fixture
	for _, f := range all {
		if !f.matches(c) {
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

// matches reports whether a call has what a fixture asks for.
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

// isModel reports whether a model is the one of a name, or a dated version of it.
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

// reply is a fixture's answer.
func (f *fixture) reply(api string) fakeprovider.Reply {
	said := &f.response
	if e := said.Error; e != nil {
		return fakeprovider.Reply{Failure: &fakeprovider.Failure{
			Status: said.Status, Type: e.Type, Code: e.Code, Param: e.Param, Message: e.Message,
		}}
	}
	reply := fakeprovider.Reply{
		Text: string(said.Content), Thinking: said.Reasoning, Signature: said.ReasoningSignature,
		Model: said.Model, ID: said.ID, Finish: finish(api, said.FinishReason), Usage: f.usage(),
	}
	for _, call := range said.ToolCalls {
		reply.ToolCalls = append(reply.ToolCalls, fakeprovider.ToolCall{
			ID: call.ID, Name: call.Name, Arguments: string(call.Arguments),
		})
	}
	if said.Embedding != nil {
		reply.Vectors = [][]float64{said.Embedding}
	}
	return reply
}

// usage is what a fixture counts, in any provider's names; nil: nothing.
func (f *fixture) usage() *fakeprovider.Usage {
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
	return &fakeprovider.Usage{
		Input:  count("prompt_tokens", "input_tokens", "promptTokenCount"),
		Output: count("completion_tokens", "output_tokens", "candidatesTokenCount"),
	}
}

// finish is a finish reason of OpenAI's in the words of the API that is asked.
func finish(api, reason string) string {
	words := map[string]map[string]string{
		"anthropic": {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"},
		"gemini":    {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"},
	}
	family, _, _ := strings.Cut(api, ".")
	if word, ok := words[family][reason]; ok {
		return word
	}
	if family == "openai" && api != "openai.chat" {
		return "" // what the content implies
	}
	return reason
}

// unmatched says that no fixture answers a call, and which there are.
func (r *Recording) unmatched(c *fakeprovider.Call, all []*fixture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has no fixture for %s %s", r.what(), c.Method, c.Path)
	const most = 3
	for _, f := range all[:min(most, len(all))] {
		fmt.Fprintf(&b, "\n  line %d, fixture %d: %s", f.line, f.number, f.criteria)
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	b.WriteString("\nadd a fixture, or record the call live, without this upstream")
	return b.String()
}

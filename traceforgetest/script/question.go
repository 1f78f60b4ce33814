package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Contains returns a condition that is met if the new part of a request contains a text. The new part is everything
// that the user and the tools said since the model's last message. In a request without messages it is the prompt or
// the inputs.
func Contains(text string) func(*modelio.Request) bool {
	return func(req *modelio.Request) bool { return slices.ContainsFunc(fresh(req), has(text)) }
}

func has(text string) func(string) bool {
	return func(all string) bool { return strings.Contains(all, text) }
}

// fresh returns the texts of a request after the model's last message.
func fresh(req *modelio.Request) (texts []string) {
	if req.Prompt != nil {
		texts = append(texts, *req.Prompt)
	}
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == modelio.RoleModel {
			break
		}
		if m.Role == modelio.RoleSystem {
			continue
		}
		for _, p := range m.Content {
			texts = append(texts, textsOf(p)...)
		}
	}
	if len(req.Messages) == 0 && req.Prompt == nil {
		for _, option := range req.Options {
			texts = append(texts, string(option))
		}
	}
	return texts
}

func textsOf(p modelio.Part) (texts []string) {
	if p.Text != nil {
		texts = append(texts, *p.Text)
	}
	if p.ToolResponse != nil {
		texts = append(texts, string(p.ToolResponse.Output))
		for _, inner := range p.ToolResponse.Content {
			texts = append(texts, textsOf(inner)...)
		}
	}
	return texts
}

// A question is a request in the form that steps are matched with.
type question struct {
	number  int
	call    fakeprovider.Call
	request *modelio.Request
	refused string // why its API would refuse it; empty if it would not
	choice  choice
	single  bool // the answer has one tool call at most
}

// askedBy reads an HTTP request.
func askedBy(req *http.Request, asking *fakeprovider.Asking) *question {
	a := &question{call: asking.Call, choice: choiceIn(asking.Call.Body), request: &modelio.Request{API: asking.Call.API}}
	a.single = isSingle(asking.Call.Body)
	if asking.Refused != nil {
		a.refused = asking.Refused.Message
	}
	w := &provider.Wire{
		Method: req.Method, URL: req.URL, Header: req.Header, ContentType: req.Header.Get("Content-Type"),
		Body: asking.Call.Body,
	}
	if codec, ok := provider.Match(w); ok {
		if read, err := codec.DecodeRequest(w); err == nil {
			a.request = read
		}
	}
	return a
}

// String describes a request in one line: its API, its model, and the end of its last message.
func (a *question) String() string {
	var parts []string
	for _, part := range []string{a.call.API, a.call.Model} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if a.call.API == "" {
		parts = append(parts, a.call.Method, a.call.Host+a.call.Path)
	}
	text := strings.Join(parts, " ")
	if n := len(a.call.Messages); n > 0 {
		text += fmt.Sprintf(", %s", lastOf(a.call.Messages[n-1]))
	}
	if len(a.call.Tools) > 0 {
		text += ", offered " + strings.Join(a.offered(), ", ")
	}
	return text
}

func lastOf(m fakeprovider.Message) string {
	if n := len(m.ToolResults); n > 0 {
		return fmt.Sprintf("result of a tool: %q", short(m.ToolResults[n-1].Text))
	}
	return fmt.Sprintf("%s: %q", m.Role, short(m.Text))
}

func (a *question) offered() (names []string) {
	for _, t := range a.call.Tools {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// A choice is a request's tool choice.
type choice struct {
	forced bool     // the answer must be a tool call
	none   bool     // the answer must not be a tool call
	tools  []string // the tools that may be called; nil for any
}

// choiceIn reads the tool choice from a request's body, in the spelling of any API.
func choiceIn(body []byte) choice {
	type function struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	type calling struct {
		Mode  string   `json:"mode"`
		Tools []string `json:"allowedFunctionNames"`
		Snake []string `json:"allowed_function_names"`
	}
	type config struct {
		Choice map[string]function `json:"toolChoice"` // Bedrock
		Google calling             `json:"functionCallingConfig"`
		Snake  calling             `json:"function_calling_config"`
	}
	var b struct {
		Choice json.RawMessage `json:"tool_choice"`
		Config config          `json:"toolConfig"`
		Snake  config          `json:"tool_config"`
	}
	if json.Unmarshal(body, &b) != nil {
		return choice{}
	}
	var word string
	if json.Unmarshal(b.Choice, &word) == nil && word != "" {
		return choiceOf(word)
	}
	var one function
	if json.Unmarshal(b.Choice, &one) == nil && one.Type != "" {
		return choiceOf(one.Type, one.Name, one.Function.Name)
	}
	for _, c := range []config{b.Config, b.Snake} {
		for kind, tool := range c.Choice {
			return choiceOf(kind, tool.Name)
		}
		for _, g := range []calling{c.Google, c.Snake} {
			if g.Mode != "" {
				return choiceOf(g.Mode, append(g.Tools, g.Snake...)...)
			}
		}
	}
	return choice{}
}

// isSingle reports whether a request's body allows one tool call at most.
func isSingle(body []byte) bool {
	b := struct {
		Parallel bool `json:"parallel_tool_calls"` // OpenAI
		Choice   struct {
			Single bool `json:"disable_parallel_tool_use"` // Anthropic
		} `json:"tool_choice"`
	}{Parallel: true}
	_ = json.Unmarshal(body, &b) // a choice that is a word is skipped
	return !b.Parallel || b.Choice.Single
}

// choiceOf returns the choice for an API's word and the names of tools. Empty names are ignored.
func choiceOf(word string, tools ...string) choice {
	tools = slices.DeleteFunc(tools, func(name string) bool { return name == "" })
	switch strings.ToLower(word) {
	case "required", "any", "tool", "function":
		return choice{forced: true, tools: tools}
	case "none":
		return choice{none: true}
	}
	return choice{}
}

// askedOf reads a model call. It returns an error if the call cannot be encoded as JSON.
func askedOf(req *modelio.GenerateRequest) (*question, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	var own modelio.GenerateRequest // a copy, since the caller may change its own
	if err := json.Unmarshal(text, &own); err != nil {
		return nil, err
	}
	a := &question{call: fakeprovider.Call{API: modelAPI}, choice: choiceOf(string(own.ToolChoice))}
	a.request = &modelio.Request{API: modelAPI, Messages: own.Messages, Tools: own.Tools, Options: own.Config}
	for _, m := range own.Messages {
		a.call.Messages = append(a.call.Messages, messageOf(m))
	}
	for _, t := range own.Tools {
		a.call.Tools = append(a.call.Tools, fakeprovider.Tool{Name: t.Name, Schema: t.InputSchema})
	}
	if own.Output != nil && len(bytes.TrimSpace(own.Output.Schema)) > 0 {
		a.call.Schema = own.Output.Schema
	}
	return a, nil
}

func messageOf(m modelio.Message) fakeprovider.Message {
	said := fakeprovider.Message{Role: string(m.Role)}
	for _, p := range m.Content {
		switch {
		case p.Text != nil:
			said.Text += *p.Text
		case p.ToolRequest != nil:
			said.ToolCalls = append(said.ToolCalls, fakeprovider.ToolCall{
				ID: p.ToolRequest.Ref, Name: p.ToolRequest.Name, Arguments: string(p.ToolRequest.Input),
			})
		case p.ToolResponse != nil:
			said.ToolResults = append(said.ToolResults, fakeprovider.ToolResult{
				ID: p.ToolResponse.Ref, Name: p.ToolResponse.Name, Text: string(p.ToolResponse.Output),
			})
		}
	}
	return said
}

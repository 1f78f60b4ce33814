package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// invokeTexts says where the answers of models that take a prompt have their text and why it
// ends: in the body, or in the elements of a list.
var invokeTexts = []struct {
	list         string
	text, finish []string
}{
	{list: "results", text: []string{"outputText"}, finish: []string{"completionReason"}},             // Titan
	{list: "outputs", text: []string{"text"}, finish: []string{"stop_reason"}},                        // Mistral
	{list: "generations", text: []string{"text"}, finish: []string{"finish_reason"}},                  // Cohere
	{list: "completions", text: []string{"data", "text"}, finish: []string{"finishReason", "reason"}}, // AI21
	{list: "choices", text: []string{"text"}, finish: []string{"stop_reason"}},                        // DeepSeek
	{text: []string{"completion"}, finish: []string{"stop_reason"}},                                   // Claude 2
	{text: []string{"generation"}, finish: []string{"stop_reason"}},                                   // Llama
	{text: []string{"outputText"}, finish: []string{"completionReason"}},                              // Titan, streamed
	{text: []string{"text"}, finish: []string{"finish_reason"}},                                       // Cohere
}

const invokeMetrics = "amazon-bedrock-invocationMetrics"

var invokeUsage = usageNames{
	input: [][]string{
		{"inputTextTokenCount"}, {"prompt_token_count"}, {invokeMetrics, "inputTokenCount"}, {"usage", "input_tokens"},
	},
	output: [][]string{
		{"generation_token_count"}, {"totalOutputTextTokenCount"},
		{invokeMetrics, "outputTokenCount"}, {"usage", "output_tokens"},
	},
}

func invokeAnswer(body jsontext.Value) (*modelio.Response, error) {
	switch {
	case body.Member("content").IsArray() && body.Member("role").Present():
		return claudeAnswer(body)
	case body.Member("output", "message").IsObject():
		return converseAnswer(body)
	case body.Member("choices").IsArray() && elementOf(body.Member("choices")).Member("message").IsObject():
		return chatCompletion(body)
	}
	resp := &modelio.Response{Usage: invokeUsage.decode(body)}
	if resp.Usage != nil {
		resp.Usage.Unknown = nil // the rest of the body
		if resp.Usage.InputTokens == nil && resp.Usage.OutputTokens == nil {
			resp.Usage = nil
		}
	}
	for _, form := range invokeTexts {
		if form.list == "" {
			addText(resp, body, form.text, form.finish)
		}
		for _, e := range body.Member(form.list).Elements() {
			addText(resp, e, form.text, form.finish)
		}
		if len(resp.Candidates) > 0 {
			return resp, nil
		}
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	c.Message.Content = []modelio.Part{{Custom: body.Object()}} // an embedding, say
	resp.Candidates = []modelio.Candidate{c}
	return resp, nil
}

// addText adds a candidate if v has a text.
func addText(r *modelio.Response, v jsontext.Value, text, finish []string) {
	said, ok := v.Member(text...).Text()
	if !ok {
		return
	}
	c := candidate(v.Member(finish...).Word(), modelio.TextPart(said))
	tidy(&c.Message)
	r.Candidates = append(r.Candidates, c)
}

// invokeFold makes an answer of its events, each of which holds one of the model's own.
type invokeFold struct {
	fold
}

func (f *invokeFold) add(_ string, event jsontext.Value) error {
	inner, err := invokeUnwrap(event)
	if err != nil {
		return err
	}
	kind, converse := converseEvent(inner)
	if f.fold == nil {
		switch {
		case kind != "":
			f.fold = &converseFold{}
		case isClaudeEvent(inner.Member("type").Word()):
			f.fold = &claudeFold{}
		default:
			f.fold = &textFold{}
		}
	}
	if kind != "" {
		inner = converse
	}
	return f.fold.add(kind, inner)
}

func (f *invokeFold) body() (json.RawMessage, bool) {
	if f.fold == nil {
		return nil, false
	}
	return f.fold.body()
}

// textFold makes an answer of the pieces of a text, or of several.
type textFold struct {
	top     growing
	outputs sequence[growing] // with their text in the member text
	done    bool
}

func (f *textFold) add(_ string, chunk jsontext.Value) error {
	for name, v := range chunk.Members() {
		switch name {
		case "outputText", "completion", "generation", "text":
			if index := chunk.Member("index"); index.Present() {
				f.outputs.at(index).grow("text", v)
			} else {
				f.top.grow(name, v)
			}
		case "outputs", "choices":
			for i, output := range v.Elements() {
				f.outputs.index(int64(i)).grow("text", output.Member("text"))
				f.ends("stop_reason", output.Member("stop_reason"))
			}
		case "completionReason", "stop_reason", "finish_reason":
			f.ends(name, v)
		case invokeMetrics: // in the last event
			f.done = true
			f.top.put(name, v)
		case "amazon-bedrock-guardrailAction": // in the only event, where it stopped the model
			f.done = f.done || v.Word() == "INTERVENED"
			f.top.put(name, v)
		case "is_finished":
			f.done = f.done || string(v.Raw()) == "true"
		case "index":
		default:
			f.top.put(name, v)
		}
	}
	return nil
}

// ends takes why the answer ends.
func (f *textFold) ends(name string, v jsontext.Value) {
	f.done = f.done || v.IsWord()
	f.top.put(name, v)
}

func (f *textFold) body() (json.RawMessage, bool) {
	body := f.top.object()
	if len(f.outputs.items) > 0 {
		outputs := list{}
		for _, output := range f.outputs.items {
			o := output.object()
			for _, name := range []string{"completionReason", "stop_reason", "finish_reason"} {
				if reason, ok := body[name]; ok {
					o["stop_reason"] = reason
				}
			}
			outputs = append(outputs, jsontext.ObjectText(o))
		}
		body["outputs"] = jsontext.List(outputs)
	}
	return jsontext.ObjectText(body), f.done
}

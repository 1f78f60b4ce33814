package fakeprovider

import (
	"encoding/json"
	"strings"
)

// cohereV1 is Cohere's chat format, version 1.
type cohereV1 struct{ cohere }

var _ = serve(at(cohereV1{}, "/v1/chat"))

func (cohereV1) name() string { return "cohere.chat.v1" }

func (cohereV1) framing(*Call) framing { return ndjson("application/stream+json") }

// failureEvents returns a stream-end, Cohere's report of an error in mid-stream.
func (cohereV1) failureEvents(_ *exchange, f Failure, _ int) []event {
	end := object{{"is_finished", true}, {"event_type", "stream-end"}, {"finish_reason", "ERROR"}, {"error", f.Message}}
	return []event{jsonEvent("", end)}
}

// A cohereV1Turn is a message of the history or the current message.
type cohereV1Turn struct {
	Role    string         `json:"role"`
	Message string         `json:"message"`
	Calls   []cohereV1Call `json:"tool_calls"`
	Results []struct {
		Call    cohereV1Call      `json:"call"`
		Outputs []json.RawMessage `json:"outputs"`
	} `json:"tool_results"`
}

type cohereV1Call struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

func (cohereV1) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	var history []cohereV1Turn
	var now cohereV1Turn
	if err := json.Unmarshal(c.Body, &now); err != nil || !body.has("message") {
		return badCohere("message is required")
	}
	if body.has("chat_history") && !body.into("chat_history", &history) {
		return badCohere("chat_history must be a list of messages")
	}
	c.Model = body.str("model")
	c.Stream = body.flag("stream")
	if preamble := body.str("preamble"); preamble != "" {
		c.Messages = append(c.Messages, Message{Role: "system", Text: preamble})
	}
	now.Role = "USER"
	for _, turn := range append(history, now) {
		m := Message{Role: strings.ToLower(turn.Role), Text: turn.Message}
		for _, call := range turn.Calls {
			m.ToolCalls = append(m.ToolCalls, ToolCall{Name: call.Name, Arguments: string(call.Parameters)})
		}
		for _, result := range turn.Results {
			r := ToolResult{Name: result.Call.Name}
			for _, output := range result.Outputs {
				r.Text += resultText(output)
			}
			m.ToolResults = append(m.ToolResults, r)
		}
		c.Messages = append(c.Messages, m)
	}
	var tools []struct {
		Name string `json:"name"`
	}
	body.into("tools", &tools)
	for _, t := range tools {
		c.Tools = append(c.Tools, Tool{Name: t.Name})
	}
	return nil
}

func (f cohereV1) whole(x *exchange) []byte {
	text := x.reply.Text + x.reply.Refusal
	o := object{{"response_id", x.answerID(x.mint.uuid())}, {"text", text}, {"generation_id", x.mint.uuid()}}
	history := []object{}
	for _, m := range x.call.Messages {
		history = append(history, object{{"role", strings.ToUpper(m.Role)}, {"message", m.Text}})
	}
	o = append(o, member{"chat_history", append(history, object{{"role", "CHATBOT"}, {"message", text}})})
	if calls := f.calls(x); calls != nil {
		o = append(o, member{"tool_calls", calls})
	}
	return marshal(append(o, member{"finish_reason", f.finish(x.reply)}, member{"meta", cohereMeta(x)}))
}

func (cohereV1) finish(r Reply) string {
	if r.Finish != "" {
		return r.Finish
	}
	return "COMPLETE"
}

func (cohereV1) calls(x *exchange) (calls []object) {
	for _, call := range x.reply.ToolCalls {
		calls = append(calls, object{{"name", call.Name}, {"parameters", arguments(call.Arguments)}})
	}
	return calls
}

func cohereMeta(x *exchange) object {
	u := x.usage()
	tokens := object{{"input_tokens", u.Input}, {"output_tokens", u.Output}}
	return object{{"api_version", object{{"version", "1"}}}, {"billed_units", tokens}, {"tokens", tokens}}
}

func (f cohereV1) stream(x *exchange) []event {
	line := func(kind string, rest ...member) event {
		return jsonEvent("", append(object{{"is_finished", kind == "stream-end"}, {"event_type", kind}}, rest...))
	}
	whole := f.whole(x)
	events := []event{line("stream-start", member{"generation_id", x.mint.uuid()})}
	for _, piece := range append(x.reply.fragments(), x.reply.Stream.split(x.reply.Refusal, words)...) {
		events = append(events, line("text-generation", member{"text", piece}))
	}
	if calls := f.calls(x); calls != nil {
		events = append(events, line("tool-calls-generation", member{"tool_calls", calls}))
	}
	return append(events,
		line("stream-end", member{"finish_reason", f.finish(x.reply)}, member{"response", json.RawMessage(whole)}))
}

// cohereGenerate, cohereSummarize and cohereClassify are Cohere's formats that are older than chat.
type (
	cohereGenerate  struct{ cohereV1 }
	cohereSummarize struct{ cohere }
	cohereClassify  struct{ cohere }
)

var (
	_ = serve(at(cohereGenerate{}, "/v1/generate"))
	_ = serve(at(cohereSummarize{}, "/v1/summarize"))
	_ = serve(at(cohereClassify{}, "/v1/classify"))
)

func (cohereGenerate) name() string  { return "cohere.generate" }
func (cohereSummarize) name() string { return "cohere.summarize" }
func (cohereClassify) name() string  { return "cohere.classify" }

// readCohereText reads a body that has its text in the named member.
func readCohereText(c *Call, name string) (members, *Failure) {
	body, err := parse(c.Body)
	if err != nil {
		return nil, badCohere("%v", err)
	}
	text := body.str(name)
	if text == "" {
		return nil, badCohere("%s is required", name)
	}
	c.Model = body.str("model")
	c.Messages = []Message{{Role: "user", Text: text}}
	return body, nil
}

func (cohereGenerate) read(c *Call) *Failure {
	body, fail := readCohereText(c, "prompt")
	if fail == nil {
		c.Choices = 1
		body.into("num_generations", &c.Choices)
		c.Stream = body.flag("stream")
	}
	return fail
}

func (f cohereGenerate) response(x *exchange) object {
	var all []object
	for i, choice := range x.choices() {
		all = append(all,
			object{{"id", x.mint.uuid()}, {"text", choice.Text}, {"index", i}, {"finish_reason", f.finish(choice)}})
	}
	return object{{"id", x.answerID(x.mint.uuid())}, {"generations", all}, {"prompt", x.call.LastUser()}}
}

func (f cohereGenerate) whole(x *exchange) []byte {
	return marshal(append(f.response(x), member{"meta", cohereMeta(x)}))
}

func (f cohereGenerate) stream(x *exchange) []event {
	var events []event
	for _, piece := range x.reply.fragments() {
		events = append(events,
			jsonEvent("", object{{"text", piece}, {"index", 0}, {"is_finished", false}, {"event_type", "text-generation"}}))
	}
	return append(events, jsonEvent("", object{
		{"is_finished", true}, {"event_type", "stream-end"}, {"finish_reason", f.finish(x.reply)},
		{"response", f.response(x)},
	}))
}

func (cohereGenerate) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("",
		object{{"is_finished", true}, {"event_type", "stream-error"}, {"finish_reason", "ERROR"}, {"err", f.Message}})}
}

func (cohereSummarize) read(c *Call) *Failure {
	_, fail := readCohereText(c, "text")
	return fail
}

func (cohereSummarize) whole(x *exchange) []byte {
	return marshal(object{{"id", x.answerID(x.mint.uuid())}, {"summary", x.reply.Text}, {"meta", cohereMeta(x)}})
}

func (cohereClassify) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	var inputs []string
	if !body.into("inputs", &inputs) || len(inputs) == 0 {
		return badCohere("inputs is required")
	}
	c.Model = body.str("model")
	for _, in := range inputs {
		c.Messages = append(c.Messages, Message{Role: "user", Text: in})
	}
	return nil
}

// whole gives each text the reply's label, or the first word of the text if the reply has none.
func (cohereClassify) whole(x *exchange) []byte {
	var all []object
	for _, m := range x.call.Messages {
		label := x.reply.Text
		if label == "" {
			label, _, _ = strings.Cut(m.Text, " ")
		}
		all = append(all, object{
			{"id", x.mint.uuid()}, {"input", m.Text}, {"prediction", label}, {"predictions", []string{label}},
			{"confidence", 0.75}, {"confidences", []float64{0.75}}, {"labels", object{{label, object{{"confidence", 0.75}}}}},
			{"classification_type", "single-label"},
		})
	}
	meta := object{{"api_version", object{{"version", "1"}}}, {"billed_units", object{{"classifications", len(all)}}}}
	return marshal(object{{"id", x.answerID(x.mint.uuid())}, {"classifications", all}, {"meta", meta}})
}

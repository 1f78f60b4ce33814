package fakeprovider

import (
	"encoding/json"
	"slices"
)

// openAIResponses is OpenAI's responses format.
type openAIResponses struct{ openAI }

var _ = serve(atOpenAI(openAIResponses{}, "/responses"))

func (openAIResponses) name() string { return "openai.responses" }

func (f openAIResponses) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		if c.Model == "" && fail.Param == "" && json.Valid(c.Body) {
			return missing("model") // its text differs from that of the older formats
		}
		return fail
	}
	if body.has("instructions") {
		c.Messages = append(c.Messages, Message{Role: "system", Text: body.str("instructions")})
	}
	if fail := readInput(c, body); fail != nil {
		return fail
	}
	var tools []struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	}
	body.into("tools", &tools)
	for _, t := range tools {
		c.Tools = append(c.Tools, Tool{t.Name, t.Parameters})
	}
	var text struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	body.into("text", &text)
	c.Schema = text.Format.Schema
	var options struct {
		Obfuscation *bool `json:"include_obfuscation"`
	}
	body.into("stream_options", &options)
	c.padding = options.Obfuscation == nil || *options.Obfuscation
	return nil
}

func readInput(c *Call, body members) *Failure {
	var items []struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Output    json.RawMessage `json:"output"`
	}
	said := body.str("input")
	stored := body.has("previous_response_id") || body.has("conversation")
	switch input := body["input"]; {
	case said != "":
		c.Messages = append(c.Messages, Message{Role: "user", Text: said})
		return nil
	case body.into("input", &items), kind(input) == "null", kind(input) == "a string":
	default:
		return wrongType("input", "a string or an array of objects", input)
	}
	if len(items) == 0 && !stored && !body.has("prompt") {
		return invalid("", "missing_required_parameter",
			"One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.")
	}
	open := map[string]bool{}
	for _, item := range items {
		switch item.Type {
		case "function_call":
			open[item.CallID] = true
			call := ToolCall{item.CallID, item.Name, item.Arguments}
			c.Messages = append(c.Messages, Message{Role: "assistant", ToolCalls: []ToolCall{call}})
		case "function_call_output":
			if !open[item.CallID] && !stored {
				return invalid("input", "", "No tool call found for function call output with call_id %s.", item.CallID)
			}
			delete(open, item.CallID)
			result := ToolResult{ID: item.CallID, Text: textOf(item.Output)}
			c.Messages = append(c.Messages, Message{Role: "tool", Text: result.Text, ToolResults: []ToolResult{result}})
		case "message", "":
			c.Messages = append(c.Messages, Message{Role: item.Role, Text: textOf(item.Content)})
		}
	}
	for _, item := range items {
		if item.Type == "function_call" && open[item.CallID] {
			return invalid("input", "", "No tool output found for function call %s.", item.CallID)
		}
	}
	return nil
}

func (f openAIResponses) whole(x *exchange) []byte {
	var output []object
	for _, item := range f.items(x) {
		output = append(output, item.done)
	}
	return indented(f.response(x, f.status(x), output))
}

// status returns how the answer ended: with max_output_tokens or content_filter in the script, the answer is
// incomplete.
func (openAIResponses) status(x *exchange) string {
	if x.reply.Finish == "" {
		return "completed"
	}
	return "incomplete"
}

// response returns the response object in a state: in_progress, completed, incomplete, failed.
func (openAIResponses) response(x *exchange, status string, output []object) object {
	sent, _ := parse(x.call.Body) // read has parsed it
	var completed, incomplete, failed, usage any
	switch status {
	case "completed", "incomplete":
		completed = x.mint.now.Unix()
		u := x.usage()
		usage = object{
			{"input_tokens", u.Input},
			{"input_tokens_details", object{{"cached_tokens", u.CacheRead}}},
			{"output_tokens", u.Output},
			{"output_tokens_details", object{{"reasoning_tokens", u.Reasoning}}},
			{"total_tokens", u.Input + u.Output},
		}
	case "failed":
		failed = object{{"code", x.reply.Failure.codeOrType()}, {"message", x.reply.Failure.Message}}
	}
	if status == "incomplete" {
		incomplete = object{{"reason", x.reply.Finish}}
	}
	if output == nil {
		output = []object{}
	}
	return object{
		{"id", x.answerID(x.mint.id("resp_", hexDigits, 50))},
		{"object", "response"},
		{"created_at", x.mint.now.Unix()},
		{"status", status},
		{"background", false},
		{"completed_at", completed},
		{"error", failed},
		{"incomplete_details", incomplete},
		{"instructions", sent.or("instructions", nil)},
		{"max_output_tokens", sent.or("max_output_tokens", nil)},
		{"max_tool_calls", nil},
		{"model", x.model()},
		{"output", output},
		{"parallel_tool_calls", sent.or("parallel_tool_calls", true)},
		{"previous_response_id", sent.or("previous_response_id", nil)},
		{"prompt_cache_key", sent.or("prompt_cache_key", nil)},
		{"reasoning", sent.or("reasoning", object{{"effort", nil}, {"summary", nil}})},
		{"safety_identifier", sent.or("safety_identifier", nil)},
		{"service_tier", "default"},
		{"store", sent.or("store", true)},
		{"temperature", sent.or("temperature", json.RawMessage("1.0"))},
		{"text", sent.or("text", object{{"format", object{{"type", "text"}}}, {"verbosity", "medium"}})},
		{"tool_choice", sent.or("tool_choice", "auto")},
		{"tools", sent.or("tools", []any{})},
		{"top_logprobs", sent.or("top_logprobs", 0)},
		{"top_p", sent.or("top_p", json.RawMessage("1.0"))},
		{"truncation", sent.or("truncation", "disabled")},
		{"usage", usage},
		{"user", sent.or("user", nil)},
		{"metadata", sent.or("metadata", object{})},
	}
}

func (f openAIResponses) stream(x *exchange) []event {
	var events []event
	send := func(typ string, fields ...member) {
		v := append(object{{"type", typ}}, fields...)
		v = append(v, member{"sequence_number", len(events)})
		events = append(events, jsonEvent(typ, v))
	}
	started := member{"response", f.response(x, "in_progress", nil)}
	send("response.created", started)
	send("response.in_progress", started)
	var output []object
	for i, item := range f.items(x) {
		index := member{"output_index", i}
		send("response.output_item.added", member{"item", item.added}, index)
		for _, step := range item.steps {
			fields := append(slices.Clone(step[1:]), member{"item_id", item.added[0].value}, index)
			send(step[0].value.(string), fields...)
		}
		send("response.output_item.done", member{"item", item.done}, index)
		output = append(output, item.done)
	}
	send("response."+f.status(x), member{"response", f.response(x, f.status(x), output)})
	return events
}

func (f openAIResponses) failureEvents(x *exchange, fail Failure, after int) []event {
	return []event{
		jsonEvent("error", object{
			{"type", "error"},
			{"sequence_number", after},
			{"error",
				object{{"type", fail.Type}, {"code", null(fail.Code)}, {"message", fail.Message}, {"param", null(fail.Param)}}},
		}),
		jsonEvent("response.failed", object{
			{"type", "response.failed"},
			{"sequence_number", after + 1},
			{"response", f.response(x, "failed", nil)},
		}),
	}
}

// An item is one entry of a response's output: its start, its steps and its end. The first member of added is its id;
// the first member of a step is its type.
type item struct {
	added, done object
	steps       []object
}

func (f openAIResponses) items(x *exchange) []item {
	var items []item
	if x.reply.Thinking != "" {
		items = append(items, f.reasoning(x))
	}
	if x.reply.Text != "" || x.reply.Refusal != "" || len(x.reply.ToolCalls) == 0 {
		items = append(items, f.message(x))
	}
	for _, call := range x.toolCalls(x.reply, "call_", 24) {
		items = append(items, f.functionCall(x, call))
	}
	return items
}

// delta returns a step with a fragment, padded unless the caller turned padding off.
func (openAIResponses) delta(x *exchange, typ, fragment string, at ...member) object {
	step := append(object{{"type", typ}, {"delta", fragment}}, at...)
	if x.call.padding {
		step = append(step, member{"obfuscation", x.mint.id("", alnum, x.mint.rng.IntN(16))})
	}
	return step
}

func (f openAIResponses) reasoning(x *exchange) item {
	id := member{"id", x.mint.id("rs_", hexDigits, 50)}
	summary := func(text string) object { return object{{"type", "summary_text"}, {"text", text}} }
	at := member{"summary_index", 0}
	it := item{
		added: object{id, {"type", "reasoning"}, {"summary", []any{}}},
		done:  object{id, {"type", "reasoning"}, {"summary", []object{summary(x.reply.Thinking)}}},
	}
	it.steps = append(it.steps, object{{"type", "response.reasoning_summary_part.added"}, {"part", summary("")}, at})
	for _, s := range x.reply.Stream.split(x.reply.Thinking, words) {
		it.steps = append(it.steps, f.delta(x, "response.reasoning_summary_text.delta", s, at))
	}
	it.steps = append(it.steps,
		object{{"type", "response.reasoning_summary_text.done"}, {"text", x.reply.Thinking}, at},
		object{{"type", "response.reasoning_summary_part.done"}, {"part", summary(x.reply.Thinking)}, at},
	)
	return it
}

func (f openAIResponses) message(x *exchange) item {
	id := member{"id", x.mint.id("msg_", hexDigits, 50)}
	head := func(status string, content ...object) object {
		if content == nil {
			content = []object{}
		}
		return object{id, {"type", "message"}, {"status", status}, {"content", content}, {"role", "assistant"}}
	}
	text, kind, fragments := x.reply.Text, "output_text", x.reply.fragments()
	part := func(s string) object {
		return object{{"type", "output_text"}, {"annotations", []any{}}, {"logprobs", []any{}}, {"text", s}}
	}
	full := member{"text", text}
	logprobs := []member{{"logprobs", []any{}}}
	if x.reply.Refusal != "" {
		text, kind, fragments = x.reply.Refusal, "refusal", x.reply.Stream.split(x.reply.Refusal, words)
		part = func(s string) object { return object{{"type", "refusal"}, {"refusal", s}} }
		full, logprobs = member{"refusal", text}, nil
	}
	at := member{"content_index", 0}
	it := item{added: head("in_progress"), done: head(f.status(x), part(text))}
	it.steps = append(it.steps, object{{"type", "response.content_part.added"}, at, {"part", part("")}})
	for _, s := range fragments {
		it.steps = append(it.steps, f.delta(x, "response."+kind+".delta", s, append(logprobs, at)...))
	}
	it.steps = append(it.steps,
		append(object{{"type", "response." + kind + ".done"}, full, at}, logprobs...),
		object{{"type", "response.content_part.done"}, at, {"part", part(text)}},
	)
	return it
}

func (f openAIResponses) functionCall(x *exchange, call ToolCall) item {
	id := member{"id", x.mint.id("fc_", hexDigits, 50)}
	head := func(status, arguments string) object {
		return object{
			id, {"type", "function_call"}, {"status", status},
			{"arguments", arguments}, {"call_id", call.ID}, {"name", call.Name},
		}
	}
	it := item{added: head("in_progress", ""), done: head("completed", call.Arguments)}
	for _, s := range x.reply.Stream.split(call.Arguments, pieces) {
		it.steps = append(it.steps, f.delta(x, "response.function_call_arguments.delta", s))
	}
	it.steps = append(it.steps, object{{"type", "response.function_call_arguments.done"}, {"arguments", call.Arguments}})
	return it
}

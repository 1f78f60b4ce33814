package reading

import (
	"cmp"
	"slices"
	"strings"
)

// A row describes what events of a type contain, and where.
type row struct {
	kind string // type of the event
	of   string // permitted types of the object that contains it; empty for any
	// the content, see take. It is a text, texts of blocks, a plan, a name, arguments or a complete input of the call at
	// its place, calls, or the finish reason
	says string
	path string
}

// reads returns the step for rows. place is the member that says to which call a name or arguments belong. Some streams
// send the same content in pieces, again when a part is done, and again at their end: a program reads any of these.
func reads(place string, rows ...row) step {
	has := func(words ...string) bool {
		return slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(words, r.says) })
	}
	noText, noCalls := !has("text", "texts"), !has("name", "arguments", "calls")
	var paths [][]string
	for _, r := range rows {
		paths = append(paths, strings.Split(r.path, "/"))
	}
	places := strings.Split(place, "/")
	return func(a *account, v view) {
		a.noText, a.noCalls = noText, noCalls
		kind := cmp.Or(v.at("type").text(), v.at("event_type").text())
		for i, r := range rows {
			if r.kind == kind && (r.of == "" || slices.Contains(strings.Fields(r.of), v.at(paths[i][0], "type").text())) {
				a.take(v.at(paths[i]...), r.says, v.at(places...).number())
			}
		}
	}
}

// take adds the content of a row to the account.
func (a *account) take(said view, says string, place int64) {
	a.seen = a.seen || says != "begins" && said.last().Present()
	switch says {
	case "text":
		a.say(said)
	case "texts":
		a.say(said.texts()...)
	case "plan": // sent again after its pieces
		if len(a.text) == 0 {
			a.say(said)
		}
	case "name", "begins": // begins alone does not count as content
		a.grow(&a.at(place).name, said)
	case "arguments":
		a.grow(&a.at(place).arguments, said)
	case "input": // empty in most streams, in which its pieces follow
		if last := said.last(); last.IsObject() && !last.IsEmpty() {
			c := a.at(place)
			c.arguments, a.changes = slices.Clone(last.Raw()), a.changes+2
		}
	case "calls":
		for _, c := range said.each() {
			a.add(c.at("name").text(), c.at("parameters").input())
		}
	case "end":
		a.ends(said)
	}
}

// responseSteps read a response from its pieces, from its completed texts and calls, from its completed parts and
// items, and at its end. The beginnings of items are empty in most streams.
var responseSteps = []step{
	reads("output_index",
		row{"response.output_item.added", "message", "texts", "item/content"},
		row{"response.output_item.added", "function_call custom_tool_call", "name", "item/name"},
		row{"response.output_item.added", "function_call", "arguments", "item/arguments"},
		row{"response.output_item.added", "custom_tool_call", "arguments", "item/input"},
		row{"response.content_part.added", "output_text", "text", "part/text"},
		row{"response.content_part.added", "refusal", "text", "part/refusal"},
		row{"response.output_text.delta", "", "text", "delta"},
		row{"response.refusal.delta", "", "text", "delta"},
		row{"response.function_call_arguments.delta", "", "arguments", "delta"},
		row{"response.custom_tool_call_input.delta", "", "arguments", "delta"},
	),
	reads("output_index",
		row{"response.output_item.added", "function_call custom_tool_call", "begins", "item/name"},
		row{"response.output_text.done", "", "text", "text"},
		row{"response.refusal.done", "", "text", "refusal"},
		row{"response.function_call_arguments.done", "", "arguments", "arguments"},
		row{"response.custom_tool_call_input.done", "", "arguments", "input"},
	),
	reads("output_index",
		row{"response.content_part.done", "output_text", "text", "part/text"},
		row{"response.content_part.done", "refusal", "text", "part/refusal"},
	),
	responseItems, responseFinal, responseOthers,
}

// openAIAgentSteps read the messages of an agent in the same ways, and its calls when they begin and when they are
// done.
var openAIAgentSteps = []step{
	reads("",
		row{"agent.session.turn.content_part.added", "output_text", "text", "part/text"},
		row{"agent.session.turn.output_text.delta", "", "text", "delta"},
	),
	reads("", row{"agent.session.turn.output_text.done", "", "text", "text"}),
	reads("", row{"agent.session.turn.content_part.done", "output_text", "text", "part/text"}),
	reads("", row{"agent.session.turn.item.done", "message", "texts", "item/content"}),
	agentCalls("agent.session.turn.item.added"),
	agentCalls("agent.session.turn.item.done"),
}

func agentCalls(kind string) step {
	return func(a *account, v view) {
		a.noText = true
		if item := v.at("item"); v.at("type").text() == kind && item.at("type").text() == "function_call" {
			a.seen = true
			a.add(item.at("name").text(), item.at("arguments").input())
		}
	}
}

// agentPreviews reads the messages of an agent of Anthropic from the pieces that come before them.
var agentPreviews = []step{reads("", row{"event_delta", "", "text", "delta/content/text"})}

// claudeLive reads a message of Claude from its pieces.
var claudeLive = reads("index",
	row{"content_block_start", "", "text", "content_block/text"},
	row{"content_block_start", strings.Join(claudeCalls, " "), "name", "content_block/name"},
	row{"content_block_start", strings.Join(claudeCalls, " "), "input", "content_block/input"},
	row{"content_block_delta", "", "text", "delta/text"},
	row{"content_block_delta", "input_json_delta", "arguments", "delta/partial_json"},
	row{"message_delta", "", "end", "delta/stop_reason"},
)

var cohere = reads("index",
	row{"content-delta", "", "text", "delta/message/content/text"},
	row{"tool-call-start", "", "name", "delta/message/tool_calls/function/name"},
	row{"tool-call-start", "", "arguments", "delta/message/tool_calls/function/arguments"},
	row{"tool-call-delta", "", "arguments", "delta/message/tool_calls/function/arguments"},
	row{"message-end", "", "end", "delta/finish_reason"},
)

// cohereV1Steps read an answer of Cohere's first version from its events, its calls from their pieces, and its end.
var cohereV1Steps = []step{
	reads("",
		row{"text-generation", "", "text", "text"},
		row{"tool-calls-chunk", "", "text", "text"},
		row{"tool-calls-generation", "", "plan", "text"},
		row{"tool-calls-generation", "", "calls", "tool_calls"},
		row{"stream-end", "", "end", "finish_reason"},
	),
	reads("tool_call_delta/index",
		row{"tool-calls-chunk", "", "name", "tool_call_delta/name"},
		row{"tool-calls-chunk", "", "arguments", "tool_call_delta/parameters"},
	),
	reads("",
		row{"stream-end", "", "text", "response/text"},
		row{"stream-end", "", "calls", "response/tool_calls"},
		row{"stream-end", "", "end", "response/finish_reason"},
	),
}

var transcriptSteps = []step{
	reads("", row{"transcript.text.delta", "", "text", "delta"}),
	reads("", row{"transcript.text.done", "", "text", "text"}),
}

// interactionSteps read an interaction from its events, and from its end, which has no steps in most streams.
var interactionSteps = []step{
	reads("index",
		row{"step.start", "model_output", "texts", "step/content"},
		row{"step.start", "function_call", "name", "step/name"},
		row{"step.start", "function_call", "arguments", "step/arguments"},
		row{"step.delta", "text", "text", "delta/text"},
		row{"step.delta", "arguments_delta", "arguments", "delta/arguments"},
	),
	func(a *account, v view) {
		for _, said := range v.at("interaction", "steps").each() {
			a.seen = true
			a.item(said)
		}
	},
}

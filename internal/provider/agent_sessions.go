package provider

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Agents that a provider runs: OpenAI's Agents API, and Anthropic's managed agents. A client creates a session, posts
// events to it, and listens to a stream of the agent's events, which stays open after the agent has become idle.
var (
	_ = Register(resources("openai.agents", either(
		pathLike(`/v1/agents/(sessions|environments|automations)(/.+)?$`),
		both(isOpenAIAgents, pathLike(`/v1/(agents|vaults)(/.+)?$`))),
		agentSessions("/events", openAIEvent, foldRules{add: addOpenAIAgent, end: endOpenAIAgent}, openAIAgentAnswer)))
	_ = Register(resources("anthropic.agents",
		both(isAnthropics, pathLike(`/v1/(agents|deployments|environments|sessions|vaults)(/.+)?$`)),
		agentSessions("/stream", anthropicEvent, foldRules{add: addAnthropicAgent, end: endsWith(arrayNode, "events")},
			anthropicAgentAnswer)))
)

var isOpenAIAgents = either(isOpenAIs,
	func(w *Wire) bool { return strings.HasPrefix(w.Header.Get("OpenAI-Beta"), "agents=") })

// agentSessions makes a codec of resources that of sessions. A client posts events, which event decodes. It gets the
// agent's events from a path with the given end, or as the answer to the request that creates the session.
func agentSessions(end string, event func(jsontext.Value) ([]modelio.Message, bool), stream foldRules,
	one decoder) func(*Codec) {
	takeEvents := func(r *modelio.Request, name string, v jsontext.Value) bool {
		all, ok := objects(v, func(v jsontext.Value) []modelio.Message {
			return posted(strings.TrimSuffix(name, "s"), v, event)
		})
		r.Messages = append(r.Messages, slices.Concat(all...)...)
		return ok
	}
	return func(c *Codec) {
		c.body = requestForm{members: map[string]taker{
			"events": takeEvents, "initial_events": takeEvents, "input": takeInput,
		}}.decode
		resource := c.response
		c.response = func(a *Answer) (*modelio.Response, error) {
			if a.Events() == nil {
				return resource(a)
			}
			return a.decode(stream, one)
		}
		c.Listens = func(req *modelio.Request) bool {
			isGet := MetadataWord(req.Options, markURL, "method") == ""
			return isGet && strings.HasSuffix(MetadataWord(req.Options, markURL, "path"), end) ||
				string(req.Options["stream"]) == "true"
		}
	}
}

// posted returns the messages of an event, the first of which has its type under the given name. An event that event
// cannot decode is a custom part.
func posted(name string, v jsontext.Value, event func(jsontext.Value) ([]modelio.Message, bool)) []modelio.Message {
	messages, ok := event(v)
	if !ok || messages[0].Metadata[name] != nil {
		messages = []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{{Custom: v.Object()}}}}
	}
	jsontext.Keep(&messages[0].Metadata, name, v.Member("type").Raw())
	return messages
}

func openAIEvent(v jsontext.Value) ([]modelio.Message, bool) {
	switch strings.TrimPrefix(v.Member("type").Word(), "agent.session.input.") {
	case "message":
		messages, ok := items(v.Member("input"), responsesItem)
		return messages, ok && v.Len() == 2
	case "tool_result":
		blocks, ok := responsesBlocks(v.Member("output"), modelio.RoleTool)
		return postedResult(v, "call_id", "output", blocks, ok)
	}
	return nil, false
}

// postedResult returns the message of a tool's result.
func postedResult(v jsontext.Value, ref, content string, blocks []modelio.Part, ok bool) ([]modelio.Message, bool) {
	result := &modelio.ToolResponse{Ref: v.Member(ref).Word(), Content: blocks}
	if output := v.Member(content); output.IsString() {
		result.Output = output.Raw()
	}
	part := modelio.Part{ToolResponse: result, Metadata: v.Rest("type", ref, content)}
	message := modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{part}}
	return []modelio.Message{message}, result.Ref != "" && (ok || result.Output != nil)
}

func anthropicEvent(v jsontext.Value) ([]modelio.Message, bool) {
	blocks, ok := claudeBlocks(v.Member("content"))
	m := modelio.Message{Role: modelio.RoleUser, Content: blocks, Metadata: v.Rest("type", "content")}
	switch v.Member("type").Word() {
	case "user.message":
		return []modelio.Message{m}, ok
	case "system.message":
		m.Role = modelio.RoleSystem
		return []modelio.Message{m}, ok
	case "user.custom_tool_result":
		return postedResult(v, "custom_tool_use_id", "content", blocks, ok)
	case "user.tool_result":
		return postedResult(v, "tool_use_id", "content", blocks, ok)
	}
	return nil, false
}

// addOpenAIAgent takes an event. The items and the last turn count; other events report progress.
func addOpenAIAgent(f *fold, _ string, event jsontext.Value) {
	item := func(id string) *node { return f.body.member("items").named(id) }
	block := func(list, index string) *node {
		return item(event.Member("item_id").Word()).member(list).at(event.Member(index))
	}
	content := func() *node { return block("content", "content_index") }
	summary := func() *node { return block("summary", "summary_index") }
	switch kind := strings.TrimPrefix(event.Member("type").Word(), "agent.session."); kind {
	case "turn.item.added", "turn.item.done":
		item(event.Member("item", "id").Word()).putAll(event.Member("item"))
	case "turn.content_part.added", "turn.content_part.done":
		content().putAll(event.Member("part"))
	case "turn.output_text.delta":
		content().growBlock("output_text", event)
	case "turn.reasoning_summary_part.added", "turn.reasoning_summary_part.done":
		summary().putAll(event.Member("part"))
	case "turn.reasoning_summary_text.delta":
		summary().growBlock("summary_text", event)
	case "turn.completed", "turn.failed", "turn.cancelled":
		if turn := event.Member("turn"); !turn.Member("subagent_id").IsWord() {
			f.body.put("turn", turn)
			f.body.put("usage", turn.Member("usage"))
			f.body.put("error", turn.Member("error"))
		}
	case "in_progress", "idle", "failed", "requires_action":
		f.done = kind != "in_progress"
		f.body.member("status").set(jsontext.Text(kind))
		f.body.put("error", event.Member("session", "error"))
	}
}

func endOpenAIAgent(f *fold) { typeMessages(f.body.get("items").list()) }

// named returns the item of an array with a name, adding it if necessary.
func (n *node) named(name string) *node {
	if n.keyed[name] == nil {
		n.key(name, n.add())
	}
	return n.keyed[name]
}

// openAIAgentAnswer decodes the items of a stream. Items of the user, which repeat what was posted, are custom parts.
func openAIAgentAnswer(body jsontext.Value) (*modelio.Response, error) {
	turn, status := body.Member("turn"), body.Member("status").Word()
	if named := turn.Member("status").Word(); named != "" && status != "requires_action" {
		status = named
	}
	c := candidate(status)
	for _, item := range body.Member("items").Elements() {
		parts := responsesParts(item)
		if phase := item.Member("phase"); item.Member("role").Word() == "user" {
			parts = []modelio.Part{{Custom: item.Rest("id", "turn_id")}}
		} else if phase.IsWord() && len(parts) > 0 {
			jsontext.Keep(&parts[0].Metadata, "phase", phase.Raw())
		}
		c.Message.Content = append(c.Message.Content, parts...)
	}
	c.Citations = responsesCitations(body.Member("items"))
	return responseOf(body, responsesUsage.of(body), []modelio.Candidate{c}, "items", "status", "turn", "error"), nil
}

// addAnthropicAgent takes an event. Those about the state of the session report progress.
func addAnthropicAgent(f *fold, _ string, event jsontext.Value) {
	kind := event.Member("type").Word()
	about := func(what string) bool { return strings.HasPrefix(kind, what) }
	switch {
	case kind == "session.status_running", kind == "session.status_rescheduled":
		f.done = false
	case about("session.status_"), kind == "session.deleted":
		f.done = true
		f.body.put("stop_reason", event.Member("stop_reason", "type"))
	case kind == "span.model_request_end":
		addCounts(f.body.member("usage"), event.Member("model_usage"))
	case about("span."), about("event_"), about("session.thread_status_"), kind == "session.usage",
		kind == "agent.thinking":
	default:
		f.body.member("events").append(event.Raw())
	}
}

func anthropicAgentAnswer(body jsontext.Value) (*modelio.Response, error) {
	c := candidate(body.Member("stop_reason").Word())
	for _, event := range body.Member("events").Elements() {
		c.Message.Content = append(c.Message.Content, anthropicAgentParts(event)...)
	}
	return responseOf(body, claudeUsage.of(body), []modelio.Candidate{c}, "events", "stop_reason"), nil
}

// anthropicAgentParts decodes an event of an agent. Its id and its time are dropped.
func anthropicAgentParts(event jsontext.Value) []modelio.Part {
	blocks, ok := claudeBlocks(event.Member("content"))
	ref := firstWord(event, "tool_use_id", "mcp_tool_use_id")
	switch kind := event.Member("type").Word(); {
	case kind == "agent.message" && ok:
		return blocks
	case strings.HasSuffix(kind, "tool_use") && event.Member("input").IsObject() && len(wordsOf(event, "id", "name")) == 2:
		part, _ := callPart(event, "name", "id", "input", "type", "processed_at")
		keepType(&part.Metadata, kind, "agent.custom_tool_use")
		return []modelio.Part{part}
	case strings.HasSuffix(kind, "tool_result") && ref != "" && ok:
		part := modelio.Part{ToolResponse: &modelio.ToolResponse{Ref: ref, Content: blocks}}
		part.Metadata = event.Rest("id", "processed_at", "tool_use_id", "mcp_tool_use_id", "content")
		return []modelio.Part{part}
	}
	return []modelio.Part{{Custom: event.Rest("id", "processed_at")}}
}

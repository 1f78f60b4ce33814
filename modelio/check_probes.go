package modelio

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A probe is a request that a model is checked with.
type probe struct {
	name    string
	rule    Rule // broken if the request fails
	request *GenerateRequest

	demands Rule                  // broken if verdict says so
	verdict func(*Message) string // what is wrong with the answer to this request; nil: it may be any
}

// userText returns a user message that holds text.
func userText(text string) Message {
	return Message{Role: RoleUser, Content: []Part{TextPart(text)}}
}

func textProbe() probe {
	return probe{name: "text", rule: RuleText, request: &GenerateRequest{
		Messages: []Message{userText("Say hello in one short sentence.")},
	}}
}

// concurrentProbes are requests that a model has different answers to, if it has any.
func concurrentProbes() []probe {
	ask := func(text string) probe {
		return probe{name: "concurrent", rule: RuleConcurrent, request: &GenerateRequest{Messages: []Message{userText(text)}}}
	}
	return []probe{
		ask("Answer with one word: what is the capital of France?"),
		ask("Answer with one word: what is the capital of Japan?"),
	}
}

// probes returns the requests that a model with the given capabilities must take.
func probes(supports Capabilities) []probe {
	all := []probe{textProbe(), {name: "system", rule: RuleSystemRole, request: &GenerateRequest{
		Messages: []Message{
			{Role: RoleSystem, Content: []Part{TextPart("You answer in one short sentence.")}},
			userText("Say hello."),
		},
	}}}
	if supports.Multiturn {
		all = append(all, probe{name: "multiturn", rule: RuleMultiturn, request: &GenerateRequest{
			Messages: []Message{
				userText("My name is Ada."),
				{Role: RoleModel, Content: []Part{TextPart("Hello Ada.")}},
				userText("What is my name?"),
			},
		}})
	}
	if supports.Media {
		all = append(all, probe{name: "media", rule: RuleMedia, request: &GenerateRequest{
			Messages: []Message{{Role: RoleUser, Content: []Part{
				TextPart("What colour is this image? Answer with one word."),
				MediaPart("image/png", redPixel),
			}}},
		}})
	}
	if supports.Tools {
		all = append(all, toolProbes(supports)...)
	}
	return append(all, outputProbes(supports)...)
}

// redPixel is an image of one red pixel.
const redPixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"

func toolProbes(supports Capabilities) []probe {
	tools := []ToolDefinition{
		{
			Name:         "weather",
			Description:  "Get the weather for a city",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"celsius":{"type":"number"}}}`),
		},
		{
			Name:        "localTime",
			Description: "Get the local time in a city",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		},
	}
	question := userText("What is the weather in Oslo and in Rome? Use the weather tool.")
	request := GenerateRequest{Messages: []Message{question}, Tools: tools}
	all := []probe{{name: "tools", rule: RuleTools, request: &request}}
	if supports.ToolChoice {
		required, none := request, request
		required.ToolChoice = ToolChoiceRequired
		none.ToolChoice = ToolChoiceNone
		all = append(all,
			probe{name: "tool choice required", rule: RuleTools, request: &required, demands: RuleToolChoice, verdict: hasToolRequest},
			probe{name: "tool choice none", rule: RuleTools, request: &none, demands: RuleToolChoice, verdict: hasNoToolRequest},
		)
	}
	if !supports.Multiturn {
		return all
	}
	call := func(ref, city string) Part {
		return Part{ToolRequest: &ToolRequest{Name: "weather", Ref: ref, Input: json.RawMessage(`{"city":"` + city + `"}`)}}
	}
	result := func(ref, celsius string) Part {
		return Part{ToolResponse: &ToolResponse{Name: "weather", Ref: ref, Output: json.RawMessage(`{"celsius":` + celsius + `}`)}}
	}
	return append(all, probe{name: "tool responses", rule: RuleToolResponse, request: &GenerateRequest{
		Tools: tools,
		Messages: []Message{
			question,
			{Role: RoleModel, Content: []Part{call("call_a", "Oslo"), call("call_b", "Rome")}},
			{Role: RoleTool, Content: []Part{result("call_a", "-3"), result("call_b", "14.5")}},
		},
	}})
}

func hasToolRequest(m *Message) string {
	if slices.ContainsFunc(m.Content, func(p Part) bool { return p.ToolRequest != nil }) {
		return ""
	}
	return "toolChoice is required, but the answer asks for no tool"
}

func hasNoToolRequest(m *Message) string {
	if hasToolRequest(m) != "" {
		return ""
	}
	return "toolChoice is none, but the answer asks for a tool"
}

func outputProbes(supports Capabilities) []probe {
	var all []probe
	prompt := []Message{userText("Make up a person, and answer with a JSON object that has their name and age.")}
	if slices.Contains(supports.Output, "json") {
		all = append(all, probe{
			name: "json", rule: RuleJSON, demands: RuleJSON, verdict: isJSON,
			request: &GenerateRequest{Messages: prompt, Output: &OutputConfig{Format: "json"}},
		})
	}
	yes := true
	constrained := probe{name: "constrained", rule: RuleConstrained, request: &GenerateRequest{
		Messages: prompt,
		Output: &OutputConfig{
			Format:      "json",
			Constrained: &yes,
			Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},` +
				`"required":["name","age"],"additionalProperties":false}`),
		},
	}}
	if supports.Constrained.enforced(constrained.request) {
		constrained.demands, constrained.verdict = RuleConstrained, isPerson
	}
	return append(all, constrained)
}

func isJSON(m *Message) string {
	if text := textOf(m); !json.Valid([]byte(text)) {
		return fmt.Sprintf("output.format is json, but the text is not: %q", brief(text))
	}
	return ""
}

// isPerson judges by the schema of the constrained probe.
func isPerson(m *Message) string {
	var person struct {
		Name *string
		Age  *float64
	}
	var members map[string]json.RawMessage
	text := []byte(textOf(m))
	if json.Unmarshal(text, &person) != nil || json.Unmarshal(text, &members) != nil || len(members) != 2 ||
		members["name"] == nil || members["age"] == nil || person.Name == nil || person.Age == nil || *person.Age != math.Trunc(*person.Age) {
		return fmt.Sprintf("the answer does not have output.schema: %q", brief(string(text)))
	}
	return ""
}

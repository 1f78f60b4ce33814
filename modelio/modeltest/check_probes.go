package modeltest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// A probe is a request that Check makes.
type probe struct {
	name    string
	rule    Rule // the rule that is broken if the request fails
	request *modelio.GenerateRequest

	demands Rule                          // the rule that is broken if verdict finds a fault
	verdict func(*modelio.Message) string // the fault of an answer, or ""; nil if every answer is right
}

// asking returns a request with these messages and more members, all in GK's JSON.
func asking(messages, more string) *modelio.GenerateRequest {
	var request modelio.GenerateRequest
	if err := request.UnmarshalJSON([]byte(`{"messages":[` + messages + `]` + more + `}`)); err != nil {
		panic(err) // unreachable: the probes are valid
	}
	return &request
}

// The messages and tools of the probes. The image has one red pixel.
const (
	askHello   = `{"role":"user","content":[{"text":"Say hello in one short sentence."}]}`
	askCount   = `{"role":"user","content":[{"text":"Count from one to a hundred, in words, separated by commas."}]}`
	askFrance  = `{"role":"user","content":[{"text":"Answer with one word: what is the capital of France?"}]}`
	askJapan   = `{"role":"user","content":[{"text":"Answer with one word: what is the capital of Japan?"}]}`
	askPerson  = `{"role":"user","content":[{"text":"Make up a person, and answer with a JSON object that has their name and age."}]}`
	askWeather = `{"role":"user","content":[{"text":"What is the weather in Oslo and in Rome? Use the weather tool."}]}`
	withSystem = `{"role":"system","content":[{"text":"You answer in one short sentence."}]},
		{"role":"user","content":[{"text":"Say hello."}]}`
	withHistory = `{"role":"user","content":[{"text":"My name is Ada."}]},
		{"role":"model","content":[{"text":"Hello Ada."}]},
		{"role":"user","content":[{"text":"What is my name?"}]}`
	withImage = `{"role":"user","content":[{"text":"What colour is this image? Answer with one word."},
		{"media":{"contentType":"image/png","url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAAC` +
		`Qd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"}}]}`
	withResults = askWeather + `,{"role":"model","content":[
			{"toolRequest":{"name":"weather","ref":"call_a","input":{"city":"Oslo"}}},
			{"toolRequest":{"name":"weather","ref":"call_b","input":{"city":"Rome"}}}]},
		{"role":"tool","content":[
			{"toolResponse":{"name":"weather","ref":"call_a","output":{"celsius":-3}}},
			{"toolResponse":{"name":"weather","ref":"call_b","output":{"celsius":14.5}}}]}`

	withTools = `,"tools":[{"name":"weather","description":"Get the weather for a city",
			"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},
			"outputSchema":{"type":"object","properties":{"celsius":{"type":"number"}}}},
		{"name":"localTime","description":"Get the local time in a city",
			"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`
	asPerson = `,"output":{"format":"json","constrained":true,"schema":{"type":"object","properties":
		{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false}}`
)

func textProbe() probe { return probe{name: "text", rule: RuleText, request: asking(askHello, "")} }

// probes returns the requests that a model with the given capabilities must accept.
func probes(supports modelio.Capabilities) []probe {
	var all []probe
	add := func(declared bool, p probe) {
		if declared {
			all = append(all, p)
		}
	}
	choice := supports.Tools && supports.ToolChoice
	constrained := probe{"constrained", RuleText, asking(askPerson, asPerson), "", nil}
	if enforces(supports.Constrained, constrained.request) {
		constrained.rule, constrained.demands, constrained.verdict = RuleConstrained, RuleConstrained, isPerson
	}
	add(true, textProbe())
	add(true, probe{"system", RuleSystemRole, asking(withSystem, ""), "", nil})
	add(supports.Multiturn, probe{"multiturn", RuleMultiturn, asking(withHistory, ""), "", nil})
	add(supports.Media, probe{"media", RuleMedia, asking(withImage, ""), "", nil})
	add(supports.Tools, probe{"tools", RuleTools, asking(askWeather, withTools), "", nil})
	add(choice, probe{"tool choice required", RuleTools,
		asking(askWeather, withTools+`,"toolChoice":"required"`), RuleToolChoice, hasToolRequest})
	add(choice, probe{"tool choice none", RuleTools,
		asking(askWeather, withTools+`,"toolChoice":"none"`), RuleToolChoice, hasNoToolRequest})
	add(supports.Tools && supports.Multiturn,
		probe{"tool responses", RuleToolResponse, asking(withResults, withTools), "", nil})
	add(slices.Contains(supports.Output, "json"),
		probe{"json", RuleJSON, asking(askPerson, `,"output":{"format":"json"}`), RuleJSON, isJSON})
	add(true, constrained)
	return all
}

func hasToolRequest(m *modelio.Message) string {
	if slices.ContainsFunc(m.Content, func(p modelio.Part) bool { return p.ToolRequest != nil }) {
		return ""
	}
	return "toolChoice is required, but the answer asks for no tool"
}

func hasNoToolRequest(m *modelio.Message) string {
	if hasToolRequest(m) != "" {
		return ""
	}
	return "toolChoice is none, but the answer asks for a tool"
}

func isJSON(m *modelio.Message) string {
	if text := texts.Join(m.Content); !json.Valid([]byte(text)) {
		return fmt.Sprintf("output.format is json, but the text is not: %q", jsontext.Excerpt(text))
	}
	return ""
}

// isPerson checks an answer against the schema of the constrained probe.
func isPerson(m *modelio.Message) string {
	var person map[string]any
	text := texts.Join(m.Content)
	_ = json.Unmarshal([]byte(text), &person)
	_, isNamed := person["name"].(string)
	age, hasAge := person["age"].(float64)
	if len(person) != 2 || !isNamed || !hasAge || age != math.Trunc(age) {
		return fmt.Sprintf("the answer does not have output.schema: %q", jsontext.Excerpt(text))
	}
	return ""
}

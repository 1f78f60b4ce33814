package fakeprovider

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// bedrockAgent is the format of Bedrock's agents, whose answers are always streams.
type bedrockAgent struct{ bedrock }

var _ = serve(func(c *Call) format {
	if agentText.MatchString(c.Path) {
		return bedrockAgent{}
	}
	return nil
})

var agentText = regexp.MustCompile(`^/agents/([^/]+)/agentAliases/[^/]+/sessions/([^/]+)/text$`)

func (bedrockAgent) name() string { return "bedrock.agent" }

func (f bedrockAgent) header(x *exchange) http.Header {
	h := f.bedrock.header(x)
	h.Set("X-Amzn-Bedrock-Agent-Content-Type", "application/json")
	h.Set("X-Amz-Bedrock-Agent-Session-Id", agentText.FindStringSubmatch(x.call.Path)[2])
	return h
}

func (bedrockAgent) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return &Failure{Status: http.StatusBadRequest, Type: "SerializationException",
			Message: "Unexpected token in the body: " + err.Error()}
	}
	var state struct {
		ID      string `json:"invocationId"`
		Results []struct {
			Function struct {
				Name string `json:"function"`
				Body map[string]struct {
					Text string `json:"body"`
				} `json:"responseBody"`
			} `json:"functionResult"`
		} `json:"returnControlInvocationResults"`
	}
	body.into("sessionState", &state)
	c.Model, c.Stream = agentText.FindStringSubmatch(c.Path)[1], true
	text := body.str("inputText")
	if text == "" && len(state.Results) == 0 {
		return invalidAWS("inputText or sessionState is required")
	}
	if text != "" {
		c.Messages = append(c.Messages, Message{Role: "user", Text: text})
	}
	if len(state.Results) > 0 {
		m := Message{Role: "user"}
		for _, r := range state.Results {
			m.ToolResults = append(m.ToolResults,
				ToolResult{ID: state.ID, Name: r.Function.Name, Text: r.Function.Body["TEXT"].Text})
		}
		c.Messages = append(c.Messages, m)
	}
	// An agent has its own tools. The fake's agent has one.
	c.Tools = []Tool{{Name: "weather"}}
	c.traced = body.flag("enableTrace")
	return nil
}

func (f bedrockAgent) stream(x *exchange) []event {
	var events []event
	if x.call.traced {
		u := x.usage()
		output := object{{"metadata", object{{"usage", object{{"inputTokens", u.Input}, {"outputTokens", u.Output}}}}},
			{"traceId", x.mint.uuid()}}
		events = append(events, jsonEvent("trace", object{{"agentId", x.call.Model}, {"eventTime", x.mint.now},
			{"trace", object{{"orchestrationTrace", object{{"modelInvocationOutput", output}}}}}}))
	}
	if len(x.reply.ToolCalls) > 0 {
		var inputs []object
		for _, call := range x.reply.ToolCalls {
			inputs = append(inputs,
				object{{"functionInvocationInput", object{{"actionGroup", "tools"}, {"actionInvocationType", "RESULT"},
					{"agentId", x.call.Model}, {"function", call.Name}, {"parameters", agentParameters(call.Arguments)}}}})
		}
		return append(events,
			jsonEvent("returnControl", object{{"invocationId", x.mint.uuid()}, {"invocationInputs", inputs}}))
	}
	for _, piece := range append(x.reply.fragments(), x.reply.Stream.split(x.reply.Refusal, words)...) {
		events = append(events, jsonEvent("chunk", object{{"bytes", []byte(piece)}}))
	}
	return events
}

// agentParameters returns the members of an object as a list of parameters with text values.
func agentParameters(arguments string) []object {
	list := []object{}
	var members map[string]any
	if err := json.Unmarshal([]byte(arguments), &members); err != nil {
		panic(scriptError("ToolCall.Arguments are no object: " + err.Error()))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list,
			object{{"name", name}, {"type", "string"}, {"value", strings.Trim(string(marshal(members[name])), `"`)}})
	}
	return list
}

// whole is never called: every answer is a stream.
func (bedrockAgent) whole(*exchange) []byte { return nil }

// bedrockRetrieve is the format in which Bedrock's knowledge bases find passages. In bedrockGenerate a model also
// writes an answer from them.
type (
	bedrockRetrieve struct{ bedrock }
	bedrockGenerate struct{ bedrock }
)

var (
	_ = serve(at(bedrockRetrieve{}, "/retrieve"))
	_ = serve(at(bedrockGenerate{}, "/retrieveAndGenerate"))
	_ = serve(at(bedrockGenerate{}, "/retrieveAndGenerateStream"))
)

func (bedrockRetrieve) name() string { return "bedrock.retrieve" }
func (bedrockGenerate) name() string { return "bedrock.retrieve_and_generate" }

// readQuestion reads a question from a member of the body.
func readQuestion(c *Call, member string) *Failure {
	body, err := parse(c.Body)
	var question struct {
		Text string `json:"text"`
	}
	if err != nil || !body.into(member, &question) || question.Text == "" {
		return invalidAWS(member + " is required")
	}
	c.Messages = []Message{{Role: "user", Text: question.Text}}
	return nil
}

func (bedrockRetrieve) read(c *Call) *Failure { return readQuestion(c, "retrievalQuery") }

// reference returns the passage that was found for a question.
func reference(text string) object {
	return object{{"content", object{{"text", text}, {"type", "TEXT"}}},
		{"location", object{{"type", "WEB"}, {"webLocation", object{{"url", "https://example.com/facts"}}}}}}
}

func (bedrockRetrieve) whole(x *exchange) []byte {
	found := append(reference(x.reply.Text), member{"score", 0.5})
	return marshal(object{{"retrievalResults", []object{found}}})
}

func (bedrockRetrieve) stream(*exchange) []event { return nil }

func (bedrockGenerate) read(c *Call) *Failure {
	c.Stream = strings.HasSuffix(c.Path, "Stream")
	return readQuestion(c, "input")
}

// citation returns a citation of one reference for the whole text.
func (bedrockGenerate) citation(x *exchange) object {
	text := x.reply.Text
	span := object{{"start", 0}, {"end", len([]rune(text)) - 1}}
	part := object{{"textResponsePart", object{{"span", span}, {"text", text}}}}
	return object{{"generatedResponsePart", part}, {"retrievedReferences", []object{reference("a fact")}}}
}

func (f bedrockGenerate) whole(x *exchange) []byte {
	return marshal(object{{"sessionId", x.answerID(x.mint.uuid())}, {"output", object{{"text", x.reply.Text}}},
		{"citations", []object{f.citation(x)}}, {"guardrailAction", "NONE"}})
}

func (f bedrockGenerate) stream(x *exchange) []event {
	var events []event
	for _, piece := range x.reply.fragments() {
		events = append(events, jsonEvent("output", object{{"text", piece}}))
	}
	return append(events, jsonEvent("citation", f.citation(x)))
}

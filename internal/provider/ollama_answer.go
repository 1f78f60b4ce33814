package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ollamaUsage = usageNames{
	input:  paths{"prompt_eval_count"},
	output: paths{"eval_count"},
}

// ollamaAnswer decodes an answer of either API: to a chat it has a message, to a prompt a response.
func ollamaAnswer(body jsontext.Value) (*modelio.Response, error) {
	message, text := body.Member("message"), body.Member("response")
	if !message.IsObject() && !text.IsString() {
		return nil, neither("a message")
	}
	c := candidate(body.Member("done_reason").Word())
	if message.IsObject() {
		ollamaMessage(&c.Message, message)
		delete(c.Message.Metadata, "role")
	} else {
		takeParts(&c.Message, body, []partTaker{{"thinking", ollamaThinking}, {"response", ollamaText}})
		c.Message.Metadata = nil // the rest of the body
	}
	c.Message.Role = modelio.RoleModel
	for _, part := range c.Message.Content {
		if part.ToolRequest != nil {
			delete(part.Metadata, "function") // the call's place in the list
		}
	}
	tidy(&c.Message)
	resp := &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Model:      body.Member("model").Word(),
		Usage:      ollamaUsage.among(body),
		Metadata: beside(body, "model", "message", "response", "thinking", "done", "done_reason",
			"prompt_eval_count", "eval_count"),
	}
	return resp, nil
}

// ollamaStream folds the answers that the APIs stream.
var ollamaStream = folding{end: endOllama, pieces: rules{
	"message":  into("message", rules{"role": (*node).first, "tool_calls": addCalls, "": (*node).grow}),
	"response": (*node).grow,
	"thinking": (*node).grow,
}}

// addCalls takes tool calls, each of which comes whole.
func addCalls(message *node, name string, v jsontext.Value) {
	if v.IsArray() {
		message.extend(name, v)
	}
}

func endOllama(f *fold) { f.done = f.body.is("done") == "true" }

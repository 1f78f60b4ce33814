package modeltest

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Simulate rewrites req for a model that lacks capabilities. It covers those for which GK lets the framework or the
// model stand in:
//
//   - Without systemRole, the content of the system messages is put in order at the beginning of the first user message
//     (GK "System Messages"). If there is no user message, it becomes one, before all other messages. The metadata of
//     system messages is dropped.
//   - If output.schema is not enforced (constrained none, or no-tools in a request with tools), Simulate removes the
//     schema, sets constrained to false, and adds the schema to the prompt as text, in Genkit's words (GK "Structured
//     Output"). The text is a part with the metadata purpose:output at the end of the system message, or else of the
//     last user message. If the prompt already has such a part, it stays as it is, unless it is marked pending.
//
// Simulate does not change req; the result shares its unchanged parts. Simulating twice gives the same result as once.
// Tools, media and a history cannot be simulated, and are left.
func Simulate(req *modelio.GenerateRequest, info modelio.ModelInfo) *modelio.GenerateRequest {
	simulated := *req
	if !enforces(info.Supports.Constrained, req) {
		simulateConstrained(&simulated)
	}
	if !info.Supports.SystemRole {
		simulated.Messages = withoutSystem(simulated.Messages)
	}
	return &simulated
}

func simulateConstrained(req *modelio.GenerateRequest) {
	if req.Output == nil {
		return
	}
	output := *req.Output
	if output.Constrained != nil && *output.Constrained {
		output.Constrained = new(bool)
	}
	if output.Schema != nil {
		req.Messages = withInstructions(req.Messages, output.Schema)
		output.Schema = nil
	}
	req.Output = &output
}

// withInstructions returns messages with the schema as text.
func withInstructions(messages []modelio.Message, schema json.RawMessage) []modelio.Message {
	compact := string(jsontext.Compact(schema)) // an invalid schema stays as it is, so that the model sees it
	part := modelio.TextPart("Output should be in JSON format and conform to the following schema:\n\n" +
		"```\n" + compact + "\n```\n")
	part.Metadata = modelio.Object{"purpose": json.RawMessage(`"output"`)}

	messages = slices.Clone(messages)
	for i := range messages {
		at := slices.IndexFunc(messages[i].Content, isInstructions)
		if at < 0 {
			continue
		}
		if truthy(messages[i].Content[at].Metadata["pending"]) {
			messages[i].Content = slices.Clone(messages[i].Content)
			messages[i].Content[at] = part
		}
		return messages
	}

	at := slices.IndexFunc(messages, func(m modelio.Message) bool { return m.Role == modelio.RoleSystem })
	for i := len(messages) - 1; i >= 0 && at < 0; i-- {
		if messages[i].Role == modelio.RoleUser {
			at = i
		}
	}
	if at < 0 {
		return append(messages, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{part}})
	}
	messages[at].Content = append(slices.Clip(messages[at].Content), part)
	return messages
}

func isInstructions(p modelio.Part) bool { return string(p.Metadata["purpose"]) == `"output"` }

func truthy(value json.RawMessage) bool {
	return value != nil && string(value) != "false" && string(value) != "null"
}

// withoutSystem moves the content of system messages to the first user message.
func withoutSystem(messages []modelio.Message) []modelio.Message {
	var system []modelio.Part
	var rest []modelio.Message
	for _, message := range messages {
		if message.Role == modelio.RoleSystem {
			system = append(system, message.Content...)
		} else {
			rest = append(rest, message)
		}
	}
	if len(rest) == len(messages) {
		return messages
	}
	user := slices.IndexFunc(rest, func(m modelio.Message) bool { return m.Role == modelio.RoleUser })
	if user < 0 {
		return slices.Insert(rest, 0, modelio.Message{Role: modelio.RoleUser, Content: system})
	}
	rest[user].Content = slices.Concat(system, rest[user].Content)
	return rest
}

// enforces reports whether a model with c enforces the output schema of req.
func enforces(c modelio.Constrained, req *modelio.GenerateRequest) bool {
	return c == modelio.ConstrainedAll || c == modelio.ConstrainedNoTools && len(req.Tools) == 0
}

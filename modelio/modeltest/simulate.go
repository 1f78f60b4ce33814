package modeltest

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Simulate rewrites req for a model that lacks capabilities for which GK has the framework or the model stand in:
//
//   - Without systemRole, the content of system messages is put in order at the beginning of the first user message
//     (GK "System Messages"), or becomes a user message of its own, the first of all, where there is none. The
//     metadata of a system message is dropped.
//   - Where output.schema is not enforced (constrained none, or no-tools in a request with
//     tools), the schema is removed, constrained becomes false, and the prompt gets the schema
//     as text, in Genkit's words (GK "Structured Output"): as a part with the metadata
//     purpose:output at the end of the system message, else of the last user message. If there
//     is such a part already, it does as it is, unless it is marked pending.
//
// Simulate does not change req; what needs no change is shared with the result. Simulating twice is simulating once.
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

// withInstructions returns messages with schema as text.
func withInstructions(messages []modelio.Message, schema json.RawMessage) []modelio.Message {
	compact := string(jsontext.Compact(schema)) // what is no JSON is no schema either: let the model see what was there
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

// withoutSystem returns messages with the system messages' content in the first user message.
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

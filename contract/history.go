package contract

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// madeBy is a member in the metadata of a stored reply. It names the only model that can read some of the reply's
// parts: signed or encrypted reasoning, output of the provider's own tools, and citations. The next run may use another
// model (LC "Model Change Boundary").
const madeBy = "$model"

func modelName(p GenerateParams) json.RawMessage { return toJSON(p.Provider + "/" + p.Model) }

// markedBy returns the model's message m, marked with the model of p if it has parts that no other model accepts.
func markedBy(p GenerateParams, m modelio.Message) modelio.Message {
	common := commonParts(m.Content)
	hasMore := func(part modelio.Part) bool { return len(part.Metadata)+len(part.Unknown) > 0 }
	if len(common) != len(m.Content) || slices.ContainsFunc(m.Content, hasMore) {
		m.Metadata = modelio.Object{madeBy: modelName(p)}
	}
	return m
}

// messages returns the history as it is sent to the params' model.
func (r *request) messages() []modelio.Message {
	var messages []modelio.Message
	for _, m := range r.history {
		maker, marked := m.Metadata[madeBy]
		switch {
		case !marked:
			messages = append(messages, m)
		case string(maker) != string(modelName(r.params)):
			if parts := commonParts(m.Content); len(parts) > 0 {
				messages = append(messages, modelio.Message{Role: m.Role, Content: parts})
			}
		case r.codec.API == OpenAIResponses:
			messages = append(messages, responsesItems(m.Content)...)
		default:
			messages = append(messages, modelio.Message{Role: m.Role, Content: m.Content})
		}
	}
	return messages
}

// commonParts returns the parts of a model's answer that every other model accepts.
func commonParts(parts []modelio.Part) (common []modelio.Part) {
	callers := callersOf(parts)
	for _, part := range parts {
		switch request := part.ToolRequest; {
		case part.Text != nil:
			common = append(common, modelio.TextPart(*part.Text))
		case request != nil && callers[request.Ref]:
			call := &modelio.ToolRequest{Name: request.Name, Ref: request.Ref, Input: request.Input}
			common = append(common, modelio.Part{ToolRequest: call})
		}
	}
	return common
}

// In OpenAI's responses API an answer is a list of items, which the codec turns into parts of one message. The API
// accepts reasoning back as an item of its own, by its encrypted content, and likewise the output of its own tools.
// Items are sent without their ids: an id makes the API look up what it has stored, and the request fails unless the
// items around it have their ids too.

// encryptedContent is in the metadata of the first part of an item of reasoning.
const encryptedContent = "encrypted_content"

func isEncrypted(part modelio.Part) bool {
	return part.Reasoning != nil && isSigned(part.Metadata, encryptedContent)
}

// responsesReply returns the parts of an answer that the API accepts back. It accepts unencrypted reasoning and images
// that it made only by their ids, so these are left out.
func responsesReply(answer []modelio.Part) (parts []modelio.Part) {
	encrypted := false // whether the current reasoning item is encrypted
	for _, part := range answer {
		encrypted = isEncrypted(part) || encrypted && part.Reasoning != nil
		if part.Media == nil && (part.Reasoning == nil || encrypted) {
			parts = append(parts, part)
		}
	}
	return parts
}

// responsesItems returns each item of a reply in a message of its own, which is the form from which the codec writes
// items.
func responsesItems(reply []modelio.Part) (items []modelio.Message) {
	for _, part := range reply {
		item := modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{part}}
		last := len(items) - 1
		switch {
		case isEncrypted(part):
			item.Metadata = modelio.Object{"type": toJSON("reasoning"), encryptedContent: part.Metadata[encryptedContent]}
			if *part.Reasoning == "" {
				item.Content = nil // it has no summary
			}
		case part.Custom != nil:
			item.Metadata = modelio.Object{"$wire": toJSON("item")} // see package provider
		case last >= 0 && (items[last].Metadata == nil || part.Reasoning != nil):
			items[last].Content = append(items[last].Content, part)
			continue
		}
		items = append(items, item)
	}
	return items
}

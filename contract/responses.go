package contract

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// In OpenAI's responses API an answer is a list of items, which the codec makes parts of one message.
// The API takes reasoning back as an item of its own, by what it encrypted of it, and so what its own
// tools did. Items are sent without their ids: an id makes the API look for what it has kept, and
// fail unless the items around it are named by their ids too.

const (
	encryptedContent = "encrypted_content" // in the metadata of the first part of an item of reasoning
	wireMark         = "$wire"             // see package provider
	wireItem         = "item"
)

// responsesReply returns the parts of an answer that the API takes back. Reasoning that is not
// encrypted, and images that it made, it would take by their ids only.
func responsesReply(answer []modelio.Part) (parts []modelio.Part) {
	encrypted := false // the item of reasoning at hand
	for _, part := range answer {
		encrypted = isEncrypted(part) || encrypted && part.Reasoning != nil
		if part.Reasoning != nil && !encrypted || part.Media != nil {
			continue
		}
		if part.Custom != nil {
			metadata := modelio.Object{wireMark: encode(wireItem)}
			maps.Copy(metadata, part.Metadata)
			part.Metadata = metadata
		}
		parts = append(parts, part)
	}
	return parts
}

func isEncrypted(part modelio.Part) bool {
	var text string
	return part.Reasoning != nil && json.Unmarshal(part.Metadata[encryptedContent], &text) == nil && text != ""
}

func isItem(part modelio.Part) bool {
	return part.Custom != nil && string(part.Metadata[wireMark]) == string(encode(wireItem))
}

// responsesHistory returns messages with the items of an answer each in a message of its own, which
// is how the codec writes items.
func responsesHistory(messages []modelio.Message) (all []modelio.Message) {
	for _, m := range messages {
		if slices.ContainsFunc(m.Content, isEncrypted) || slices.ContainsFunc(m.Content, isItem) {
			all = append(all, responsesItems(m)...)
		} else {
			all = append(all, m)
		}
	}
	return all
}

func responsesItems(m modelio.Message) (items []modelio.Message) {
	for _, part := range m.Content {
		item := modelio.Message{Role: m.Role, Content: []modelio.Part{part}}
		last := len(items) - 1
		switch {
		case isEncrypted(part):
			item.Metadata = modelio.Object{"type": encode("reasoning"), encryptedContent: part.Metadata[encryptedContent]}
			if *part.Reasoning == "" {
				item.Content = nil // it has no summary
			}
		case isItem(part):
			item.Metadata = modelio.Object{wireMark: encode(wireItem)}
		case last >= 0 && (items[last].Metadata == nil || part.Reasoning != nil && items[last].Metadata[encryptedContent] != nil):
			items[last].Content = append(items[last].Content, part)
			continue
		}
		items = append(items, item)
	}
	return items
}

package contract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// memberNames lists the names of metadata that requests of an API may have, by the owner: a message, or a kind of part.
// Metadata are members of the request without a field. Metadata that the API does not accept, such as another
// provider's, are [ErrUnsupported], and not left out silently. Parts of a model's own answer are exempt: see madeBy.
type memberNames map[string][]string

const (
	ofMessage  = "message"
	ofText     = "text"
	ofThinking = "reasoning"
	ofMedia    = "media"
	ofCall     = "tool request"
	ofResult   = "tool response"
	ofCustom   = "custom part"
)

// chatTaken are the members of OpenAI's chat completions.
var chatTaken = memberNames{
	ofMessage: {"name", "refusal", "audio", "role", "content"},
	ofText:    {"type"},
	ofMedia:   {"type", "image_url", "input_audio", "file"},
	ofCall:    {"type", "function", "custom"},
	ofResult:  {"role"},
}

// responsesTaken are the members of items and blocks of OpenAI's responses.
var responsesTaken = memberNames{
	ofMessage:  {"type", "id", "status", "role", "phase", "summary", "content", encryptedContent},
	ofText:     {"type", "annotations", "logprobs"},
	ofThinking: {"type", encryptedContent},
	ofMedia:    {"type", "detail", "filename", "file_id"},
	ofCall:     {"type", "id", "status", "namespace", "arguments"},
	ofResult:   {"type", "id", "status", "output"},
}

// messagesTaken are the members of the blocks of Anthropic's messages.
var messagesTaken = memberNames{
	ofMessage:  {"role"},
	ofText:     {"cache_control", "citations"},
	ofThinking: {"signature"},
	ofMedia:    {"type", "cache_control", "citations", "context", "title", "source"},
	ofCall:     {"type", "cache_control", "caller", "server_name"},
	ofResult:   {"type", "cache_control", "caller", "is_error"},
}

// inResult stands for the role of a message if the parts are those of a tool response.
const inResult modelio.Role = "tool response"

// chatExcluded says that tool responses are the messages of role tool, and all of their content.
var chatExcluded = map[modelio.Role][]string{
	modelio.RoleSystem: {ofResult},
	modelio.RoleUser:   {ofResult},
	modelio.RoleModel:  {ofResult},
	modelio.RoleTool:   {ofText, ofThinking, ofMedia, ofCall, ofCustom},
	inResult:           {ofThinking, ofCall, ofResult},
}

var responsesExcluded = map[modelio.Role][]string{inResult: {ofThinking, ofCall, ofResult}}

// kindOf returns the kind of a part; an empty one counts as a custom part.
func kindOf(part modelio.Part) string {
	switch {
	case part.Text != nil:
		return ofText
	case part.Reasoning != nil:
		return ofThinking
	case part.Media != nil:
		return ofMedia
	case part.ToolRequest != nil:
		return ofCall
	case part.ToolResponse != nil:
		return ofResult
	}
	return ofCustom
}

// checkMessage reports the parts of a message that the API cannot express.
func (d *dialect) checkMessage(found *violations, at string, m modelio.Message) {
	d.checkMetadata(found, at, ofMessage, m.Metadata)
	d.checkParts(found, at, m)
}

// isItem reports whether a message is an item of OpenAI's responses, which is sent unchanged.
func isItem(m modelio.Message) bool {
	return len(m.Content) == 1 && m.Content[0].Custom != nil && string(m.Metadata["$wire"]) == `"item"`
}

func (d *dialect) checkParts(found *violations, at string, m modelio.Message) {
	for i, part := range m.Content {
		at := at + "/content/" + strconv.Itoa(i)
		kind := kindOf(part)
		if slices.Contains(d.excluded[m.Role], kind) {
			found.add(at, ruleUnsupported, "the API takes no %s in a %s message", kind, m.Role)
			continue
		}
		if isItem(m) {
			continue
		}
		if kind == ofCustom {
			found.add(at, ruleUnsupported, "a custom part belongs to no API: use the parts of package modelio, "+
				"or name the message that Adapter.Reply stored")
			continue
		}
		d.checkMetadata(found, at, kind, part.Metadata)
		switch {
		case kind == ofThinking && !d.takesThinking(part, m.Metadata):
			found.add(at, ruleUnsupported, "%s", d.thinkingRule)
		case kind == ofMedia && !d.takesMedia(part.Media.ContentType):
			found.add(at+"/media", ruleUnsupported, "the API takes no %s, but %s",
				part.Media.ContentType, strings.Join(d.media, ", "))
		case kind == ofMedia && (m.Role == modelio.RoleSystem || m.Role == modelio.RoleModel):
			found.add(at+"/media", ruleUnsupported,
				"the API takes media of users and tools only, not in a message of role %s", m.Role)
		case kind == ofResult:
			d.checkParts(found, at+"/toolResponse", modelio.Message{Role: inResult, Content: part.ToolResponse.Content})
		}
	}
}

func (d *dialect) checkMetadata(found *violations, at, kind string, metadata modelio.Object) {
	for name := range metadata {
		if !strings.HasPrefix(name, "$") && !slices.Contains(d.taken[kind], name) {
			found.add(at+"/metadata"+jsontext.PointerTo(name), ruleUnsupported,
				"the API has no %s beside a %s: it would not take it, or it belongs to another provider", name, kind)
		}
	}
}

// takesMedia reports whether the API accepts media of a type. An unspecified type is left to the host.
func (d *dialect) takesMedia(contentType string) bool {
	return contentType == "" || slices.ContainsFunc(d.media, func(prefix string) bool {
		return strings.HasPrefix(contentType, prefix)
	})
}

// isSigned reports whether metadata contain a text with the name, which proves that the reasoning is the model's own.
func isSigned(metadata modelio.Object, name string) bool {
	return provider.MetadataWord(metadata, name) != ""
}

package contract_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestWhatAnAPICannotTake covers messages that no request of an API can hold. Each is refused before the call, with its
// place in the params.
func TestWhatAnAPICannotTake(t *testing.T) {
	const chat, responses, messages = contract.OpenAIChat, contract.OpenAIResponses, contract.AnthropicMessages
	with := func(part modelio.Part, name, value string) modelio.Part {
		part.Metadata = modelio.Object{name: json.RawMessage(value)}
		return part
	}
	user := func(parts ...modelio.Part) modelio.Message {
		return modelio.Message{Role: modelio.RoleUser, Content: parts}
	}
	model := func(parts ...modelio.Part) modelio.Message {
		return modelio.Message{Role: modelio.RoleModel, Content: parts}
	}
	text, thought := modelio.TextPart("hi"), modelio.ReasoningPart("hm")
	image := modelio.MediaPart("image/png", "data:image/png;base64,AAAA")
	audio := modelio.MediaPart("audio/wav", "data:audio/wav;base64,AAAA")
	video := modelio.MediaPart("video/mp4", "data:video/mp4;base64,AAAA")
	pdf := modelio.MediaPart("application/pdf", "data:application/pdf;base64,AAAA")
	sheet := modelio.MediaPart("application/vnd.ms-excel", "data:application/vnd.ms-excel;base64,AAAA")
	asked := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "calc", Ref: "call_1", Input: json.RawMessage(`{}`)}}
	result := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "calc", Ref: "call_1", Content: []modelio.Part{video}}}
	holding := func(parts ...modelio.Part) modelio.Message {
		part := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "calc", Ref: "call_1", Content: parts}}
		return modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{part}}
	}
	for _, test := range []struct {
		name, why string
		message   modelio.Message
		pointer   string
		refusing  []string // the APIs that refuse it; the others accept it
	}{
		{"cache_control", "is Anthropic's", user(with(text, "cache_control", `{"type":"ephemeral"}`)), "/content/0/metadata/cache_control", []string{chat, responses}},
		{"cache_control_of_a_call", "is Anthropic's", model(with(asked, "cache_control", `{"type":"ephemeral"}`)), "/content/0/metadata/cache_control", []string{chat, responses}},
		{"detail", "is OpenAI's", user(text, with(image, "image_url", `{"detail":"low"}`)), "/content/1/metadata/image_url", []string{responses, messages}},
		{"name", "is chat's", modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{text}, Metadata: modelio.Object{"name": []byte(`"ann"`)}}, "/metadata/name", []string{responses, messages}},
		{"made_up", "is nobody's", user(with(text, "mood/tone", `"good"`)), "/content/0/metadata/mood~1tone", []string{chat, responses, messages}},
		{"custom", "says nothing to anybody but who made it", user(text, modelio.Part{Custom: modelio.Object{"type": []byte(`"x"`)}}), "/content/1", []string{chat, responses, messages}},
		{"audio", "chat alone listens", user(audio), "/content/0/media", []string{responses, messages}},
		{"video", "nobody looks", user(video), "/content/0/media", []string{chat, responses, messages}},
		{"video_of_a_tool", "deep down too", modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{result}}, "/content/0/toolResponse/content/0/media", []string{chat, responses, messages}},
		{"pdf", "all read it", user(pdf), "", nil},
		{"untyped", "the host may know", user(modelio.MediaPart("", "https://example.com/a")), "", nil},
		{"item_of_text", "is no item", modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{audio}, Metadata: modelio.Object{"$wire": []byte(`"item"`)}}, "/content/0/media", []string{responses, messages}},
		{"item_and_text", "is no item", modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{{Custom: modelio.Object{"type": []byte(`"x"`)}}, text}, Metadata: modelio.Object{"$wire": []byte(`"item"`)}}, "/content/0", []string{chat, responses, messages}},
		{"sheet", "is a document of OpenAI's only", user(sheet), "/content/0/media", []string{messages}},
		{"image_of_a_model", "no model is sent one as its own", model(image), "/content/0/media", []string{chat, responses, messages}},
		{"unsigned", "thinking must be the model's own", model(thought, text), "/content/0", []string{chat, responses, messages}},
		{"signed", "so it is", model(with(thought, "signature", `"c2ln"`), text), "/content/0", []string{chat, responses}},
		{"result_of_a_user", "is a message of its own in chat", user(text, holding(text).Content[0]), "/content/1", []string{chat}},
		{"text_of_a_tool", "is no result", modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{text}}, "/content/0", []string{chat}},
		{"item_of_a_tool", "is no result", modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{{Custom: modelio.Object{"type": []byte(`"x"`)}}}, Metadata: modelio.Object{"$wire": []byte(`"item"`)}}, "/content/0", []string{chat}},
		{"call_in_a_result", "OpenAI has texts and media there", holding(text, asked), "/content/0/toolResponse/content/1", []string{chat, responses}},
		{"result_in_a_result", "OpenAI has texts and media there", holding(holding(text).Content[0]), "/content/0/toolResponse/content/0", []string{chat, responses}},
		{"thought_in_a_result", "OpenAI has texts and media there", holding(with(thought, "encrypted_content", `"x"`)), "/content/0/toolResponse/content/0", []string{chat, responses, messages}},
		{"empty_part", "says nothing", user(text, modelio.Part{}), "/content/1", []string{chat, responses, messages}},
		{"empty_part_of_a_result", "says nothing", holding(modelio.Part{}), "/content/0/toolResponse/content/0", []string{chat, responses, messages}},
		{"answer_of_a_tool", "is none of a model", modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{text}, Metadata: modelio.Object{"$model": []byte(`"x/y"`)}}, "/content/0", []string{chat}},
		{"signed_with_nothing", "is not signed", model(with(thought, "signature", `""`), text), "/content/0", []string{chat, responses, messages}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachAPI(t, func(s *scene, a api) {
				params := s.params(a, s.says(modelio.RoleUser, "hi"), s.message(test.message))
				_, err := s.adapter.Generate(s.Context(), params)
				refuses := false
				for _, name := range test.refusing {
					refuses = refuses || name == a.name
				}
				if !refuses {
					require.NotErrorIs(s, err, contract.ErrUnsupported, test.why)
					require.NotEmpty(s, s.provider.Calls())
					return
				}
				require.ErrorIs(s, err, contract.ErrUnsupported, test.why)
				var all *contract.Error
				require.True(s, errors.As(err, &all))
				var pointers []string
				for _, v := range all.Violations {
					pointers = append(pointers, v.Pointer)
				}
				require.Contains(s, pointers, "/message_refs/1"+test.pointer)
				require.Empty(s, s.provider.Calls(), "nothing was sent")
			})
		})
	}
}

package genkittraceforge

import (
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// plainText is the content type of a Genkit text part, which is not in its JSON.
const plainText = "plain/text"

func fromPart(part *ai.Part) (modelio.Part, error) {
	var c conversion
	converted := modelio.Part{
		Metadata: field(&c, "metadata", part.Metadata, fromMap),
		Custom:   field(&c, "custom", part.Custom, fromMap),
	}
	text := part.Text
	switch part.Kind {
	case ai.PartText:
		converted.Text = &text
		if part.ContentType != plainText {
			c.putWord(&converted.Unknown, "contentType", part.ContentType)
		}
	case ai.PartReasoning:
		converted.Reasoning = &text
	case ai.PartMedia:
		converted.Media = &modelio.Media{ContentType: part.ContentType, URL: text}
	case ai.PartData:
		c.put(&converted.Unknown, "data", text)
	case ai.PartToolRequest:
		converted.ToolRequest = field(&c, "", part.ToolRequest, fromToolRequest)
	case ai.PartToolResponse:
		converted.ToolResponse = field(&c, "", part.ToolResponse, fromToolResponse)
	case ai.PartResource:
		if part.Resource == nil {
			return converted, errors.New("resource part without a resource")
		}
		c.put(&converted.Unknown, "resource", map[string]string{"uri": part.Resource.Uri})
	case ai.PartCustom:
		if converted.Custom == nil {
			converted.Custom = modelio.Object{}
		}
	default:
		c.check("", fmt.Errorf("unknown kind %d", part.Kind))
	}
	return converted, c.failed("")
}

func fromToolRequest(request *ai.ToolRequest) (*modelio.ToolRequest, error) {
	if request == nil {
		return nil, errors.New("tool request part without a tool request")
	}
	var c conversion
	return &modelio.ToolRequest{
		Name:    request.Name,
		Ref:     request.Ref,
		Input:   field(&c, "toolRequest: input", request.Input, fromValue),
		Partial: request.Partial,
	}, c.failed("")
}

func fromToolResponse(response *ai.ToolResponse) (*modelio.ToolResponse, error) {
	if response == nil {
		return nil, errors.New("tool response part without a tool response")
	}
	var c conversion
	return &modelio.ToolResponse{
		Name:    response.Name,
		Ref:     response.Ref,
		Output:  field(&c, "toolResponse: output", response.Output, fromValue),
		Content: field(&c, "toolResponse: content", response.Content, eachOf("part", fromPart)),
	}, c.failed("")
}

func toPart(part modelio.Part) (*ai.Part, error) {
	var c conversion
	converted := &ai.Part{
		Metadata: field(&c, "metadata", part.Metadata, toMetadata),
		Custom:   field(&c, "custom", part.Custom, toMap),
	}
	unknown := spare(part.Unknown)
	switch {
	case part.Text != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartText, plainText, *part.Text
		c.take(unknown, "contentType", &converted.ContentType)
	case part.Reasoning != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartReasoning, plainText, *part.Reasoning
	case part.Media != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartMedia, part.Media.ContentType, part.Media.URL
		c.none(spare(part.Media.Unknown))
	case part.ToolRequest != nil:
		converted.Kind = ai.PartToolRequest
		converted.ToolRequest = field(&c, "", part.ToolRequest, toToolRequest)
	case part.ToolResponse != nil:
		converted.Kind = ai.PartToolResponse
		converted.ToolResponse = field(&c, "", part.ToolResponse, toToolResponse)
	case part.Custom != nil:
		converted.Kind = ai.PartCustom
	case part.Unknown["data"] != nil:
		converted.Kind = ai.PartData
		c.take(unknown, "data", &converted.Text)
	case part.Unknown["resource"] != nil:
		converted.Kind, converted.Resource = ai.PartResource, &ai.ResourcePart{}
		c.take(unknown, "resource", converted.Resource)
	default:
		converted.Kind, converted.ContentType = ai.PartText, plainText // as Genkit reads a part without a kind
	}
	return done(&c, converted, unknown)
}

func toToolRequest(request *modelio.ToolRequest) (*ai.ToolRequest, error) {
	var c conversion
	return done(&c, &ai.ToolRequest{
		Name:    request.Name,
		Ref:     request.Ref,
		Input:   field(&c, "toolRequest: input", request.Input, toValue),
		Partial: request.Partial,
	}, spare(request.Unknown))
}

func toToolResponse(response *modelio.ToolResponse) (*ai.ToolResponse, error) {
	var c conversion
	return done(&c, &ai.ToolResponse{
		Name:    response.Name,
		Ref:     response.Ref,
		Output:  field(&c, "toolResponse: output", response.Output, toValue),
		Content: field(&c, "toolResponse: content", response.Content, each("part", toPart)),
	}, spare(response.Unknown))
}

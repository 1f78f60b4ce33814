package genkittraceforge

import (
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// plainText is the content type of a text part of Genkit's, which is not in its JSON.
const plainText = "plain/text"

func fromPart(part *ai.Part) (converted modelio.Part, err error) {
	if part == nil {
		return converted, errNil
	}
	if converted.Metadata, err = fromMap(part.Metadata); err != nil {
		return converted, fmt.Errorf("metadata: %w", err)
	}
	if converted.Custom, err = fromMap(part.Custom); err != nil {
		return converted, fmt.Errorf("custom: %w", err)
	}
	text := part.Text
	switch part.Kind {
	case ai.PartText:
		converted.Text = &text
		if part.ContentType != "" && part.ContentType != plainText {
			err = (*extra)(&converted.Unknown).put("contentType", part.ContentType)
		}
	case ai.PartReasoning:
		converted.Reasoning = &text
	case ai.PartMedia:
		converted.Media = &modelio.Media{ContentType: part.ContentType, URL: text}
	case ai.PartData:
		err = (*extra)(&converted.Unknown).put("data", text)
	case ai.PartToolRequest:
		converted.ToolRequest, err = fromToolRequest(part.ToolRequest)
	case ai.PartToolResponse:
		converted.ToolResponse, err = fromToolResponse(part.ToolResponse)
	case ai.PartResource:
		if part.Resource == nil {
			return converted, errors.New("resource part without a resource")
		}
		err = (*extra)(&converted.Unknown).put("resource", map[string]string{"uri": part.Resource.Uri})
	case ai.PartCustom:
		if converted.Custom == nil {
			converted.Custom = modelio.Object{}
		}
	default:
		return converted, fmt.Errorf("unknown kind %d", part.Kind)
	}
	return converted, err
}

func fromToolRequest(request *ai.ToolRequest) (*modelio.ToolRequest, error) {
	if request == nil {
		return nil, errors.New("tool request part without a tool request")
	}
	input, err := fromValue(request.Input)
	if err != nil {
		return nil, fmt.Errorf("toolRequest: input: %w", err)
	}
	return &modelio.ToolRequest{Name: request.Name, Ref: request.Ref, Input: input, Partial: request.Partial}, nil
}

func fromToolResponse(response *ai.ToolResponse) (*modelio.ToolResponse, error) {
	if response == nil {
		return nil, errors.New("tool response part without a tool response")
	}
	output, err := fromValue(response.Output)
	if err != nil {
		return nil, fmt.Errorf("toolResponse: output: %w", err)
	}
	content, err := convertAll("part", response.Content, fromPart)
	if err != nil {
		return nil, fmt.Errorf("toolResponse: content: %w", err)
	}
	return &modelio.ToolResponse{Name: response.Name, Ref: response.Ref, Output: output, Content: content}, nil
}

func toPart(part modelio.Part) (*ai.Part, error) {
	metadata, err := toMetadata(part.Metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	custom, err := toMap(part.Custom)
	if err != nil {
		return nil, fmt.Errorf("custom: %w", err)
	}
	converted := &ai.Part{Metadata: metadata, Custom: custom}
	unknown := spare(part.Unknown)
	switch {
	case part.Text != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartText, plainText, *part.Text
		err = unknown.take("contentType", &converted.ContentType)
	case part.Reasoning != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartReasoning, plainText, *part.Reasoning
	case part.Media != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartMedia, part.Media.ContentType, part.Media.URL
		err = spare(part.Media.Unknown).none()
	case part.ToolRequest != nil:
		converted.Kind = ai.PartToolRequest
		converted.ToolRequest, err = toToolRequest(part.ToolRequest)
	case part.ToolResponse != nil:
		converted.Kind = ai.PartToolResponse
		converted.ToolResponse, err = toToolResponse(part.ToolResponse)
	case part.Custom != nil:
		converted.Kind = ai.PartCustom
	case part.Unknown["data"] != nil:
		converted.Kind = ai.PartData
		err = unknown.take("data", &converted.Text)
	case part.Unknown["resource"] != nil:
		converted.Kind, converted.Resource = ai.PartResource, &ai.ResourcePart{}
		err = unknown.take("resource", converted.Resource)
	default:
		converted.Kind, converted.ContentType = ai.PartText, plainText // as Genkit reads a part without a kind
	}
	if err != nil {
		return nil, err
	}
	return converted, unknown.none()
}

func toToolRequest(request *modelio.ToolRequest) (*ai.ToolRequest, error) {
	input, err := toValue(request.Input)
	if err != nil {
		return nil, fmt.Errorf("toolRequest: input: %w", err)
	}
	return &ai.ToolRequest{Name: request.Name, Ref: request.Ref, Input: input, Partial: request.Partial}, spare(request.Unknown).none()
}

func toToolResponse(response *modelio.ToolResponse) (*ai.ToolResponse, error) {
	output, err := toValue(response.Output)
	if err != nil {
		return nil, fmt.Errorf("toolResponse: output: %w", err)
	}
	content, err := convertAll("part", response.Content, toPart)
	if err != nil {
		return nil, fmt.Errorf("toolResponse: content: %w", err)
	}
	return &ai.ToolResponse{Name: response.Name, Ref: response.Ref, Output: output, Content: content}, spare(response.Unknown).none()
}

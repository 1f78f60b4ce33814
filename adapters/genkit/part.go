package genkittraceforge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// exactPart is the member of a part's metadata that holds the JSON of a modelio part of which
// Genkit's fields cannot hold everything: an unknown member, partial:false, data that is no
// string. It goes with the part for as long as the part says the same.
const exactPart = "traceforge.part"

// plainText is the content type of a text part of Genkit's, which is not in its JSON.
const plainText = "plain/text"

func fromPart(part *ai.Part) (modelio.Part, error) {
	if part == nil {
		return modelio.Part{}, errNil
	}
	if exact, ok := part.Metadata[exactPart].(string); ok {
		plain := *part
		plain.Metadata = maps.Clone(part.Metadata)
		delete(plain.Metadata, exactPart)
		if kept, ok := keptPart(&plain, exact); ok {
			return kept, nil
		}
		part = &plain // it has been changed since
	}
	return fromPlainPart(part)
}

// keptPart returns the part that exact is the JSON of, if plain still says as much of it as
// Genkit can.
func keptPart(plain *ai.Part, exact string) (modelio.Part, bool) {
	var kept modelio.Part
	if json.Unmarshal([]byte(exact), &kept) != nil {
		return kept, false
	}
	again, err := toPlainPart(kept)
	if err != nil {
		return kept, false
	}
	was, errWas := fromPlainPart(again)
	is, errIs := fromPlainPart(plain)
	if kept.Metadata == nil && len(is.Metadata) == 0 {
		is.Metadata = nil // made for exactPart
	}
	return kept, errWas == nil && errIs == nil && same(was, is)
}

// same reports whether two parts say the same.
func same(a, b modelio.Part) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	if errX != nil || errY != nil {
		return false
	}
	if bytes.Equal(x, y) {
		return true
	}
	x, errX = canon.KeepNumbers(x)
	y, errY = canon.KeepNumbers(y)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func fromPlainPart(part *ai.Part) (converted modelio.Part, err error) {
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
	converted, err := toPlainPart(part)
	if err != nil {
		return nil, err
	}
	if again, err := fromPlainPart(converted); err == nil && same(part, again) {
		return converted, nil
	}
	exact, err := part.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if converted.Metadata == nil {
		converted.Metadata = map[string]any{}
	}
	converted.Metadata[exactPart] = string(exact)
	return converted, nil
}

// toPlainPart converts what of part Genkit has a place for.
func toPlainPart(part modelio.Part) (*ai.Part, error) {
	metadata, err := toMetadata(part.Metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	custom, err := toMap(part.Custom)
	if err != nil {
		return nil, fmt.Errorf("custom: %w", err)
	}
	converted := &ai.Part{Metadata: metadata, Custom: custom}
	var data string
	var resource ai.ResourcePart
	switch {
	case part.Text != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartText, plainText, *part.Text
		if raw := part.Unknown["contentType"]; raw != nil {
			_ = json.Unmarshal(raw, &converted.ContentType) // what is no string is kept by exactPart
		}
	case part.Reasoning != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartReasoning, plainText, *part.Reasoning
	case part.Media != nil:
		converted.Kind, converted.ContentType, converted.Text = ai.PartMedia, part.Media.ContentType, part.Media.URL
	case part.ToolRequest != nil:
		converted.Kind = ai.PartToolRequest
		converted.ToolRequest, err = toToolRequest(part.ToolRequest)
	case part.ToolResponse != nil:
		converted.Kind = ai.PartToolResponse
		converted.ToolResponse, err = toToolResponse(part.ToolResponse)
	case part.Custom != nil:
		converted.Kind = ai.PartCustom
	case json.Unmarshal(part.Unknown["data"], &data) == nil:
		converted.Kind, converted.Text = ai.PartData, data
	case json.Unmarshal(part.Unknown["resource"], &resource) == nil:
		converted.Kind, converted.Resource = ai.PartResource, &resource
	default:
		converted.Kind, converted.ContentType = ai.PartText, plainText // as Genkit reads a part without a kind
	}
	return converted, err
}

func toToolRequest(request *modelio.ToolRequest) (*ai.ToolRequest, error) {
	input, err := toValue(request.Input)
	if err != nil {
		return nil, fmt.Errorf("toolRequest: input: %w", err)
	}
	return &ai.ToolRequest{Name: request.Name, Ref: request.Ref, Input: input, Partial: request.Partial}, nil
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
	return &ai.ToolResponse{Name: response.Name, Ref: response.Ref, Output: output, Content: content}, nil
}

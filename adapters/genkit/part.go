package genkittraceforge

import (
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// plainText is the content type of a Genkit text part, which is not in its JSON.
const plainText = "plain/text"

func (c *conversion) part(genkit *ai.Part, model *modelio.Part) {
	either(c, "metadata", &genkit.Metadata, &model.Metadata, fromMap, toMetadata)
	c.object("custom", &genkit.Custom, &model.Custom)
	if c.toGenkit {
		genkit.Kind = kindOf(model)
	}
	c.beyond(&model.Unknown, func(members *modelio.Object) { c.ofKind(genkit, model, members) })
}

// kindOf returns Genkit's kind of a part. A part without a kind is a text, as Genkit reads it.
func kindOf(part *modelio.Part) ai.PartKind {
	switch {
	case part.Text != nil:
		return ai.PartText
	case part.Reasoning != nil:
		return ai.PartReasoning
	case part.Media != nil:
		return ai.PartMedia
	case part.ToolRequest != nil:
		return ai.PartToolRequest
	case part.ToolResponse != nil:
		return ai.PartToolResponse
	case part.Custom != nil:
		return ai.PartCustom
	case part.Unknown["data"] != nil:
		return ai.PartData
	case part.Unknown["resource"] != nil:
		return ai.PartResource
	}
	return ai.PartText
}

// ofKind converts what a part of Genkit's kind contains.
func (c *conversion) ofKind(genkit *ai.Part, model *modelio.Part, members *modelio.Object) {
	switch genkit.Kind {
	case ai.PartText:
		if c.text(genkit, &model.Text); c.toGenkit || genkit.ContentType != plainText {
			c.word(members, "contentType", &genkit.ContentType)
		}
	case ai.PartReasoning:
		c.text(genkit, &model.Reasoning)
	case ai.PartMedia:
		if !c.toGenkit {
			model.Media = new(modelio.Media)
		}
		same(c, &genkit.ContentType, &model.Media.ContentType)
		same(c, &genkit.Text, &model.Media.URL)
		c.beyond(&model.Media.Unknown, nothing)
	case ai.PartData:
		c.member(members, "data", &genkit.Text)
	case ai.PartToolRequest:
		if pointer(c, "", &genkit.ToolRequest, &model.ToolRequest, c.toolRequest); genkit.ToolRequest == nil {
			c.check("", errors.New("tool request part without a tool request"))
		}
	case ai.PartToolResponse:
		if pointer(c, "", &genkit.ToolResponse, &model.ToolResponse, c.toolResponse); genkit.ToolResponse == nil {
			c.check("", errors.New("tool response part without a tool response"))
		}
	case ai.PartResource:
		c.resource(genkit, members)
	case ai.PartCustom:
		if model.Custom == nil {
			model.Custom = modelio.Object{}
		}
	default:
		c.check("", fmt.Errorf("unknown kind %d", genkit.Kind))
	}
}

// text converts the text of a part that has nothing else.
func (c *conversion) text(genkit *ai.Part, model **string) {
	if !c.toGenkit {
		text := genkit.Text
		*model = &text
		return
	}
	genkit.ContentType = plainText
	if *model != nil {
		genkit.Text = **model
	}
}

func (c *conversion) resource(genkit *ai.Part, members *modelio.Object) {
	switch {
	case c.toGenkit:
		genkit.Resource = new(ai.ResourcePart)
		c.member(members, "resource", genkit.Resource)
	case genkit.Resource == nil:
		c.check("", errors.New("resource part without a resource"))
	default:
		c.member(members, "resource", map[string]string{"uri": genkit.Resource.Uri})
	}
}

func (c *conversion) toolRequest(genkit *ai.ToolRequest, model *modelio.ToolRequest) {
	same(c, &genkit.Name, &model.Name)
	same(c, &genkit.Ref, &model.Ref)
	c.value("toolRequest: input", &genkit.Input, &model.Input)
	same(c, &genkit.Partial, &model.Partial)
	c.beyond(&model.Unknown, nothing)
}

func (c *conversion) toolResponse(genkit *ai.ToolResponse, model *modelio.ToolResponse) {
	same(c, &genkit.Name, &model.Name)
	same(c, &genkit.Ref, &model.Ref)
	c.value("toolResponse: output", &genkit.Output, &model.Output)
	c.in("toolResponse: content", func() { list(c, "part", &genkit.Content, &model.Content, c.part) })
	c.beyond(&model.Unknown, nothing)
}

package genkittraceforge

import (
	"bytes"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

func fromRequest(req *ai.ModelRequest) (*modelio.GenerateRequest, error) {
	return fromGenkit("request", req, (*conversion).request)
}

func toRequest(req *modelio.GenerateRequest) (*ai.ModelRequest, error) {
	return toGenkit("request", req, (*conversion).request)
}

// request converts a request. Its documents, and a configuration that is not an object, are in Unknown.
func (c *conversion) request(genkit *ai.ModelRequest, model *modelio.GenerateRequest) {
	list(c, "message", &genkit.Messages, &model.Messages, c.message)
	list(c, "tool", &genkit.Tools, &model.Tools, c.tool)
	same(c, (*string)(&genkit.ToolChoice), (*string)(&model.ToolChoice))
	pointer(c, "output", &genkit.Output, &model.Output, c.output)
	c.beyond(&model.Unknown, func(members *modelio.Object) {
		c.config(genkit, model, members)
		var docs []document
		if c.toGenkit {
			c.member(members, "docs", &docs)
		}
		if list(c, "doc", &genkit.Docs, &docs, c.document); !c.toGenkit && docs != nil {
			c.member(members, "docs", docs)
		}
	})
}

// config converts a configuration. It becomes a map in Genkit, as when Genkit reads it from JSON.
func (c *conversion) config(genkit *ai.ModelRequest, model *modelio.GenerateRequest, members *modelio.Object) {
	if c.toGenkit {
		c.member(members, "config", &genkit.Config)
		if model.Config != nil {
			config, err := toMap(model.Config)
			c.check("config", err)
			genkit.Config = config
		}
		return
	}
	switch text, err := fromValue(genkit.Config); {
	case err != nil:
		c.check("config", err)
	case len(text) == 0 || string(text) == "null":
	case bytes.HasPrefix(text, []byte("{")):
		c.check("config", json.Unmarshal(text, &model.Config))
	default:
		c.member(members, "config", text)
	}
}

func (c *conversion) message(genkit *ai.Message, model *modelio.Message) {
	same(c, (*string)(&genkit.Role), (*string)(&model.Role))
	c.object("metadata", &genkit.Metadata, &model.Metadata)
	list(c, "part", &genkit.Content, &model.Content, c.part)
	c.beyond(&model.Unknown, nothing)
}

func (c *conversion) tool(genkit *ai.ToolDefinition, model *modelio.ToolDefinition) {
	same(c, &genkit.Name, &model.Name)
	same(c, &genkit.Description, &model.Description)
	c.schema("inputSchema", &genkit.InputSchema, &model.InputSchema)
	c.schema("outputSchema", &genkit.OutputSchema, &model.OutputSchema)
	c.object("metadata", &genkit.Metadata, &model.Metadata)
	c.beyond(&model.Unknown, nothing)
}

func (c *conversion) output(genkit *ai.ModelOutputConfig, model *modelio.OutputConfig) {
	same(c, &genkit.Format, &model.Format)
	c.schema("schema", &genkit.Schema, &model.Schema)
	c.flag(&genkit.Constrained, &model.Constrained)
	c.beyond(&model.Unknown, func(members *modelio.Object) { c.word(members, "contentType", &genkit.ContentType) })
}

// A document is a document that a request brings as context.
type document struct {
	Content  []modelio.Part `json:"content"`
	Metadata modelio.Object `json:"metadata,omitempty"`
}

func (c *conversion) document(genkit *ai.Document, model *document) {
	c.object("metadata", &genkit.Metadata, &model.Metadata)
	list(c, "part", &genkit.Content, &model.Content, c.part)
}

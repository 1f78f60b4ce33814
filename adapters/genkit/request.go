package genkittraceforge

import (
	"bytes"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// fromRequest converts a Genkit request. Its documents, and a configuration that is not an object, are in Unknown.
func fromRequest(req *ai.ModelRequest) (*modelio.GenerateRequest, error) {
	var c conversion
	converted := &modelio.GenerateRequest{
		Messages:   field(&c, "", req.Messages, eachOf("message", fromMessage)),
		Tools:      field(&c, "", req.Tools, eachOf("tool", fromTool)),
		ToolChoice: modelio.ToolChoice(req.ToolChoice),
		Output:     pointer(&c, "output", req.Output, fromOutput),
	}
	config := field(&c, "config", req.Config, fromValue)
	switch {
	case len(config) == 0 || string(config) == "null":
	case bytes.HasPrefix(config, []byte("{")):
		c.check("config", json.Unmarshal(config, &converted.Config))
	default:
		c.put(&converted.Unknown, "config", config)
	}
	if docs := field(&c, "", req.Docs, eachOf("doc", fromDocument)); docs != nil {
		c.put(&converted.Unknown, "docs", docs)
	}
	return converted, c.failed("from genkit request")
}

// toRequest is the inverse of fromRequest. A configuration becomes a map, as when Genkit reads it from JSON.
func toRequest(req *modelio.GenerateRequest) (*ai.ModelRequest, error) {
	var c conversion
	converted := &ai.ModelRequest{
		Messages:   field(&c, "", req.Messages, each("message", toMessage)),
		Tools:      field(&c, "", req.Tools, each("tool", toTool)),
		ToolChoice: ai.ToolChoice(req.ToolChoice),
		Output:     pointer(&c, "output", req.Output, toOutput),
	}
	unknown := spare(req.Unknown)
	c.take(unknown, "config", &converted.Config)
	if req.Config != nil {
		converted.Config = field(&c, "config", req.Config, toMap)
	}
	var docs []document
	c.take(unknown, "docs", &docs)
	converted.Docs = field(&c, "", docs, each("doc", toDocument))
	c.none(unknown)
	return converted, c.failed("to genkit request")
}

func fromMessage(message *ai.Message) (modelio.Message, error) {
	var c conversion
	return modelio.Message{
		Role:     modelio.Role(message.Role),
		Metadata: field(&c, "metadata", message.Metadata, fromMap),
		Content:  field(&c, "", message.Content, eachOf("part", fromPart)),
	}, c.failed("")
}

func toMessage(message modelio.Message) (*ai.Message, error) {
	var c conversion
	return done(&c, &ai.Message{
		Role:     ai.Role(message.Role),
		Metadata: field(&c, "metadata", message.Metadata, toMap),
		Content:  field(&c, "", message.Content, each("part", toPart)),
	}, spare(message.Unknown))
}

func fromTool(tool *ai.ToolDefinition) (modelio.ToolDefinition, error) {
	var c conversion
	return modelio.ToolDefinition{
		Name:         tool.Name,
		Description:  tool.Description,
		InputSchema:  field(&c, "inputSchema", tool.InputSchema, fromSchema),
		OutputSchema: field(&c, "outputSchema", tool.OutputSchema, fromSchema),
		Metadata:     field(&c, "metadata", tool.Metadata, fromMap),
	}, c.failed("")
}

func toTool(tool modelio.ToolDefinition) (*ai.ToolDefinition, error) {
	var c conversion
	return done(&c, &ai.ToolDefinition{
		Name:         tool.Name,
		Description:  tool.Description,
		InputSchema:  field(&c, "inputSchema", tool.InputSchema, toSchema),
		OutputSchema: field(&c, "outputSchema", tool.OutputSchema, toSchema),
		Metadata:     field(&c, "metadata", tool.Metadata, toMap),
	}, spare(tool.Unknown))
}

func fromOutput(output *ai.ModelOutputConfig) (*modelio.OutputConfig, error) {
	var c conversion
	converted := &modelio.OutputConfig{
		Format:      output.Format,
		Schema:      field(&c, "schema", output.Schema, fromSchema),
		Constrained: set(output.Constrained),
	}
	c.putWord(&converted.Unknown, "contentType", output.ContentType)
	return converted, c.failed("")
}

func toOutput(output *modelio.OutputConfig) (*ai.ModelOutputConfig, error) {
	var c conversion
	converted := &ai.ModelOutputConfig{
		Format:      output.Format,
		Schema:      field(&c, "schema", output.Schema, toSchema),
		Constrained: orZero(output.Constrained),
	}
	unknown := spare(output.Unknown)
	c.take(unknown, "contentType", &converted.ContentType)
	return done(&c, converted, unknown)
}

// A document is a document that a request brings as context.
type document struct {
	Content  []modelio.Part `json:"content"`
	Metadata modelio.Object `json:"metadata,omitempty"`
}

func fromDocument(doc *ai.Document) (document, error) {
	var c conversion
	return document{
		Metadata: field(&c, "metadata", doc.Metadata, fromMap),
		Content:  field(&c, "", doc.Content, eachOf("part", fromPart)),
	}, c.failed("")
}

func toDocument(doc document) (*ai.Document, error) {
	var c conversion
	return &ai.Document{
		Metadata: field(&c, "metadata", doc.Metadata, toMap),
		Content:  field(&c, "", doc.Content, each("part", toPart)),
	}, c.failed("")
}

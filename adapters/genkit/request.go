package genkittraceforge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// fromRequest converts a request of Genkit's. Its documents, and a configuration that is no
// object, are in Unknown.
func fromRequest(req *ai.ModelRequest) (*modelio.GenerateRequest, error) {
	converted := &modelio.GenerateRequest{ToolChoice: modelio.ToolChoice(req.ToolChoice)}
	if err := fillRequest(converted, req); err != nil {
		return nil, fmt.Errorf("from genkit request: %w", err)
	}
	return converted, nil
}

func fillRequest(converted *modelio.GenerateRequest, req *ai.ModelRequest) (err error) {
	if converted.Messages, err = convertAll("message", req.Messages, fromMessage); err != nil {
		return err
	}
	if converted.Tools, err = convertAll("tool", req.Tools, fromTool); err != nil {
		return err
	}
	if req.Output != nil {
		if converted.Output, err = fromOutput(req.Output); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	config, err := fromValue(req.Config)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	switch {
	case len(config) == 0 || string(config) == "null":
	case bytes.HasPrefix(config, []byte("{")):
		if err := json.Unmarshal(config, &converted.Config); err != nil {
			return fmt.Errorf("config: %w", err)
		}
	default:
		if err := (*extra)(&converted.Unknown).put("config", config); err != nil {
			return err
		}
	}
	docs, err := convertAll("doc", req.Docs, fromDocument)
	if err != nil || docs == nil {
		return err
	}
	return (*extra)(&converted.Unknown).put("docs", docs)
}

// toRequest is the reverse of fromRequest. A configuration becomes a map, as it does when Genkit
// reads it from JSON.
func toRequest(req *modelio.GenerateRequest) (*ai.ModelRequest, error) {
	converted := &ai.ModelRequest{ToolChoice: ai.ToolChoice(req.ToolChoice)}
	if err := fillGenkitRequest(converted, req); err != nil {
		return nil, fmt.Errorf("to genkit request: %w", err)
	}
	return converted, nil
}

func fillGenkitRequest(converted *ai.ModelRequest, req *modelio.GenerateRequest) (err error) {
	if converted.Messages, err = convertAll("message", req.Messages, toMessage); err != nil {
		return err
	}
	if converted.Tools, err = convertAll("tool", req.Tools, toTool); err != nil {
		return err
	}
	if req.Output != nil {
		if converted.Output, err = toOutput(req.Output); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	unknown := spare(req.Unknown)
	if err := unknown.take("config", &converted.Config); err != nil {
		return err
	}
	if req.Config != nil {
		config, err := toMap(req.Config)
		if err != nil {
			return fmt.Errorf("config: %w", err)
		}
		converted.Config = config
	}
	var docs []document
	if err := unknown.take("docs", &docs); err != nil {
		return err
	}
	if converted.Docs, err = convertAll("doc", docs, toDocument); err != nil {
		return err
	}
	return unknown.none()
}

// convertAll converts the values of a list; nil stays nil.
func convertAll[From, To any](what string, values []From, convert func(From) (To, error)) ([]To, error) {
	if values == nil {
		return nil, nil
	}
	converted := make([]To, len(values))
	for i, value := range values {
		var err error
		if converted[i], err = convert(value); err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, i, err)
		}
	}
	return converted, nil
}

var errNil = errors.New("is nil")

func fromMessage(message *ai.Message) (converted modelio.Message, err error) {
	if message == nil {
		return converted, errNil
	}
	converted.Role = modelio.Role(message.Role)
	if converted.Metadata, err = fromMap(message.Metadata); err != nil {
		return converted, fmt.Errorf("metadata: %w", err)
	}
	converted.Content, err = convertAll("part", message.Content, fromPart)
	return converted, err
}

func toMessage(message modelio.Message) (*ai.Message, error) {
	metadata, err := toMap(message.Metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	content, err := convertAll("part", message.Content, toPart)
	if err != nil {
		return nil, err
	}
	return &ai.Message{Role: ai.Role(message.Role), Content: content, Metadata: metadata}, spare(message.Unknown).none()
}

func fromTool(tool *ai.ToolDefinition) (converted modelio.ToolDefinition, err error) {
	if tool == nil {
		return converted, errNil
	}
	converted.Name, converted.Description = tool.Name, tool.Description
	if converted.InputSchema, err = fromSchema(tool.InputSchema); err != nil {
		return converted, fmt.Errorf("inputSchema: %w", err)
	}
	if converted.OutputSchema, err = fromSchema(tool.OutputSchema); err != nil {
		return converted, fmt.Errorf("outputSchema: %w", err)
	}
	if converted.Metadata, err = fromMap(tool.Metadata); err != nil {
		return converted, fmt.Errorf("metadata: %w", err)
	}
	return converted, nil
}

func toTool(tool modelio.ToolDefinition) (*ai.ToolDefinition, error) {
	converted := &ai.ToolDefinition{Name: tool.Name, Description: tool.Description}
	var err error
	if converted.InputSchema, err = toSchema(tool.InputSchema); err != nil {
		return nil, fmt.Errorf("inputSchema: %w", err)
	}
	if converted.OutputSchema, err = toSchema(tool.OutputSchema); err != nil {
		return nil, fmt.Errorf("outputSchema: %w", err)
	}
	if converted.Metadata, err = toMap(tool.Metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return converted, spare(tool.Unknown).none()
}

func fromOutput(output *ai.ModelOutputConfig) (*modelio.OutputConfig, error) {
	converted := &modelio.OutputConfig{Format: output.Format}
	if output.Constrained {
		converted.Constrained = &output.Constrained
	}
	var err error
	if converted.Schema, err = fromSchema(output.Schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if output.ContentType != "" {
		err = (*extra)(&converted.Unknown).put("contentType", output.ContentType)
	}
	return converted, err
}

func toOutput(output *modelio.OutputConfig) (*ai.ModelOutputConfig, error) {
	schema, err := toSchema(output.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	converted := &ai.ModelOutputConfig{
		Format:      output.Format,
		Schema:      schema,
		Constrained: output.Constrained != nil && *output.Constrained,
	}
	unknown := spare(output.Unknown)
	if err := unknown.take("contentType", &converted.ContentType); err != nil {
		return nil, err
	}
	return converted, unknown.none()
}

// A document is one of the documents that a request brings as context.
type document struct {
	Content  []modelio.Part `json:"content"`
	Metadata modelio.Object `json:"metadata,omitempty"`
}

func fromDocument(doc *ai.Document) (converted document, err error) {
	if doc == nil {
		return converted, errNil
	}
	if converted.Metadata, err = fromMap(doc.Metadata); err != nil {
		return converted, fmt.Errorf("metadata: %w", err)
	}
	converted.Content, err = convertAll("part", doc.Content, fromPart)
	return converted, err
}

func toDocument(doc document) (*ai.Document, error) {
	metadata, err := toMap(doc.Metadata)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	content, err := convertAll("part", doc.Content, toPart)
	return &ai.Document{Content: content, Metadata: metadata}, err
}

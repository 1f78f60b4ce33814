package fakeprovider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// A Call is a request that the server received. The fields of the first group are copied from the wire; those of the
// second are parsed from it, and empty if the call was refused.
type Call struct {
	API    string // the wire format: "openai.chat"; empty if the path has no known format
	Method string
	Host   string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte

	Model    string
	Stream   bool
	Choices  int       // number of requested answers: OpenAI's n; at least 1
	Messages []Message // prompts and texts to embed are messages of the user
	Tools    []Tool
	Schema   json.RawMessage // JSON Schema that the answer must match; nil if there is none
	Files    []File          // files of a multipart form

	usageChunk bool     // OpenAI: stream_options.include_usage
	padding    bool     // OpenAI: stream_options.include_obfuscation
	packed     bool     // embeddings: encoded as base64
	dimensions int      // embeddings: the length of a vector; 0 for the default
	types      []string // embeddings of Cohere: the requested number types; nil if not specified
	images     bool     // Vertex AI: the model makes images

	traced bool // Bedrock's agents: the call has enableTrace

	form formFields // the fields of a multipart form
}

// A File is a part of a multipart form that has a file name.
type File struct {
	Field, Name string
	Content     []byte
}

// A Message is one turn of the conversation in a call.
type Message struct {
	Role        string // in the provider's own spelling
	Text        string // the text parts, joined
	ToolCalls   []ToolCall
	ToolResults []ToolResult
}

// A Tool is a function that the caller offers.
type Tool struct {
	Name   string
	Schema json.RawMessage // JSON Schema of its arguments; nil if there is none
}

// A ToolResult is the result of a tool call.
type ToolResult struct {
	ID   string // id of the tool call
	Name string // name of the tool, in formats that include it
	Text string
}

// LastUser returns the text of the last message written by the user.
func (c Call) LastUser() string {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role == "user" && len(m.ToolResults) == 0 {
			return m.Text
		}
	}
	return ""
}

// ToolResults returns the results at the end of the conversation, which the model has not answered yet.
func (c Call) ToolResults() []ToolResult {
	var results []ToolResult
	for i := len(c.Messages) - 1; i >= 0 && len(c.Messages[i].ToolResults) > 0; i-- {
		results = append(append([]ToolResult{}, c.Messages[i].ToolResults...), results...)
	}
	return results
}

func (c Call) offers(tool string) bool {
	for _, t := range c.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

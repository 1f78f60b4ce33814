package fakeprovider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// A Call is a request that the server received. The first group of fields is what came over
// the wire; the second is what it says, empty where the call was refused.
type Call struct {
	API    string // the wire format: "openai.chat"; empty means a path of no known format
	Method string
	Host   string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte

	Model    string
	Stream   bool
	Choices  int       // how many answers are asked for: OpenAI's n; at least 1
	Messages []Message // prompts and texts to embed are messages of the user
	Tools    []Tool
	Schema   json.RawMessage // the JSON Schema that the answer must fit; nil means it need fit none
	Files    []File          // of a multipart form

	usageChunk bool     // OpenAI: stream_options.include_usage
	padding    bool     // OpenAI: stream_options.include_obfuscation
	packed     bool     // embeddings: as base64
	dimensions int      // embeddings: the length of a vector; 0 means the usual one
	types      []string // embeddings of Cohere: as what numbers; nil means not said
	images     bool     // Vertex AI: the model makes images

	traced bool // Bedrock's agents: enableTrace

	form formFields // of a multipart form
}

// A File is a part of a multipart form that has a file's name.
type File struct {
	Field, Name string
	Content     []byte
}

// A Message is one turn of the conversation that a call carries.
type Message struct {
	Role        string // the provider's own word
	Text        string // the text parts, joined
	ToolCalls   []ToolCall
	ToolResults []ToolResult
}

// A Tool is a function that the caller offers.
type Tool struct {
	Name   string
	Schema json.RawMessage // JSON Schema of its arguments; nil means it has none
}

// A ToolResult is what a tool that the model called answered.
type ToolResult struct {
	ID   string // of the tool call
	Name string // where the format has it
	Text string
}

// LastUser returns the text of the last message that is the user's own words.
func (c Call) LastUser() string {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role == "user" && len(m.ToolResults) == 0 {
			return m.Text
		}
	}
	return ""
}

// ToolResults returns the results at the end of the conversation: those that the model has
// not answered yet.
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

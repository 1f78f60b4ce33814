// Package conformance reads the cases of testdata/conformance, and judges answers by them.
package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Case is one of the twelve capabilities that Genkit's model conformance asks about.
type Case struct {
	Name, Why string
	Stream    bool
	Needs     []string // what a model has to support
	Request   modelio.GenerateRequest
	Answer    Answer
	Holds     []string // what must hold of an answer
}

// An Answer is what a stand-in for a model says, so that a case holds.
type Answer struct {
	Text        string
	ToolRequest *struct {
		Name  string
		Input json.RawMessage
	}
	Media *struct{ ContentType, Data string }
}

// Load returns the cases in a directory, by name.
func Load(dir fs.FS) ([]Case, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		var c Case
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.Name != strings.TrimSuffix(path.Base(name), ".json") || c.Why == "" || len(c.Holds) == 0 {
			return nil, fmt.Errorf("%s: want the name of its file, a reason, and what holds", name)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Holds reports whether what a case says holds of an answer: of its response, or of its chunks.
func Holds(what string, response *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) (bool, error) {
	rule, argument, _ := strings.Cut(what, ":")
	var parts []modelio.Part
	if response.Message != nil {
		parts = response.Message.Content
	}
	if streamed, ok := strings.CutPrefix(rule, "stream-"); ok {
		rule, parts = streamed, nil
		for _, chunk := range chunks {
			parts = append(parts, chunk.Content...)
		}
	}
	var text strings.Builder
	for _, part := range parts {
		if part.Text != nil {
			text.WriteString(*part.Text)
		}
	}
	switch rule {
	case "has-tool-request":
		return slices.ContainsFunc(parts, func(p modelio.Part) bool {
			return p.ToolRequest != nil && p.ToolRequest.Name == argument && !p.ToolRequest.Partial
		}), nil
	case "valid-json":
		return json.Valid([]byte(text.String())), nil
	case "text-includes":
		return strings.Contains(strings.ToLower(text.String()), strings.ToLower(argument)), nil
	case "text-starts-with":
		return strings.HasPrefix(strings.TrimSpace(text.String()), argument), nil
	case "text-not-empty":
		return strings.TrimSpace(text.String()) != "", nil
	case "valid-media":
		return slices.ContainsFunc(parts, func(p modelio.Part) bool {
			return p.Media != nil && strings.HasPrefix(p.Media.ContentType, argument+"/")
		}), nil
	}
	return false, fmt.Errorf("unknown rule %s", what)
}

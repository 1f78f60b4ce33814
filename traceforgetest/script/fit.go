package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/traceforge/traceforge-go/modelio"
)

// may reports whether the step's kind fits the request: a failure fits any.
func (a *question) may(s *content) bool {
	to, known := apis[a.call.API]
	return s.Failure != nil || known && a.refused == "" && to.embeds == s.Embeds
}

// takes returns an error if the API could not give the step's answer.
func (a *question) takes(s *content) error {
	to := apis[a.call.API]
	name := a.call.API
	switch {
	case s.Failure != nil:
		return nil
	case s.Embeds:
		return a.takesVectors(s)
	case len(s.Calls) > 0 && !to.calls:
		return fmt.Errorf("%s has no calls of tools", name)
	case s.Reasoning != "" && !to.reasons:
		return fmt.Errorf("%s has no reasoning", name)
	case s.Refusal != "" && !to.refuses:
		return fmt.Errorf("%s has no word for a refusal: say it as a text", name)
	}
	if _, there := to.finish[s.Finish]; s.Finish != "" && !there {
		return fmt.Errorf("%s never ends with %q", name, s.Finish)
	}
	if err := a.takesCalls(s); err != nil {
		return err
	}
	return a.takesText(s)
}

func (a *question) takesVectors(s *content) error {
	for _, v := range s.Vectors {
		if slices.ContainsFunc(v, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }) {
			return errors.New("a vector has a number that JSON does not")
		}
	}
	if len(s.Vectors) > len(a.call.Messages) {
		return fmt.Errorf("it has %d vectors, and the request %d texts", len(s.Vectors), len(a.call.Messages))
	}
	return nil
}

// takesCalls checks the step's tool calls against the tools that the request offers and forces.
func (a *question) takesCalls(s *content) error {
	offered := a.offered()
	for _, c := range s.Calls {
		switch {
		case len(offered) == 0:
			return fmt.Errorf("it calls %q, and the request offers no tool", c.Tool)
		case !slices.Contains(offered, c.Tool):
			return fmt.Errorf("it calls %q, and the request offers %s", c.Tool, strings.Join(offered, ", "))
		case a.choice.none:
			return fmt.Errorf("it calls %q, and the request wants no call", c.Tool)
		case len(a.choice.tools) > 0 && !slices.Contains(a.choice.tools, c.Tool):
			return fmt.Errorf("it calls %q, and the request forces %s", c.Tool, strings.Join(a.choice.tools, ", "))
		}
		if schema := a.strictly(c.Tool); schema != nil {
			if err := fits(schema, c.Arguments); err != nil {
				return fmt.Errorf("the arguments of %q break its schema, which is strict: %w", c.Tool, err)
			}
		}
	}
	switch {
	case a.single && len(s.Calls) > 1:
		return fmt.Errorf("it calls %d tools, and the request allows one call at a time", len(s.Calls))
	case !a.choice.forced || s.Refusal != "" || s.Finish == modelio.FinishBlocked:
		return nil
	case len(s.Calls) == 0:
		return errors.New("it calls no tool, and the request forces one")
	case len(s.Pieces) > 0:
		return errors.New("it says a text beside a tool that the request forces, and the API gives none then")
	}
	return nil
}

// strictly returns the schema of a strict tool, or nil.
func (a *question) strictly(tool string) json.RawMessage {
	for _, t := range a.request.Tools {
		var function struct{ Strict bool }
		_ = json.Unmarshal(t.Metadata["function"], &function) // another form has no strict
		if t.Name == tool && (function.Strict || string(t.Metadata["strict"]) == "true") {
			return t.InputSchema
		}
	}
	return nil
}

// takesText checks the step's text against the schema that the request asks for.
func (a *question) takesText(s *content) error {
	text := strings.Join(s.Pieces, "")
	if len(a.call.Schema) == 0 || len(s.Calls) > 0 || s.Refusal != "" || s.Finish == modelio.FinishLength ||
		s.Finish == modelio.FinishBlocked {
		return nil
	}
	if err := fits(a.call.Schema, text); err != nil {
		return fmt.Errorf("its text breaks the schema that the request asks for: %w", err)
	}
	return nil
}

// fits validates a JSON text against a schema.
func fits(schema json.RawMessage, text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%q is no JSON", short(text))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("the schema is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	if err := c.AddResource(schemaURL, lowered(doc)); err != nil {
		return fmt.Errorf("the schema cannot be read: %w", err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return fmt.Errorf("the schema cannot be read: %w", err)
	}
	var wrong *jsonschema.ValidationError
	if err := compiled.Validate(v); errors.As(err, &wrong) {
		for len(wrong.Causes) > 0 {
			wrong = wrong.Causes[0]
		}
		return errors.New(strings.ReplaceAll(
			strings.TrimPrefix(wrong.Error(), "jsonschema validation failed with '"+schemaURL+"#'\n- "), "\n", " "))
	} else if err != nil {
		return err
	}
	return nil
}

// schemaURL stands for the URL of a schema that has none.
const schemaURL = "mem:///schema"

// lowered returns a schema with its types in lower case, since Google's schemas have them in capitals.
func lowered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if text, ok := inner.(string); ok && name == "type" {
				v[name] = strings.ToLower(text)
				continue
			}
			lowered(inner)
		}
	case []any:
		for _, inner := range v {
			lowered(inner)
		}
	}
	return v
}

package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// isOfType returns the begins of an API whose streams have an event of this type.
func isOfType(kind string) func(string, jsontext.Value) bool {
	return func(_ string, event jsontext.Value) bool { return event.Member("type").Word() == kind }
}

// Known reports whether the generic codec decodes an answer as another codec does, whose form it has.
func Known(a *Answer) bool {
	if a.Events() != nil {
		return formOf(a, registered) != nil
	}
	doc, err := parseAnswer(a.Body)
	return err == nil && formOfWhole(doc.Root(), registered) != nil
}

// speaking are the members by which answers say what a model said. One with two of them says two things, of which a
// codec would leave one out.
var speaking = []string{"candidates", "choices", "completion", "content", "generations", "message", "output", "response"}

// formOfWhole returns the codec that a whole answer looks like; nil for none that is known, and for more than one.
func formOfWhole(body jsontext.Value, known []*Codec) *Codec {
	said := 0
	for _, name := range speaking {
		if v := body.Member(name); v.Present() && !v.IsNull() {
			said++
		}
	}
	for _, c := range known {
		if said == 1 && c.looks != nil && c.looks(body) {
			return c
		}
	}
	return nil
}

// formOf returns the codec that the events of a stream look like; nil for none that is known, and for more than one.
func formOf(a *Answer, known []*Codec) (found *Codec) {
	chunks, typed := false, false // events of chat completions or of Gemini, which have no type, and those that have one
	events := a.Events()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		doc, err := jsontext.Parse(event.Data)
		if err != nil {
			continue
		}
		root, first := doc.Root(), found == nil
		for _, c := range known {
			if c.begins == nil || !c.begins(event.Name, root) {
				continue
			}
			if found != nil && found != c {
				return nil
			}
			found = c
		}
		if first && found == nil {
			return nil
		}
		chunks = chunks || root.Member("choices").Present() || root.Member("candidates").Present()
		typed = typed || root.Member("type").IsString()
	}
	if chunks && typed {
		return nil
	}
	return found
}

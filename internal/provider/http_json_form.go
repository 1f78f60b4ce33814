package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A form is what the answers of an API look like, from their members alone.
type form struct {
	whole  func(body jsontext.Value) bool
	event  func(name string, first jsontext.Value) bool // of a stream
	decode decoder
	stream folding
}

// forms are those that answers of many hosts have.
var forms = []form{
	{
		whole:  func(body jsontext.Value) bool { return body.Member("choices").IsArray() },
		event:  func(_ string, e jsontext.Value) bool { return e.Member("choices").IsArray() },
		decode: completion, stream: chatStream,
	}, {
		whole: func(body jsontext.Value) bool {
			return body.Member("content").IsArray() && body.Member("stop_reason").Present() &&
				body.Member("role").Word() == "assistant"
		},
		event:  func(_ string, e jsontext.Value) bool { return e.Member("type").Word() == "message_start" },
		decode: claudeAnswer, stream: claudeStream,
	}, {
		whole: func(body jsontext.Value) bool {
			return body.Member("output").IsArray() && body.Member("object").Word() == "response"
		},
		event:  func(_ string, e jsontext.Value) bool { return e.Member("type").Word() == "response.created" },
		decode: responsesAnswer, stream: responsesStream,
	}, {
		whole: func(body jsontext.Value) bool {
			return elementOf(body.Member("candidates")).Member("content").IsObject()
		},
		event:  func(_ string, e jsontext.Value) bool { return e.Member("candidates").IsArray() },
		decode: generateAnswer, stream: generateStream,
	}, {
		whole: func(body jsontext.Value) bool {
			return body.Member("output", "message").IsObject() && body.Member("stopReason").Present()
		},
		event:  func(name string, _ jsontext.Value) bool { return name == "messageStart" },
		decode: converseAnswer, stream: converseStream,
	}, {
		whole: func(body jsontext.Value) bool {
			return body.Member("message").IsObject() && body.Member("finish_reason").Present()
		},
		event:  func(_ string, e jsontext.Value) bool { return e.Member("type").Word() == "message-start" },
		decode: cohereAnswer, stream: cohereStream,
	}, {
		whole:  isOllamas,
		event:  func(_ string, e jsontext.Value) bool { return isOllamas(e) },
		decode: ollamaAnswer, stream: ollamaStream,
	},
}

func isOllamas(v jsontext.Value) bool {
	return v.Member("done").Present() && (v.Member("message").IsObject() || v.Member("response").IsString())
}

// Known reports whether the generic codec decodes an answer as another codec does, whose form it has.
func Known(a *Answer) bool {
	if a.Events() != nil {
		return formOf(a, forms) != nil
	}
	doc, err := parseAnswer(a.Body)
	return err == nil && formOfWhole(doc.Root(), forms) != nil
}

// speaking are the members by which forms say what a model said. An answer with two of them says two things, of
// which a form would leave one out.
var speaking = []string{"candidates", "choices", "completion", "content", "generations", "message", "output", "response"}

// formOfWhole returns the form that a whole answer has; nil for none that is known, and for more than one.
func formOfWhole(body jsontext.Value, known []form) *form {
	said := 0
	for _, name := range speaking {
		if v := body.Member(name); v.Present() && !v.IsNull() {
			said++
		}
	}
	for i := range known {
		if said == 1 && known[i].whole(body) {
			return &known[i]
		}
	}
	return nil
}

// formOf returns the form that the events of a stream have; nil for none that is known, and for more than one.
func formOf(a *Answer, known []form) (found *form) {
	chunks, typed := false, false // events of chat completions or of Gemini, which have no type, and those that have one
	events := a.Events()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		doc, err := jsontext.Parse(event.Data)
		if err != nil {
			continue
		}
		first := found == nil
		for i := range known {
			if !known[i].event(event.Name, doc.Root()) {
				continue
			}
			if found != nil && found != &known[i] {
				return nil
			}
			found = &known[i]
		}
		if first && found == nil {
			return nil
		}
		root := doc.Root()
		chunks = chunks || root.Member("choices").Present() || root.Member("candidates").Present()
		typed = typed || root.Member("type").IsString()
	}
	if chunks && typed {
		return nil
	}
	return found
}

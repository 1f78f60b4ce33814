package modeltest

import (
	"bytes"
	"context"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// judge checks an answer by itself, and reports whether it can be judged further.
func (c *checker) judge(name string, p probe, response *modelio.GenerateResponse) bool {
	if response == nil || response.Message == nil && response.FinishReason != modelio.FinishBlocked {
		c.breach(name, breach(RuleMessage, "there is neither a message nor an error"))
		return false
	}
	switch response.FinishReason {
	case modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked, modelio.FinishOther:
	default:
		c.breach(name,
			breach(RuleFinishReason, "finishReason is %q, not stop, length, blocked or other", response.FinishReason))
	}
	if response.Message == nil {
		return false
	}
	if response.Message.Role != modelio.RoleModel {
		c.breach(name, breach(RuleRole, "the message has role %q", response.Message.Role))
	}
	if b := contentBreach(response.Message.Content, p.request.Tools); b != nil {
		c.breach(name, b)
		return false
	}
	if _, err := response.MarshalJSON(); err != nil {
		c.breach(name, breach(RuleMessage, "the response has no JSON form: %v", err))
		return false
	}
	if p.verdict == nil || response.FinishReason == modelio.FinishLength ||
		response.FinishReason == modelio.FinishBlocked {
		return true
	}
	if detail := p.verdict(response.Message); detail != "" {
		c.breach(name, breach(p.demands, "%s", detail))
	}
	return true
}

// contentBreach returns what is wrong with the content of an answer, or nil.
func contentBreach(content []modelio.Part, tools []modelio.ToolDefinition) *Breach {
	offered := map[string]bool{}
	for _, tool := range tools {
		offered[tool.Name] = true
	}
	refs := map[string]bool{}
	for i, part := range content {
		if _, err := part.MarshalJSON(); err != nil {
			return breach(RulePart, "part %d has no JSON form: %v", i, err)
		}
		if isKindless(&part) {
			return breach(RulePart, "part %d is of no kind", i)
		}
		if part.Media != nil && part.Media.URL == "" {
			return breach(RulePart, "part %d is media without a url", i)
		}
		request := part.ToolRequest
		if request == nil {
			continue
		}
		_, spelled := request.Unknown["partial"]
		switch {
		case request.Partial || spelled:
			return breach(RuleToolRequest, "part %d, %s, has the partial field", i, toolName(request))
		case !offered[request.Name]:
			return breach(RuleToolOffered, "part %d, %s, is of no tool that was offered", i, toolName(request))
		case !bytes.HasPrefix(request.Input, []byte("{")):
			return breach(RuleToolRequest, "part %d, %s, has no object as input: %q", i, toolName(request), request.Input)
		case request.Ref != "" && refs[request.Ref]:
			return breach(RuleToolRef, "part %d, %s, has the ref of another part", i, toolName(request))
		}
		refs[request.Ref] = true
	}
	return nil
}

// isKindless reports whether p has no kind, neither one of GK's nor an unknown one.
func isKindless(p *modelio.Part) bool {
	return p.Text == nil && p.Media == nil && p.ToolRequest == nil && p.ToolResponse == nil &&
		p.Reasoning == nil && p.Custom == nil && len(p.Unknown) == 0
}

// A chunkLog records the chunks that a callback gets. It holds copies, since a model may reuse a chunk.
type chunkLog struct {
	chunks []*modelio.GenerateResponseChunk
	bad    *Breach
}

// callback returns the callback for a model, or nil without streaming.
func (l *chunkLog) callback(stream bool) modelio.StreamFunc {
	if !stream {
		return nil
	}
	return l.add
}

func (l *chunkLog) add(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
	kept := new(modelio.GenerateResponseChunk)
	data, err := []byte(nil), error(nil)
	if chunk == nil {
		err = fmt.Errorf("it is nil")
	} else if data, err = chunk.MarshalJSON(); err == nil {
		err = kept.UnmarshalJSON(data)
	}
	if err != nil && l.bad == nil {
		l.bad = breach(RulePart, "chunk %d has no JSON form: %v", len(l.chunks), err)
	}
	l.chunks = append(l.chunks, kept)
	return nil
}

// breach returns what is wrong with the chunks of response, or nil.
func (l *chunkLog) breach(response *modelio.GenerateResponse) *Breach {
	if l.bad != nil {
		return l.bad
	}
	content := normalContent(response.Message.Content)
	if len(l.chunks) == 0 && len(content) > 0 {
		return breach(RuleStreamChunks, "there are no chunks")
	}
	aggregate, err := Aggregate(l.chunks)
	if err != nil {
		return err.(*Breach) // Aggregate returns no other errors
	}
	if got, want := contentJSON(content), contentJSON(aggregate.Content); got != want {
		return breach(RuleStreamAggregate, "the chunks make %s, but the answer is %s",
			jsontext.Excerpt(want), jsontext.Excerpt(got))
	}
	return nil
}

// normalContent returns content in the normal form of [Aggregate].
func normalContent(content []modelio.Part) []modelio.Part {
	message, err := Aggregate([]*modelio.GenerateResponseChunk{{Content: content}})
	if err != nil {
		return content // unreachable: contentBreach has checked its tool requests
	}
	return message.Content
}

// contentJSON returns a canonical text of content, for comparison.
func contentJSON(content []modelio.Part) string {
	data, _ := modelio.Message{Content: content}.MarshalJSON() // contentBreach has checked the parts
	data, _ = canon.KeepNumbers(data)
	return string(data)
}

// sayJSON returns a canonical text of an answer, for comparison. Generated refs do not affect it (design R8).
func sayJSON(response *modelio.GenerateResponse) string {
	normal, _ := modelio.NormalizeRefs([]modelio.Message{{Content: normalContent(response.Message.Content)}})
	return string(response.FinishReason) + " " + contentJSON(normal[0].Content)
}

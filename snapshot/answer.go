package snapshot

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// An answer is a candidate as files have it.
type answer struct {
	content   string
	reason    modelio.FinishReason
	reasonRaw string
	calls     []modelio.ToolRequest
	parts     []modelio.Part // where content and calls do not say it all; nil: they do
}

// answerOf returns c as files have it.
func answerOf(c *modelio.Candidate) answer {
	a := answer{reason: c.FinishReason, reasonRaw: c.FinishReasonRaw}
	if a.reason == "" {
		a.reason = modelio.FinishOther
	}
	said := c.Message.Content
	a.content, a.calls = contentOf(said), callsOf(said)
	if !isPlain(said, len(a.calls)) {
		a.parts = said
	}
	return a
}

// candidate is the inverse of answerOf.
func (a *answer) candidate() modelio.Candidate {
	c := modelio.Candidate{FinishReason: a.reason, FinishReasonRaw: a.reasonRaw}
	c.Message.Role = modelio.RoleModel
	c.Message.Content = a.parts
	if a.parts != nil {
		return c
	}
	if a.content != "" {
		c.Message.Content = append(c.Message.Content, modelio.TextPart(a.content))
	}
	for i := range a.calls {
		c.Message.Content = append(c.Message.Content, modelio.Part{ToolRequest: &a.calls[i]})
	}
	return c
}

// contentOf returns all texts of an answer as one.
func contentOf(parts []modelio.Part) string {
	if len(parts) == 1 && parts[0].Text != nil {
		return *parts[0].Text
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].Text != nil {
			b.WriteString(*parts[i].Text)
		}
	}
	return b.String()
}

// callsOf returns the tool calls of an answer that the caller is to run: those that the provider
// runs itself are answered in the same message, or say so in their type.
func callsOf(parts []modelio.Part) (calls []modelio.ToolRequest) {
	var answered map[string]bool
	for i := range parts {
		if r := parts[i].ToolResponse; r != nil && r.Ref != "" {
			if answered == nil {
				answered = map[string]bool{}
			}
			answered[r.Ref] = true
		}
	}
	for i := range parts {
		call := parts[i].ToolRequest
		if call == nil || answered[call.Ref] || bytes.HasSuffix(parts[i].Metadata["type"], []byte(`_tool_use"`)) {
			continue
		}
		calls = append(calls, modelio.ToolRequest{Name: call.Name, Ref: call.Ref, Input: call.Input})
	}
	return calls
}

// isPlain reports whether a text and so many calls say all that parts do: one text, which is not
// empty, before the calls, and no metadata.
func isPlain(parts []modelio.Part, calls int) bool {
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.Metadata) > 0 || len(p.Unknown) > 0 || p.Custom != nil || kinds(p) != 1:
			return false
		case p.Text != nil:
			if i > 0 || *p.Text == "" && len(parts) > 1 {
				return false
			}
		case p.ToolRequest == nil || p.ToolRequest.Partial || len(p.ToolRequest.Unknown) > 0:
			return false
		default:
			calls--
		}
	}
	return calls == 0
}

// response is the response of a call.
func (c *coder) response(r *Response) bool {
	var a answer
	var others []answer
	if !c.reading() && len(r.Candidates) > 0 {
		a = answerOf(&r.Candidates[0])
		for i := range r.Candidates[1:] {
			others = append(others, answerOf(&r.Candidates[i+1]))
		}
	} else if !c.reading() {
		a.reason = modelio.FinishOther
	}
	var before *Response // what this one has of it is left out
	if c.base != nil {
		before = &c.base.Response
		if c.reading() {
			r.Headers, r.Model, r.Status = maps.Clone(before.Headers), before.Model, before.Status
			a.reasonRaw = before.reasonRaw()
		}
	}
	whole := c.object(nil, func() {
		if before != nil {
			c.top().inherits = []string{"finish_reason_raw", "model", "status"}
		}
		list(c, "candidates", optional, &others, func(a *answer) { c.object(nil, func() { c.candidate(a) }) })
		c.pieces("content", required, &a.content)
		c.providerError(&r.Error)
		c.finish(&a, before)
		c.headers(&r.Headers, before)
		c.text("incomplete", optional, &r.Incomplete, incomplete)
		c.integer("latency_ms", required, &r.LatencyMS, 0)
		if c.differs("model", before != nil && before.Model == r.Model, r.Model == "") {
			c.text("model", optional, &r.Model, nil)
		}
		list(c, "parts", optional, &a.parts, c.part)
		c.hash("raw_output_ref", optional, &r.RawOutputRef)
		if status := int64(r.Status); c.differs("status", before != nil && before.Status == r.Status, status == 0) {
			c.integer("status", optional, &status, 0)
			r.Status = int(status)
		}
		list(c, "timing_ms", optional, &r.TimingMS, c.milliseconds)
		c.count("tokens_used", nullable, &r.TokensUsed)
		c.toolCalls(&a)
		c.usage(&r.Usage, before)
		c.agree(&a)
	})
	if !c.reading() || !whole {
		return whole
	}
	if r.Error == nil || a.content != "" || a.parts != nil || a.calls != nil || a.reasonRaw != "" || others != nil ||
		a.reason != modelio.FinishOther {
		r.Candidates = append(r.Candidates, a.candidate())
	}
	for i := range others {
		r.Candidates = append(r.Candidates, others[i].candidate())
	}
	return true
}

// reasonRaw returns the provider's word for why the first answer ended.
func (r *Response) reasonRaw() string {
	if len(r.Candidates) == 0 {
		return ""
	}
	return r.Candidates[0].FinishReasonRaw
}

// differs reports whether to go on to a member that is left out where it is the same in the answer of
// the call that is continued. It writes null where that has one and this answer has none.
func (c *coder) differs(name string, same, none bool) bool {
	if c.reading() || len(c.top().inherits) == 0 {
		return true
	}
	if none && !same {
		c.writeNull(name)
	}
	return !same && !none
}

// headers is an object of arrays of strings. Those that are the same in the answer of the call that
// is continued are left out; null: that has it, and this one has not.
func (c *coder) headers(h *map[string][]string, before *Response) {
	mine, other := *h, map[string][]string(nil)
	if before != nil {
		other = before.Headers
	}
	var names []string
	if !c.reading() {
		for name, values := range mine {
			if was, ok := other[name]; !ok || !slices.Equal(was, values) {
				names = append(names, name)
			}
		}
		for name := range other {
			if _, ok := mine[name]; !ok {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, c.order())
	}
	if c.member("headers", optional, len(names) == 0) != here {
		return
	}
	defer c.leave()
	at := c.at
	if c.reading() {
		for name := range at.Members() {
			names = append(names, name)
		}
		if mine == nil {
			mine = map[string][]string{}
		}
	}
	c.object(nil, func() {
		c.top().inheritsAll = before != nil
		for _, name := range names {
			values, ok := mine[name]
			if !ok && !c.reading() {
				c.writeNull(name)
				continue
			}
			list(c, name, optional, &values, c.word)
			if mine[name] = values; c.reading() && values == nil {
				delete(mine, name)
			}
		}
	})
	if c.reading() && len(names) == 0 && at.IsObject() {
		c.emptied()
	}
	if *h = mine; len(mine) == 0 {
		*h = nil
	}
}

// candidate is a further answer to the same request.
func (c *coder) candidate(a *answer) {
	c.pieces("content", required, &a.content)
	c.finish(a, nil)
	list(c, "parts", optional, &a.parts, c.part)
	c.toolCalls(a)
	c.agree(a)
}

func (c *coder) finish(a *answer, before *Response) {
	c.text("finish_reason", required, (*string)(&a.reason), finishReason)
	if c.form != inCore && c.differs("finish_reason_raw", before != nil && before.reasonRaw() == a.reasonRaw, a.reasonRaw == "") {
		c.text("finish_reason_raw", optional, &a.reasonRaw, nil)
	}
}

func (c *coder) toolCalls(a *answer) {
	list(c, "tool_calls", optional, &a.calls, func(t *modelio.ToolRequest) {
		c.object(nil, func() {
			c.raw("input", &t.Input)
			c.text("name", required, &t.Name, nil)
			c.text("ref", required, &t.Ref, nil)
		})
	})
}

// agree checks that a reader who looks at content and tool_calls alone sees what parts say.
func (c *coder) agree(a *answer) {
	if !c.reading() || a.parts == nil {
		return
	}
	if a.content != contentOf(a.parts) {
		c.report(RuleParts, "must be what the texts of parts say", "content")
	}
	calls := callsOf(a.parts)
	agree := len(calls) == len(a.calls)
	for i := 0; agree && i < len(calls); i++ {
		x, y := &calls[i], &a.calls[i]
		agree = x.Name == y.Name && x.Ref == y.Ref && sameJSON(x.Input, y.Input)
	}
	if !agree {
		c.report(RuleParts, "must be the tool calls of parts that the caller is to run", "tool_calls")
	}
}

// sameJSON reports whether two values that were read say the same.
func sameJSON(a, b json.RawMessage) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func (c *coder) providerError(e **modelio.ProviderError) {
	if c.member("error", optional, *e == nil) != here {
		return
	}
	if c.reading() {
		*e = &modelio.ProviderError{}
	}
	status := int64((*e).Status)
	c.object(nil, func() {
		c.text("code", optional, &(*e).Code, nil)
		c.pieces("message", required, &(*e).Message)
		c.integer("status", optional, &status, 0)
		c.text("type", optional, &(*e).Type, nil)
	})
	(*e).Status = int(status)
	c.leave()
}

// usage is the token counts. Those of a part of the tokens are mostly what they were in the answer of
// the call that is continued, and left out then.
func (c *coder) usage(u **modelio.Usage, before *Response) {
	if c.member("usage", optional, *u == nil) != here {
		return
	}
	if c.reading() {
		*u = &modelio.Usage{}
	}
	was := &modelio.Usage{}
	if before != nil && before.Usage != nil {
		was = before.Usage
	}
	c.object(nil, func() {
		if before != nil {
			c.top().inherits = []string{"cache_read", "cache_write", "reasoning"}
		}
		c.countAsBefore("cache_read", &(*u).CachedContentTokens, was.CachedContentTokens)
		c.countAsBefore("cache_write", &(*u).CacheWriteTokens, was.CacheWriteTokens)
		c.count("input", optional, &(*u).InputTokens)
		c.count("output", optional, &(*u).OutputTokens)
		c.countAsBefore("reasoning", &(*u).ThoughtsTokens, was.ThoughtsTokens)
		c.count("total", optional, &(*u).TotalTokens)
	})
	c.leave()
}

func (c *coder) countAsBefore(name string, n **int64, was *int64) {
	if c.reading() {
		*n = was
	}
	same := *n == nil && was == nil || *n != nil && was != nil && **n == *was
	if c.differs(name, same, *n == nil) {
		c.count(name, optional, n)
	}
}

// core are the members of a response that say how the model behaves (design R3).
func (c *coder) core(r *Response) {
	var a answer
	var others []answer
	a.reason = modelio.FinishOther
	for i := range r.Candidates {
		if i == 0 {
			a = answerOf(&r.Candidates[i])
		} else {
			others = append(others, answerOf(&r.Candidates[i]))
		}
	}
	c.object(nil, func() {
		list(c, "candidates", optional, &others, func(a *answer) { c.object(nil, func() { c.candidate(a) }) })
		c.pieces("content", required, &a.content)
		c.providerError(&r.Error)
		c.finish(&a, nil)
		list(c, "parts", optional, &a.parts, c.part)
		c.toolCalls(&a)
	})
}

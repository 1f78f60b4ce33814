package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// An answer is a candidate in the form of files.
type answer struct {
	content   string
	reason    modelio.FinishReason
	reasonRaw string
	calls     []modelio.ToolRequest
	citations []modelio.Citation
	parts     []modelio.Part // nil if content and calls cover everything
}

// answerOf returns c in the form of files.
func answerOf(c *modelio.Candidate) answer {
	a := answer{reason: cmp.Or(c.FinishReason, modelio.FinishOther), reasonRaw: c.FinishReasonRaw, citations: c.Citations}
	said := c.Message.Content
	a.content, a.calls = texts.Join(said), texts.Calls(said)
	if !texts.IsPlain(said, len(a.calls)) {
		a.parts = said
	}
	return a
}

// candidate is the inverse of answerOf.
func (a *answer) candidate() modelio.Candidate {
	c := modelio.Candidate{FinishReason: a.reason, FinishReasonRaw: a.reasonRaw, Citations: a.citations}
	c.Message.Role = modelio.RoleModel
	c.Message.Content = a.parts
	if a.parts != nil {
		return c
	}
	if a.content != "" {
		one := &plain{text: a.content}
		one.parts[0].Text = &one.text
		c.Message.Content = one.parts[:]
	}
	for i := range a.calls {
		c.Message.Content = append(c.Message.Content, modelio.Part{ToolRequest: &a.calls[i]})
	}
	return c
}

// response reads or writes the response of a call; in cores, only the members that describe the model's behavior
// (design R3).
func (c *coder) response(r *Response) {
	first, others := &c.room.first, &c.room.others
	*first, *others = answer{reason: modelio.FinishOther}, nil
	switch {
	case !c.reading():
		for i := range r.Candidates {
			if i == 0 {
				*first = answerOf(&r.Candidates[0])
			} else {
				*others = append(*others, answerOf(&r.Candidates[i]))
			}
		}
	case c.base != nil:
		before := &c.base.Response
		r.Model, r.Status = before.Model, before.Status
		first.reasonRaw = before.reasonRaw()
	}
	inFiles := c.form != inCore
	whole := c.object(nil, func() {
		c.sfOrder(sfResponse)
		c.inherit("response/", "finish_reason_raw", "model", "status")
		if inFiles {
			c.said(first)
		}
		list(c, "candidates", optional, others, func(a *answer) { c.object(nil, func() { c.candidate(a) }) })
		if inFiles {
			c.citations(first)
		} else {
			c.pieces("content", required, &first.content)
		}
		pointer(c, "error", optional, &r.Error, c.providerError)
		c.finish(first)
		if inFiles {
			c.headers(r)
			c.text("incomplete", optional, &r.Incomplete, isCut)
			integer(c, "latency_ms", required, &r.LatencyMS, 0)
			c.text("model", optional, &r.Model, nil)
			c.text("note", optional, &r.Note, nil)
			c.hash("raw_output_ref", optional, &r.RawOutputRef)
			if !c.old {
				c.readings(&r.Readings)
				integer(c, "readings_more", optional, &r.ReadingsMore, 1)
				c.checkReadings(r)
			}
			c.hash("stale", optional, &r.Stale)
			integer(c, "status", optional, &r.Status, 0)
			list(c, "timing_ms", optional, &r.TimingMS, c.count)
			pointer(c, "tokens_used", nullable, &r.TokensUsed, c.count)
			pointer(c, "usage", optional, &r.Usage, c.usage)
			if c.reading() {
				c.contentType(r)
			}
		} else {
			list(c, "parts", optional, &first.parts, c.part)
			c.toolCalls(first)
		}
		c.agree(first)
	})
	if !c.reading() || !whole {
		return
	}
	if r.Error == nil || *others != nil || !first.isNone() {
		r.Candidates = append(r.Candidates, first.candidate())
	}
	for i := range *others {
		r.Candidates = append(r.Candidates, (*others)[i].candidate())
	}
}

// isNone reports whether a is the answer in the file of a call that was answered only by an error.
func (a *answer) isNone() bool {
	return a.content == "" && a.parts == nil && a.calls == nil && a.citations == nil &&
		a.reasonRaw == "" && a.reason == modelio.FinishOther
}

// reasonRaw returns the provider's word for why the first answer ended.
func (r *Response) reasonRaw() string {
	if len(r.Candidates) == 0 {
		return ""
	}
	return r.Candidates[0].FinishReasonRaw
}

// contentTypeName is a header that a file contains only if it differs from plainType, the type of almost all answers.
const (
	contentTypeName = "content-type"
	plainType       = "application/json"
)

// stored returns the headers of a response in the form of files. With a raw answer, the plain content type is left out,
// and an empty one means that there was none.
func (c *coder) stored(r *Response) map[string][]string {
	values := r.Headers[contentTypeName]
	isPlain := len(values) == 1 && values[0] == plainType
	if c.old || r.RawOutputRef == "" || len(values) > 0 && !isPlain {
		return r.Headers
	}
	if isPlain && len(r.Headers) == 1 {
		return nil
	}
	stored := make(map[string][]string, len(r.Headers)+1)
	maps.Copy(stored, r.Headers)
	if stored[contentTypeName] = []string{}; isPlain {
		delete(stored, contentTypeName)
	}
	return stored
}

// contentType restores the content type that a file leaves out.
func (c *coder) contentType(r *Response) {
	values, has := r.Headers[contentTypeName]
	switch {
	case c.old:
	case r.RawOutputRef == "":
		if c.ownType && has && len(values) == 0 {
			c.report(RuleEmpty, "must be left out where there is no raw answer", "headers", contentTypeName)
		}
	case !has:
		r.Headers[contentTypeName] = []string{plainType}
	case len(values) == 0:
		delete(r.Headers, contentTypeName)
	case c.ownType && len(values) == 1 && values[0] == plainType:
		c.report(RuleEmpty, "must be left out where it is "+plainType, "headers", contentTypeName)
	}
	if len(r.Headers) == 0 {
		r.Headers = nil
	}
}

// headers reads or writes an object of arrays of strings, which is left out if all are inherited.
func (c *coder) headers(r *Response) {
	var all map[string][]string // the headers of base, replaced by the response's own
	if c.base != nil {
		all = maps.Clone(c.stored(&c.base.Response))
	}
	own := all
	if !c.reading() {
		own = c.stored(r)
	}
	if c.ownType = false; all == nil {
		all = make(map[string][]string, len(own))
	}
	if c.reading() {
		r.Headers = all
	} else {
		maps.Copy(all, own)
	}
	if c.member("headers", optional, len(all) == 0) != here {
		return
	}
	defer c.leave()
	var few [8]string
	names := few[:0]
	for name := range c.at.Members() {
		names = append(names, name)
	}
	if !c.reading() {
		names = slices.SortedFunc(maps.Keys(all), c.order())
	}
	c.object(nil, func() {
		c.inherit("response/headers/", "*")
		for _, name := range names {
			values := own[name]
			none := noElements[string]
			if name == contentTypeName && !c.old {
				none, c.ownType = func(values []string) bool { return values == nil }, true
			}
			field(c, name, optional, &values, none, func(values *[]string) { elements(c, values, c.word) })
			all[name] = values
		}
	})
	switch empty := c.reading() && c.at.IsObject() && c.at.IsEmpty(); {
	case empty:
		c.emptied()
	case c.reading():
		maps.DeleteFunc(all, func(_ string, values []string) bool { return values == nil })
	case bytes.HasSuffix(c.dst, []byte(":{}")):
		c.dst = c.dst[:c.top().opened]
	}
}

// said reads or writes the model's answer, which comes first in the response, below the request's messages.
func (c *coder) said(a *answer) {
	c.pieces("content", required, &a.content)
	list(c, "parts", optional, &a.parts, c.part)
	c.toolCalls(a)
}

// candidate reads or writes the members of a further answer to the same request.
func (c *coder) candidate(a *answer) {
	if c.form != inCore {
		c.said(a)
		c.citations(a)
		c.finish(a)
	} else {
		c.pieces("content", required, &a.content)
		c.finish(a)
		list(c, "parts", optional, &a.parts, c.part)
		c.toolCalls(a)
	}
	c.agree(a)
}

// The kinds of readings; callReadings are those about tool calls, which come first.
var (
	callReadings = []string{"added-call", "arguments", "missing-call", "name"}
	isReading    = oneOf("added-call", "arguments", "byte-order-mark", "error", "event-name", "finish", "line",
		"missing-call", "name",
		"spelling", "text")
)

// readingsMost is the maximum number of readings in a record.
const readingsMost = 16

// readings reads or writes what other programs read in an answer. Readings are not part of a core, because they follow
// from the answer's bytes.
func (c *coder) readings(all *[]Reading) {
	list(c, "readings", optional, all, func(g *Reading) {
		c.object(nil, func() {
			integer(c, "event", optional, &g.Event, 1)
			c.text("kind", required, &g.Kind, isReading)
			c.pieces("says", required, &g.Says)
		})
	})
}

// checkReadings checks the number and the order of readings.
func (c *coder) checkReadings(r *Response) {
	if !c.reading() {
		return
	}
	others := false
	for i, g := range r.Readings {
		isCall := g.IsOfCall()
		if others = others || !isCall; others && isCall {
			c.report(RuleValue, "must be in front of readings that concern no call", "readings", strconv.Itoa(i))
		}
	}
	if n := len(r.Readings); n > readingsMost {
		c.report(RuleValue, fmt.Sprintf("must be at most %d, are %d", readingsMost, n), "readings")
	} else if r.ReadingsMore > 0 && n < readingsMost {
		c.report(RuleValue, fmt.Sprintf("must stand only where there are %d readings", readingsMost), "readings_more")
	}
}

// citations reads or writes citations. They are not part of a core, because the same answer may be based on other
// sources another day.
func (c *coder) citations(a *answer) {
	list(c, "citations", optional, &a.citations, func(t *modelio.Citation) {
		c.object(nil, func() {
			pointer(c, "end", optional, &t.End, c.count)
			c.pieces("quote", optional, &t.Quote)
			c.text("source", optional, &t.Source, nil)
			pointer(c, "start", optional, &t.Start, c.count)
			c.text("title", optional, &t.Title, nil)
			c.text("url", optional, &t.URL, nil)
		})
	})
}

func (c *coder) finish(a *answer) {
	c.text("finish_reason", required, (*string)(&a.reason), isReason)
	if c.form != inCore {
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

// agree checks that content and tool_calls alone show a reader everything that parts contain.
func (c *coder) agree(a *answer) {
	if !c.reading() || a.parts == nil {
		return
	}
	if a.content != texts.Join(a.parts) {
		c.report(RuleParts, "must be what the texts of parts say", "content")
	}
	same := func(x, y modelio.ToolRequest) bool {
		return x.Name == y.Name && x.Ref == y.Ref && (x.Input == nil) == (y.Input == nil) && bytes.Equal(x.Input, y.Input)
	}
	if !slices.EqualFunc(texts.Calls(a.parts), a.calls, same) {
		c.report(RuleParts, "must be the tool calls of parts that the caller is to run", "tool_calls")
	}
}

func (c *coder) providerError(e *modelio.ProviderError) {
	c.object(nil, func() {
		c.text("code", optional, &e.Code, nil)
		c.pieces("message", required, &e.Message)
		c.text("param", optional, &e.Param, nil)
		integer(c, "status", optional, &e.Status, 0)
		c.text("type", optional, &e.Type, nil)
	})
}

// usage reads or writes token counts. Counts of cached and reasoning tokens are usually the same as in the call before,
// in which case files leave them out.
func (c *coder) usage(u *modelio.Usage) {
	if c.reading() && c.base != nil && c.base.Response.Usage != nil {
		*u = *c.base.Response.Usage
		u.InputTokens, u.OutputTokens, u.TotalTokens = nil, nil, nil
	}
	c.object(nil, func() {
		c.inherit("response/usage/", "cache_read", "cache_write", "cache_write_1h", "reasoning", "tool_use")
		pointer(c, "cache_read", optional, &u.CachedContentTokens, c.count)
		pointer(c, "cache_write", optional, &u.CacheWriteTokens, c.count)
		pointer(c, "cache_write_1h", optional, &u.CacheWriteHourTokens, c.count)
		pointer(c, "input", optional, &u.InputTokens, c.count)
		pointer(c, "output", optional, &u.OutputTokens, c.count)
		pointer(c, "reasoning", optional, &u.ThoughtsTokens, c.count)
		pointer(c, "tool_use", optional, &u.ToolUseTokens, c.count)
		if c.reading() || c.old || !isSum(u) {
			pointer(c, "total", optional, &u.TotalTokens, c.count)
		}
		switch {
		case !c.reading() || c.old:
		case isSum(u):
			c.report(RuleEmpty, "must be left out where it is the sum of input and output", "total")
		default: // the file left it out
			*u = *u.Completed()
		}
	})
}

// isSum reports whether the total of u is the sum of its input and output, as in almost all answers: then files leave
// it out.
func isSum(u *modelio.Usage) bool {
	return u.TotalTokens != nil && u.InputTokens != nil && u.OutputTokens != nil && *u.TotalTokens == *u.Used()
}

package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A page shows conversations as text for people. Whatever was recorded, only printable
// characters reach out.
type page struct {
	out   io.Writer
	width int // characters of a line
	color bool

	unwrapped bool // lines of text stay as long as they are
}

// The escape sequences of a page (ECMA-48 "SGR").
const (
	bold  = "1"
	faint = "2"
	alarm = "1;31"
)

func (p *page) styled(style, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

const (
	margin = "  "
	label  = 10 // characters, with the space behind
)

// conversation shows a record: where it comes from, what was sent, what came back.
func (p *page) conversation(provider string, s *snapshot.Snapshot) {
	p.header(provider, s)
	if s.Request.Prompt != nil {
		p.heading(bold, "prompt")
		p.text(*s.Request.Prompt)
	}
	for i := range s.Request.Messages {
		p.message(&s.Request.Messages[i])
	}
	if len(s.Request.Tools) > 0 {
		p.heading(bold, "tools offered")
		for _, raw := range s.Request.Tools {
			p.tool(raw)
		}
	}
	p.answer(&s.Response)
}

func (p *page) header(provider string, s *snapshot.Snapshot) {
	fmt.Fprintln(p.out, p.styled(bold, printable(s.ID)))
	if test := s.Source.Test; test != "" {
		p.field("test", fmt.Sprintf("%s in %s, call %d", test, s.Source.Package, s.Source.Ordinal))
	}
	p.field("source", fmt.Sprintf("%s:%d %s", s.Source.File, s.Source.Line, s.Source.Function))
	p.field("provider", provider)
	p.field("api", s.Request.API)
	model := s.Request.Model
	if answered := s.Response.Model; answered != "" && answered != model {
		model += ", answered by " + answered
	}
	p.field("model", model)
	p.field("recorded", s.Timestamp.Format("2006-01-02 15:04:05 MST"))
	p.field("latency", fmt.Sprintf("%d ms", s.Response.LatencyMS))
	p.field("tokens", tokens(&s.Response))
	p.field("sent", strings.Join(parameters(&s.Request), ", "))
	title := "options"
	for _, name := range slices.Sorted(maps.Keys(s.Request.ProviderOptions)) {
		p.field(title, name+" "+jsonText(s.Request.ProviderOptions[name], p.width-label-len(margin)-len(name)))
		title = ""
	}
	p.field("ignored", strings.Join(s.Source.Ignored, ", "))
	p.field("varies", s.Source.Nondeterministic)
}

// field shows a line of the header, unless it is empty.
func (p *page) field(name, value string) {
	if value == "" {
		return
	}
	for i, line := range p.wrap(printableText(value), p.width-label-len(margin)) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintln(p.out, margin+p.styled(faint, fmt.Sprintf("%-*s", label, name))+line)
	}
}

func tokens(r *snapshot.Response) string {
	total := "not reported"
	if r.TokensUsed != nil {
		total = fmt.Sprint(*r.TokensUsed)
	}
	if r.Usage == nil {
		return total
	}
	var parts []string
	for _, part := range []struct {
		name string
		n    *int64
	}{
		{"in", r.Usage.Input},
		{"out", r.Usage.Output},
		{"reasoning", r.Usage.Reasoning},
		{"read from cache", r.Usage.CacheRead},
		{"written to cache", r.Usage.CacheWrite},
	} {
		if part.n != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *part.n, part.name))
		}
	}
	if len(parts) == 0 {
		return total
	}
	return total + " (" + strings.Join(parts, ", ") + ")"
}

// parameters lists the parameters that were sent. What was not sent is not there: the provider's
// defaults are not known (design R6).
func parameters(r *snapshot.Request) []string {
	var sent []string
	for _, p := range []struct {
		name  string
		value *snapshot.Number
	}{
		{"temperature", r.Temperature},
		{"max_tokens", r.MaxTokens},
		{"top_p", r.TopP},
		{"frequency_penalty", r.FrequencyPenalty},
		{"presence_penalty", r.PresencePenalty},
		{"seed", r.Seed},
	} {
		if p.value != nil {
			sent = append(sent, p.name+" "+string(*p.value))
		}
	}
	if len(r.Stop) > 0 {
		stops := make([]string, len(r.Stop))
		for i, stop := range r.Stop {
			stops[i] = fmt.Sprintf("%q", stop)
		}
		sent = append(sent, "stop "+strings.Join(stops, " "))
	}
	return sent
}

func (p *page) heading(style, title string) {
	fmt.Fprintf(p.out, "\n%s\n", p.styled(style, printable(title)))
}

func (p *page) text(text string) { p.lines(margin, "", text) }

func (p *page) faintText(text string) { p.lines(margin, faint, text) }

func (p *page) lines(indent, style, text string) {
	for _, line := range p.wrap(printableText(text), p.width-len(indent)) {
		switch {
		case line == "":
			fmt.Fprintln(p.out)
		case style == "":
			fmt.Fprintln(p.out, indent+line)
		default:
			fmt.Fprintln(p.out, indent+p.styled(style, line))
		}
	}
}

func (p *page) wrap(text string, width int) []string {
	if p.unwrapped {
		width = math.MaxInt
	}
	return wrap(text, width)
}

func (p *page) answer(r *snapshot.Response) {
	answers := append([]snapshot.Candidate{{
		Content: r.Content, FinishReason: r.FinishReason, FinishReasonRaw: r.FinishReasonRaw,
		ToolCalls: r.ToolCalls, Parts: r.Parts,
	}}, r.Candidates...)
	if refused := r.Error != nil && len(answers) == 1 && r.Content == "" && r.ToolCalls == nil && r.Parts == nil; refused {
		answers = nil
	}
	for i := range answers {
		title := "answer"
		if len(answers) > 1 {
			title = fmt.Sprintf("answer %d of %d", i+1, len(answers))
		}
		p.heading(bold, title)
		p.candidate(&answers[i])
	}
	if r.Error != nil {
		p.heading(alarm, strings.Join(strings.Fields(fmt.Sprintf("error %s %s %s", status(r), r.Error.Type, r.Error.Code)), " "))
		p.text(r.Error.Message)
	}
	switch r.Incomplete {
	case "":
	case "aborted":
		p.heading(alarm, "incomplete: the caller ended the stream (aborted)")
	default:
		p.heading(alarm, "incomplete: the stream was cut ("+r.Incomplete+")")
	}
}

func status(r *snapshot.Response) string {
	for _, status := range []int{r.Error.Status, r.Status} {
		if status != 0 {
			return fmt.Sprint(status)
		}
	}
	return ""
}

func (p *page) candidate(c *snapshot.Candidate) {
	if len(c.Parts) > 0 {
		p.parts(c.Parts) // they say what content and tool calls say, too
	} else {
		if c.Content != "" {
			p.text(c.Content)
		}
		for _, call := range c.ToolCalls {
			p.call(call.Name, call.Ref, call.Input)
		}
	}
	finished := "finish reason: " + c.FinishReason
	if c.FinishReasonRaw != "" && c.FinishReasonRaw != c.FinishReason {
		finished += " (" + c.FinishReasonRaw + ")"
	}
	p.faintText(finished)
}

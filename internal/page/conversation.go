package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Page shows conversations as text for people.
type Page struct {
	Out       io.Writer
	Width     int  // characters per line
	Color     bool // use escape sequences, for a terminal
	Unwrapped bool // do not wrap lines of text, so that they can be compared
}

// The escape sequences of a page (ECMA-48 "SGR").
const (
	bold  = "1"
	faint = "2"
	alarm = "1;31"
)

func (p *Page) styled(style, text string) string {
	return drift.Style{Color: p.Color}.Styled(style, text)
}

const (
	margin = "  "
	label  = 10 // characters, including the space after it
)

// Call shows a complete call: where it comes from, what was sent, and what was received.
func (p *Page) Call(provider string, s *snapshot.Snapshot) {
	fmt.Fprintln(p.Out, p.styled(bold, plaintext.Line(s.ID)))
	p.header(p.fields(provider, s))
	if s.Request.Prompt != nil {
		p.heading(bold, "prompt")
		p.text(*s.Request.Prompt)
	}
	for i := range s.Request.Messages {
		p.message(&s.Request.Messages[i])
	}
	p.offered(s, nil)
	p.answer(&s.Response, "", false)
}

// A headerField is a line of a call's header. Its title is the first word of its name.
type headerField struct{ name, value string }

// header shows fields. A title that several consecutive fields share is shown once.
func (p *Page) header(fields []headerField) {
	last := ""
	for _, f := range fields {
		title, _, _ := strings.Cut(f.name, " ")
		if title == last {
			title = ""
		} else {
			last = title
		}
		p.field(title, f.value)
	}
}

func (p *Page) fields(provider string, s *snapshot.Snapshot) []headerField {
	var fields []headerField
	add := func(name, value string) { fields = append(fields, headerField{name, value}) }
	if test := s.Source.Test; test != "" {
		add("test", fmt.Sprintf("%s in %s", test, s.Source.Package))
	}
	add("source", fmt.Sprintf("%s:%d %s", s.Source.File, s.Source.Line, s.Source.Function))
	add("provider", cmp.Or(s.Provider, provider))
	add("api", s.Request.API)
	model := s.Request.Model
	if answered := s.Response.Model; answered != "" && answered != model {
		model = strings.TrimPrefix(model+", answered by "+answered, ", ") // some requests name no model
	}
	add("model", model)
	add("recorded", s.Timestamp.Format("2006-01-02 15:04:05 MST"))
	add("latency", fmt.Sprintf("%d ms", s.Response.LatencyMS))
	add("tokens", tokens(&s.Response))
	add("sent", strings.Join(parameters(&s.Request), ", "))
	for _, name := range slices.Sorted(maps.Keys(s.Request.Options)) {
		value := name + " " + jsonText(s.Request.Options[name], p.Width-label-len(margin)-len(name))
		add("options "+name, value)
	}
	add("ignored", strings.Join(s.Source.Ignored, ", "))
	add("lane", s.Source.Lane)
	add("run", s.Source.Provenance.RunID)
	add("step", s.Source.Provenance.StepID)
	add("correlation", s.Source.Provenance.CorrelationID)
	add("config", string(s.Source.Provenance.ConfigHash))
	if s.Response.Stale != "" {
		add("stale", "the answer is that to another request, and was adopted for this one")
	}
	add("varies", s.Source.Nondeterministic)
	add("origin", s.Source.Origin)
	if s.Source.Scripted != "" {
		add("scripted", "a script gave the answer, and no model")
	}
	add("unknown", strings.Join(s.Source.Unknown, ", "))
	if !s.Source.Now.IsZero() {
		add("now", s.Source.Now.Format(time.RFC3339Nano))
	}
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(s.Response.Headers)) {
		if name != "content-type" { // used for decoding the answer
			headers = append(headers, name+": "+strings.Join(s.Response.Headers[name], ", "))
		}
	}
	add("headers", strings.Join(headers, "\n"))
	return fields
}

// field shows a line of the header, unless it is empty.
func (p *Page) field(name, value string) {
	if value == "" {
		return
	}
	for i, line := range p.wrap(plaintext.Text(value), p.Width-label-len(margin)) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintln(p.Out, margin+p.styled(faint, fmt.Sprintf("%-*s", label, name))+line)
	}
}

func tokens(r *snapshot.Response) string {
	total := "not reported"
	if r.TokensUsed != nil {
		total = fmt.Sprint(*r.TokensUsed)
	}
	var parts []string
	for _, c := range countsOf(cmp.Or(r.Usage, &modelio.Usage{})) {
		if n := *c.n; n != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *n, c.name))
		}
	}
	if len(parts) == 0 {
		return total
	}
	return total + " (" + strings.Join(parts, ", ") + ")"
}

// A tokenCount is a count in a usage, with its name on a page.
type tokenCount struct {
	name string
	n    **int64 // nil if not reported
}

func countsOf(u *modelio.Usage) []tokenCount {
	return []tokenCount{
		{"in", &u.InputTokens}, {"out", &u.OutputTokens}, {"reasoning", &u.ThoughtsTokens},
		{"read from cache", &u.CachedContentTokens}, {"written to cache", &u.CacheWriteTokens},
		{"for an hour", &u.CacheWriteHourTokens},
		{"from tools", &u.ToolUseTokens},
	}
}

// parameters lists the parameters that were sent. The others are not listed, because the provider's defaults are
// unknown.
func parameters(r *modelio.Request) []string {
	var sent []string
	for _, p := range modelio.Parameters {
		if value := *p.Field(r); value != nil {
			sent = append(sent, p.Name+" "+value.String())
		}
	}
	if len(r.Stop) > 0 {
		sent = append(sent, "stop "+strings.Trim(fmt.Sprintf("%q", r.Stop), "[]"))
	}
	return sent
}

func (p *Page) heading(style, title string) {
	fmt.Fprintf(p.Out, "\n%s\n", p.styled(style, plaintext.Line(title)))
}

func (p *Page) text(text string) { p.lines(margin, "", text) }

func (p *Page) faintText(text string) { p.lines(margin, faint, text) }

func (p *Page) lines(indent, style, text string) {
	for _, line := range p.wrap(plaintext.Text(text), p.Width-len(indent)) {
		if line != "" {
			line = indent + p.styled(style, line)
		}
		fmt.Fprintln(p.Out, line)
	}
}

func (p *Page) wrap(text string, width int) []string {
	if p.Unwrapped {
		width = math.MaxInt
	}
	return wrap(text, width)
}

// answer shows the answer. call is appended to each title: ", call 2", or nothing. brief leaves out the usual finish
// reason.
func (p *Page) answer(r *snapshot.Response, call string, brief bool) {
	for _, line := range reading.Sentences(r.Readings, r.ReadingsMore) {
		p.heading(alarm, "some programs read "+line)
	}
	for i := range r.Candidates {
		title := "answer"
		if len(r.Candidates) > 1 {
			title = fmt.Sprintf("answer %d of %d", i+1, len(r.Candidates))
		}
		p.heading(bold, title+call)
		p.candidate(&r.Candidates[i], brief)
	}
	if r.Error != nil {
		title := fmt.Sprintf("error %s %s %s %s", status(r), r.Error.Type, r.Error.Code, r.Error.Param)
		p.heading(alarm, inLine(title)+call)
		p.text(r.Error.Message)
	}
	if r.Incomplete != "" {
		p.heading(alarm, "incomplete: "+cmp.Or(endings[r.Incomplete], "the stream was cut")+" ("+r.Incomplete+")")
	}
	if r.Note != "" {
		p.heading(alarm, "note: "+r.Note)
	}
}

// endings describe how an incomplete stream ended.
var endings = map[string]string{
	"aborted": "the caller ended the stream", "ended": "the stream ended without its last event",
}

func status(r *snapshot.Response) string {
	if status := cmp.Or(r.Error.Status, r.Status); status != 0 {
		return fmt.Sprint(status)
	}
	return ""
}

func (p *Page) candidate(c *modelio.Candidate, brief bool) {
	p.parts(c.Message.Content)
	for _, cited := range c.Citations {
		p.faintText("cites: " + inLine(cited.Title+" "+cited.URL+" "+cited.Source))
	}
	if brief && c.FinishReason == modelio.FinishStop {
		return // the usual case
	}
	finished := "finish reason: " + string(c.FinishReason)
	if c.FinishReasonRaw != "" && c.FinishReasonRaw != string(c.FinishReason) {
		finished += " (" + c.FinishReasonRaw + ")"
	}
	p.faintText(finished)
}

// message shows a message: its role and its content.
func (p *Page) message(m *modelio.Message) {
	p.heading(bold, string(m.Role))
	p.metadata(m.Metadata)
	p.parts(m.Content)
}

func (p *Page) parts(parts []modelio.Part) {
	for i := range parts {
		p.part(&parts[i])
	}
}

func (p *Page) part(part *modelio.Part) {
	switch {
	case part.Text != nil:
		p.text(*part.Text)
	case part.Reasoning != nil:
		p.faintText("[reasoning]")
		p.faintText(*part.Reasoning)
	case part.Media != nil:
		p.text(mediaText(part.Media))
	case part.ToolRequest != nil:
		p.toolCall(part.ToolRequest)
	case part.ToolResponse != nil:
		p.result(part.ToolResponse)
	default:
		raw, _ := json.Marshal(part) // always possible for a snapshot
		p.value(raw)
		return
	}
	p.metadata(part.Metadata)
}

// metadata shows a program's metadata on one line, because most of it, such as signatures, is not for people.
func (p *Page) metadata(o modelio.Object) {
	if len(o) > 0 {
		line := Clip("metadata "+plaintext.Line(string(jsontext.Compact(jsontext.ObjectText(o)))), p.Width-len(margin))
		p.faintText(line)
	}
}

// toolCall shows a tool call that the model requested.
func (p *Page) toolCall(r *modelio.ToolRequest) {
	arguments := ""
	if r.Input != nil {
		arguments = jsonText(r.Input, p.Width-len(margin)-len(r.Name)-len(r.Ref)-len("()  []"))
	}
	call := r.Name + "(" + arguments + ")"
	if r.Ref != "" {
		call += "  [" + r.Ref + "]"
	}
	p.text(call)
}

// result shows the result of a tool.
func (p *Page) result(r *modelio.ToolResponse) {
	title := r.Name + " returned"
	if r.Ref != "" {
		title += "  [" + r.Ref + "]"
	}
	p.text(title)
	var text string
	switch {
	case r.Output == nil:
	case r.Output[0] == '"' && json.Unmarshal(r.Output, &text) == nil:
		p.text(text)
	default:
		p.value(r.Output)
	}
	p.parts(r.Content)
}

// inStore matches the name of media in a store. A content type may have parameters.
var inStore = regexp.MustCompile(`^blob:[^;]*;(.*);(\d+)$`)

// mediaText describes media by its type and its URL, or its size if it is in the URL or in the store.
func mediaText(m *modelio.Media) string {
	kind, where := m.ContentType, m.URL
	if blob := inStore.FindStringSubmatch(m.URL); blob != nil {
		size, _ := strconv.ParseInt(blob[2], 10, 64)
		kind, where = cmp.Or(kind, blob[1]), Size(size)
	}
	if rest, ok := strings.CutPrefix(m.URL, "data:"); ok {
		head, data, _ := strings.Cut(rest, ",")
		mediaType, isBase64 := strings.CutSuffix(head, ";base64")
		kind = cmp.Or(kind, mediaType)
		size := len(strings.TrimRight(data, "=")) * 3 / 4
		if !isBase64 {
			size = len(data)
			if plain, err := url.PathUnescape(data); err == nil {
				size = len(plain)
			}
		}
		where = Size(int64(size))
	}
	return "[" + cmp.Or(kind, "media") + ", " + where + "]"
}

// tool shows a tool that the model may call: name, parameters and description. Optional parameters have a question
// mark.
func (p *Page) tool(tool *modelio.ToolDefinition) {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	var names []string
	if json.Unmarshal(tool.InputSchema, &schema) == nil {
		names = slices.Sorted(maps.Keys(schema.Properties))
	}
	for i, name := range names {
		if !slices.Contains(schema.Required, name) {
			names[i] += "?"
		}
	}
	p.text(tool.Name + "(" + strings.Join(names, ", ") + ")")
	if tool.Description != "" {
		p.lines(margin+margin, "", tool.Description)
	}
}

// value shows JSON.
func (p *Page) value(raw json.RawMessage) { p.text(jsonText(raw, p.Width-len(margin))) }

// jsonText returns JSON on one line if it fits into width, and indented otherwise.
func jsonText(raw json.RawMessage, width int) string {
	line := string(jsontext.Compact(raw))
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string(jsontext.Indented(raw))
}

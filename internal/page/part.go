package page

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/modelio"
)

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

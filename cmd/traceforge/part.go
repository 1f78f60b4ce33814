package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// message shows a message: who speaks, and what is said (design R15).
func (p *page) message(m *snapshot.Message) {
	p.heading(bold, m.Role)
	p.metadata(m.Metadata)
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		p.text(text)
		return
	}
	var parts []json.RawMessage
	if json.Unmarshal(m.Content, &parts) == nil {
		p.parts(parts)
		return
	}
	p.value(m.Content) // unreachable: the format has strings and lists
}

// parts shows GK parts.
func (p *page) parts(parts []json.RawMessage) {
	for _, raw := range parts {
		var part modelio.Part
		if err := json.Unmarshal(raw, &part); err != nil {
			p.value(raw)
			continue
		}
		p.part(&part, raw)
	}
}

// part shows a part; raw is its text, for kinds that GK has not.
func (p *page) part(part *modelio.Part, raw json.RawMessage) {
	switch {
	case part.Text != nil:
		p.text(*part.Text)
	case part.Reasoning != nil:
		p.faintText("[reasoning]")
		p.faintText(*part.Reasoning)
	case part.Media != nil:
		p.text(mediaText(part.Media))
	case part.ToolRequest != nil:
		p.call(part.ToolRequest.Name, part.ToolRequest.Ref, part.ToolRequest.Input)
	case part.ToolResponse != nil:
		p.result(part.ToolResponse)
	default:
		p.value(raw)
		return
	}
	if len(part.Metadata) > 0 {
		metadata, err := json.Marshal(part.Metadata)
		if err == nil {
			p.metadata(metadata)
		}
	}
}

// metadata shows on one line what a program attached: most of it, as signatures, is not for
// people.
func (p *page) metadata(raw json.RawMessage) {
	if raw != nil {
		line := clip("metadata "+printable(compact(raw)), p.width-len(margin))
		fmt.Fprintln(p.out, margin+p.styled(faint, line))
	}
}

// call shows a tool call that the model made.
func (p *page) call(name, ref string, input json.RawMessage) {
	arguments := ""
	if input != nil {
		arguments = jsonText(input, p.width-len(margin)-len(name)-len(ref)-len("()  []"))
	}
	call := name + "(" + arguments + ")"
	if ref != "" {
		call += "  [" + ref + "]"
	}
	p.text(call)
}

// result shows what a tool answered.
func (p *page) result(r *modelio.ToolResponse) {
	title := r.Name + " returned"
	if r.Ref != "" {
		title += "  [" + r.Ref + "]"
	}
	p.text(title)
	var text string
	switch {
	case r.Output == nil:
	case json.Unmarshal(r.Output, &text) == nil && string(r.Output) != "null":
		p.text(text)
	default:
		p.value(r.Output)
	}
	for i := range r.Content {
		raw, err := json.Marshal(&r.Content[i])
		if err != nil {
			p.text(err.Error())
			continue
		}
		p.part(&r.Content[i], raw)
	}
}

// mediaText names media by its type and where it is, or its size in bytes if it is in the URL.
func mediaText(m *modelio.Media) string {
	kind, where := m.ContentType, m.URL
	if rest, ok := strings.CutPrefix(m.URL, "data:"); ok {
		head, data, _ := strings.Cut(rest, ",")
		mediaType, isBase64 := strings.CutSuffix(head, ";base64")
		if kind == "" {
			kind = mediaType
		}
		size := len(strings.TrimRight(data, "=")) * 3 / 4
		if !isBase64 {
			size = len(data)
			if plain, err := url.PathUnescape(data); err == nil {
				size = len(plain)
			}
		}
		where = byteSize(size)
	}
	if kind == "" {
		kind = "media"
	}
	return "[" + kind + ", " + where + "]"
}

// tool shows a tool that the model may call: its name, its parameters, of which the optional
// ones have a question mark, and what it is for.
func (p *page) tool(raw json.RawMessage) {
	var tool modelio.ToolDefinition
	if err := json.Unmarshal(raw, &tool); err != nil {
		p.value(raw)
		return
	}
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
func (p *page) value(raw json.RawMessage) { p.text(jsonText(raw, p.width-len(margin))) }

// jsonText returns JSON on one line if it is no longer than width, else indented.
func jsonText(raw json.RawMessage, width int) string {
	line := compact(raw)
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	var indented bytes.Buffer
	if json.Indent(&indented, raw, "", "  ") != nil {
		return line
	}
	return indented.String()
}

func compact(raw json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return string(raw) // unreachable: it came from a snapshot, which is JSON
	}
	return line.String()
}

package scrub

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A document is a JSON text whose strings can be edited while everything else keeps its spelling, or a plain text.
type document struct {
	src   []byte
	root  jsontext.Value // absent for a plain text
	texts []*text        // in the order of src
}

// A text is a string or member name of a JSON text, or a complete plain text.
type text struct {
	start, end int // bounds of its spelling, without quotes
	value      string
	escaped    bool
	edits      []edit

	key   string    // texts with the same key are pieces of one; empty for a complete text
	inner *document // the document that value encodes in base64
}

// parse returns the document of a text. It is plain if the text is not JSON.
func parse(src []byte) *document {
	doc, err := jsontext.ParseLenient(src)
	if err != nil {
		return plain(src)
	}
	d := &document{src: src, root: doc.Root()}
	d.root.EachString(func(s jsontext.Value, _ bool) { d.texts = append(d.texts, textOf(s)) })
	return d
}

// textOf returns the text of a JSON string.
func textOf(s jsontext.Value) *text {
	spelling := s.Raw()[1 : len(s.Raw())-1]
	t := &text{start: int(s.Offset()) + 1, value: string(spelling), escaped: s.Escaped()}
	if t.end = t.start + len(spelling); t.escaped {
		var whole bool
		if t.value, whole = s.Text(); !whole {
			_ = json.Unmarshal(s.Raw(), &t.value) // it has U+FFFD for a lone surrogate
		}
	}
	return t
}

// plain returns the document of a text that is not JSON. A text that is not UTF-8 gives a document without texts.
func plain(src []byte) *document {
	d := &document{src: src}
	if utf8.Valid(src) {
		d.texts = []*text{{end: len(src), value: string(src)}}
	}
	return d
}

// offsetsOf returns the position in the spelling of each byte of a string's characters, and of their end.
func offsetsOf(spelling []byte) (offsets []int) {
	for at := 0; at < len(spelling); {
		n, size := 1, 1
		if spelling[at] == '\\' {
			r, length := jsontext.Unescape(spelling[at:])
			n, size = length, len(utf8.AppendRune(nil, r))
		}
		for range size {
			offsets = append(offsets, at)
		}
		at += n
	}
	return append(offsets, len(spelling))
}

// changed reports whether any text of d has edits.
func (d *document) changed() bool {
	return slices.ContainsFunc(d.texts, func(t *text) bool {
		return len(t.edits) > 0 || t.inner != nil && t.inner.changed()
	})
}

// bytes returns the document with its edits.
func (d *document) bytes() []byte {
	if !d.changed() {
		return d.src
	}
	var out []byte
	at := 0
	for _, t := range d.texts {
		if t.inner != nil && t.inner.changed() {
			out = append(out, d.src[at:t.start]...)
			out, at = base64Text.AppendEncode(out, t.inner.bytes()), t.end
		}
		var offsets []int
		if t.escaped && len(t.edits) > 0 {
			offsets = offsetsOf(d.src[t.start:t.end])
		}
		for _, e := range t.edits {
			start, end := t.start+e.start, t.start+e.end
			if t.escaped {
				start, end = t.start+offsets[e.start], t.start+offsets[e.end]
			}
			out = append(out, d.src[at:start]...)
			if d.root.Present() {
				quoted := jsontext.Text(e.with)
				out = append(out, quoted[1:len(quoted)-1]...)
			} else {
				out = append(out, e.with...)
			}
			at = end
		}
	}
	return append(out, d.src[at:]...)
}

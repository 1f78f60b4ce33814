package scrub

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// A MissingError reports placeholders in an answer that have no value. The test has no rule with their name, or the
// request has no such value.
type MissingError struct{ Placeholders []string }

func (e *MissingError) Error() string {
	return "no value is known for " + strings.Join(e.Placeholders, ", ")
}

// Answer returns the bytes of an answer as they are stored, with placeholders for values of the request and for
// secrets. Everything else keeps its spelling.
func (v *Values) Answer(a *provider.Answer) []byte {
	idle := len(v.values) == 0 && !slices.ContainsFunc(v.rules.finders, func(f finder) bool { return f.dummy != nil })
	if idle && (v.scrubbed || !mayHold(a.Body)) {
		return a.Body
	}
	body := rewrite(a, v.answerEdits, true)
	// Placeholders split texts, and the texts of a stream are joined: then a rule may find more.
	for was, round := a.Body, 1; round < mostRounds && !bytes.Equal(body, was); round++ {
		settled, again := *v, *a
		settled.scrubbed, again.Body, was = true, body, body
		body = rewrite(&again, settled.answerEdits, true)
	}
	return body
}

// ErrLong is the error for an answer that would be too long with the values of its placeholders.
var ErrLong = errors.New("the values of its placeholders make it too long")

// Restore returns the bytes of a stored answer as they are replayed, with the values of this run's request, and dummies
// for other secrets. The error is a [*MissingError], or [ErrLong] for an answer of more than most bytes.
func (v *Values) Restore(a *provider.Answer, most int64) ([]byte, error) {
	if !mayHold(a.Body) {
		return a.Body, nil
	}
	var missing []string
	length := int64(len(a.Body))
	body := rewrite(a, func(text string) []edit {
		all := v.restoreEdits(text, &missing)
		for _, e := range all {
			length += int64(len(e.with) - (e.end - e.start))
		}
		if length > most {
			return nil
		}
		return all
	}, false)
	if length > most {
		return nil, ErrLong
	}
	return body, v.missing(missing)
}

func (v *Values) missing(placeholders []string) error {
	if len(placeholders) == 0 {
		return nil
	}
	sort.Strings(placeholders)
	return &MissingError{slices.Compact(placeholders)}
}

// AnswerText is Answer for a text outside of the body, such as the value of a header.
func (v *Values) AnswerText(text string) string { return edited(text, v.answerEdits(text)) }

// RestoreText is Restore for a text outside of the body.
func (v *Values) RestoreText(text string) (string, error) {
	var missing []string
	text = edited(text, v.restoreEdits(text, &missing))
	return text, v.missing(missing)
}

// mayHold reports whether an answer may contain a placeholder or a text that looks like one.
func mayHold(body []byte) bool {
	_, _, isFrame := provider.Payload(body)
	return isFrame || bytes.Contains(body, []byte("{{")) || bytes.Contains(body, []byte(`\u007`)) // b or B is a brace
}

// rewrite returns an answer with its texts edited. The pieces of a text that a stream sends in several events are
// edited as one text; if they split a value, its replacement is put into the first of them. With alone, a piece that
// was not edited in this way is also edited by itself, because in some streams the apparent pieces are separate texts.
func rewrite(a *provider.Answer, edits editor, alone bool) []byte {
	var chunks []*chunk
	texts := map[string][]*text{}
	split(a, func(c *chunk) {
		for _, d := range c.documents {
			d.collect(texts, edits)
		}
		if c.plain { // a stream may have millions of comments in a row, so they become one chunk
			settled := c.bytes()
			if n := len(chunks); n > 0 && chunks[n-1].plain {
				before := chunks[n-1].documents[0]
				before.src = append(before.src, settled...)
				return
			}
			c.documents[0] = &document{src: settled}
		}
		chunks = append(chunks, c)
	})
	for _, key := range inorder.Names(texts) {
		editPieces(texts[key], edits, alone)
	}
	var out []byte
	for _, c := range chunks {
		out = append(out, c.bytes()...)
	}
	return out
}

// A chunk is a part of an answer: an event of a stream, or the complete answer.
type chunk struct {
	documents []*document // its parts, in order
	frame     bool        // a frame of AWS, with lengths and checksums
	plain     bool        // one plain document
}

// split divides an answer into chunks, and passes them to take.
func split(a *provider.Answer, take func(*chunk)) {
	events := a.Events()
	if events == nil {
		d := parse(a.Body)
		if bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("[")) { // Gemini's streams are one array
			d.keyPieces(d.root.Values()...)
		}
		take(&chunk{documents: []*document{d}})
		return
	}
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		raw := event.Raw
		if start, end, isFrame := provider.Payload(raw); isFrame {
			documents := []*document{{src: raw[:start]}, parseEvent(raw[start:end]), {src: raw[end:]}}
			take(&chunk{documents: documents, frame: true})
			continue
		}
		if at := bytes.LastIndex(raw, event.Data); at >= 0 && len(event.Data) > 0 {
			end := at + len(event.Data)
			take(&chunk{documents: []*document{plain(raw[:at]), parseEvent(raw[at:end]), plain(raw[end:])}})
			continue
		}
		take(&chunk{documents: []*document{plain(raw)}, plain: true}) // a comment, or data of several lines
	}
}

// bytes returns the chunk with its edits.
func (c *chunk) bytes() []byte {
	var out []byte
	changed := false
	for _, d := range c.documents {
		out = append(out, d.bytes()...)
		changed = changed || d.changed()
	}
	if c.frame && changed {
		provider.Reseal(out)
	}
	return out
}

var base64Text = base64.StdEncoding

// parseEvent returns the document of an event's data.
func parseEvent(data []byte) *document {
	d := parse(data)
	d.openBase64()
	d.keyPieces(d.root)
	return d
}

// openBase64 parses the texts of an event that are JSON in base64, as in Bedrock's events.
func (d *document) openBase64() {
	for i, t := range d.texts {
		if i == 0 || d.texts[i-1].value != "bytes" {
			continue
		}
		if src, err := base64Text.DecodeString(t.value); err == nil && bytes.HasPrefix(src, []byte("{")) {
			t.inner = parse(src)
			t.inner.keyPieces(t.inner.root)
		}
	}
}

// orders are the members that say to which of several texts a piece belongs.
var orders = []string{"index", "contentBlockIndex", "content_index", "item_id", "output_index", "summary_index"}

// keyPieces gives keys to the texts of events that may be pieces of one text. Pieces of the same text have equal keys.
func (d *document) keyPieces(events ...jsontext.Value) {
	keys := map[int]string{} // by offset
	for _, event := range events {
		keysOfPieces(event, "", string(event.Member("type").Raw()), keys)
	}
	for _, t := range d.texts {
		t.key = keys[t.start-1]
	}
}

// keysOfPieces adds the keys of the pieces in v. A key is the path to a piece, with the members that say to which text
// it belongs.
func keysOfPieces(v jsontext.Value, member, key string, keys map[int]string) {
	if v.IsString() && provider.IsPiece(member) {
		keys[int(v.Offset())] = key
	}
	if v.IsObject() {
		for _, order := range orders {
			key += " " + string(v.Member(order).Raw())
		}
	}
	for member, below := range v.Members() {
		keysOfPieces(below, member, key+"/"+member, keys)
	}
	for i, element := range v.Elements() {
		place := strconv.Itoa(i)
		if element.Member("index").Present() {
			place = "" // included in its members' keys
		}
		keysOfPieces(element, "", key+"/"+place, keys)
	}
}

// collect edits the texts that are complete, and adds pieces to their text.
func (d *document) collect(pieces map[string][]*text, edits editor) {
	for _, t := range d.texts {
		switch {
		case t.inner != nil:
			t.inner.collect(pieces, edits)
		case t.key == "":
			t.edits = edits(t.value)
		default:
			pieces[t.key] = append(pieces[t.key], t)
		}
	}
}

// editPieces edits a text that is split into pieces.
func editPieces(pieces []*text, edits editor, alone bool) {
	var whole strings.Builder
	for _, t := range pieces {
		whole.WriteString(t.value)
	}
	all := edits(whole.String())
	start := 0
	for _, t := range pieces {
		end := start + len(t.value)
		for _, e := range all {
			begins := start <= e.start && e.start < end
			from, to := max(e.start, start), min(e.end, end)
			if !begins && from >= to {
				continue
			}
			part := edit{span: span{from - start, to - start}}
			if begins {
				part.with = e.with
			}
			t.edits = append(t.edits, part)
		}
		start = end
		if alone && len(t.edits) == 0 && len(pieces) > 1 {
			t.edits = edits(t.value)
		}
	}
}

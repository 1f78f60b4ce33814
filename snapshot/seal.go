package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// Seal chooses which calls continue which, and computes the hashes of the records and of the document (SF "Hash
// Calculation", design R2, R4). It changes nothing else. It keeps choices that are still valid. The error is an
// [*Error] that names what cannot be written.
func (d *Document) Seal() error {
	_, err := d.seal()
	return err
}

// Write seals a document and returns the content of its file, see [Document.AppendFile]. It calls check, unless it is
// nil, with the document as it will be read again. check must not keep its argument. A document that [Parse] would
// reject is not written; the error is an [*Error].
func (d *Document) Write(check func(read *Document) error) (data []byte, err error) {
	text, err := d.seal()
	if err != nil {
		return nil, err
	}
	data = layOut(text)
	read, err := Parse(data)
	if err == nil && check != nil {
		err = check(read)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// seal seals a document and returns its text in one line.
func (d *Document) seal() ([]byte, error) {
	d.Version = Version
	h, room := newChooser(d), 0
	for i := range d.Snapshots {
		h.chooseFor(i)
		room += d.Snapshots[i].room()
	}
	c := coder{cursor: cursor{form: inFile, dst: make([]byte, 0, room)}, sealing: true}
	c.writeDocument(d)
	return c.dst, c.err()
}

// AppendFile appends the content of the file of a document that was read to dst, which is empty. It has the members in
// file order, texts in pieces, two spaces of indentation, and a final newline.
func (d *Document) AppendFile(dst []byte) []byte {
	c := coder{cursor: cursor{form: inFile, dst: dst}}
	c.writeDocument(d)
	return layOut(c.dst)
}

// SF returns a document with only this record in SF's literal form: the complete request, texts joined, nothing left
// out. Its seals are those that SF's JavaScript computes.
func (s *Snapshot) SF() ([]byte, error) {
	d := Document{Snapshots: []Snapshot{*s}}
	return d.SF()
}

// SF returns the document in SF's literal form, see [Snapshot.SF]. Parse accepts it: package and test are only in the
// first record.
func (d *Document) SF() ([]byte, error) {
	all := Document{Version: VersionSF, Snapshots: slices.Clone(d.Snapshots)}
	for i := 1; i < len(all.Snapshots); i++ {
		all.Snapshots[i].Source.Package, all.Snapshots[i].Source.Test = "", ""
	}
	c := coder{cursor: cursor{form: literal}, sealing: true}
	c.writeDocument(&all)
	return layOut(c.dst), c.err()
}

func (c *coder) writeDocument(d *Document) {
	c.doc, c.calls, c.texts = d, d.indexes(), make([]map[string]string, len(d.Snapshots))
	c.document()
}

func (d *Document) combinedHash() canon.Hash {
	return CombinedHash(d.Version, len(d.Snapshots), func(i int) canon.Hash { return d.Snapshots[i].Hash })
}

// CombinedHash returns the hash of a document or manifest of a version with n records (SF "Combined Hash"). seal
// returns the hash of each record.
func CombinedHash(version string, n int, seal func(i int) canon.Hash) canon.Hash {
	text := append(make([]byte, 0, 64+80*n), `{"version":"`+version+`","snapshots":[`...)
	for i := range n {
		text = jsontext.AppendText(jsontext.AppendComma(text, i), string(seal(i)))
	}
	return canon.Sum(append(text, "]}"...))
}

var sealedNames = [...]string{"id", "timestamp", "source", "request", "response"}

// seals are coders that compute seals, whose memory is reused.
var seals = sync.Pool{New: func() any {
	c := &coder{cursor: cursor{form: asSealed, members: make([]member, 0, membersRoom)}}
	c.steps = c.room.steps[:0]
	return c
}}

// sealOf returns the seal of a record in a text (SF "Individual Snapshot Hash"). It reports false if a member that the
// seal covers is missing, or if JavaScript would read a number differently.
func (c *coder) sealOf(record jsontext.Value) (canon.Hash, bool) {
	if c.seal == nil {
		c.seal = seals.Get().(*coder)
	}
	s := c.seal
	s.dst, s.found, s.sum = s.dst[:0], nil, nil
	opening := "{"
	for _, name := range sealedNames {
		value := record.Member(name)
		if !value.Present() {
			return "", false
		}
		s.write(opening)
		opening = ","
		s.writeText(name)
		s.write(":")
		s.value(value)
	}
	s.write("}")
	if s.sum == nil {
		return canon.Sum(s.dst), len(s.found) == 0
	}
	s.sum.Write(s.dst)
	return canon.Hash(fmt.Sprintf("sha256:%x", s.sum.Sum(nil))), len(s.found) == 0
}

// SealOf returns the seal of a record's text (SF "Individual Snapshot Hash"), from any writer. The error is an
// [*Error]: readers understand the text differently, a member that the seal covers is missing, or JavaScript would read
// a number differently.
func SealOf(record []byte) (canon.Hash, error) {
	text, err := jsontext.ParseStrict(record)
	if err != nil {
		return "", unreadable(record, err)
	}
	var c coder
	seal, ok := c.sealOf(text.Root())
	switch {
	case ok:
		return seal, nil
	case len(c.seal.found) > 0:
		return "", &Error{Violations: sorted(c.seal.found)}
	}
	return "", &Error{Violations: []Violation{{Rule: RuleMissing, Message: "lacks a member that the seal covers"}}}
}

// RequestCore returns the canonical JSON of a complete request, without the values at the ignored RFC 6901 pointers
// (design R3). Texts are joined, and numbers that do not fit a float64 are objects. The token * stands for every
// element of an array. A pointer to nothing is permitted; one that is malformed, or that names the complete request, is
// an error.
func RequestCore(r *modelio.Request, ignored []string) ([]byte, error) {
	c := newCoreCoder(textsOf(r.Messages))
	s := Snapshot{Request: *r}
	c.request(&s)
	if err := c.err(); err != nil {
		return nil, err
	}
	return without(c.dst, ignored)
}

// ResponseCore returns the canonical JSON of a model's answer: content, finish_reason, tool_calls, parts, candidates
// and error, without absent ones (design R3). The provider's own finish reason is left out.
func ResponseCore(r *Response) ([]byte, error) {
	c := newCoreCoder(0)
	c.response(r)
	return c.dst, c.err()
}

// without returns a core without the members and elements at pointers.
func without(core []byte, pointers []string) ([]byte, error) {
	if len(pointers) == 0 {
		return core, nil
	}
	paths := make([][]string, len(pointers))
	for i, pointer := range pointers {
		tokens, err := jsontext.ParsePointer(pointer)
		if err != nil {
			return nil, err
		}
		if len(tokens) == 0 {
			wrong := Violation{Pointer: pointer, Rule: RuleValue, Message: "the empty pointer names the whole request"}
			return nil, &Error{Violations: []Violation{wrong}}
		}
		paths[i] = tokens
	}
	return appendWithout(make([]byte, 0, len(core)), jsontext.ValueOf(core), paths), nil
}

// appendWithout appends v, which is canonical, without the values at paths.
func appendWithout(out []byte, v jsontext.Value, paths [][]string) []byte {
	if len(paths) == 0 || !v.IsObject() && !v.IsArray() {
		return append(out, v.Raw()...)
	}
	closing, start := byte('}'), len(out)+1
	if v.IsArray() {
		closing = ']'
	}
	out = append(out, v.Raw()[0])
	item := func(token string, name []byte, value jsontext.Value) {
		var below [][]string
		for _, path := range paths {
			if path[0] != token && !(path[0] == "*" && name == nil) {
				continue
			}
			if len(path) == 1 {
				return
			}
			below = append(below, path[1:])
		}
		if len(out) > start {
			out = append(out, ',')
		}
		out = appendWithout(append(out, name...), value, below)
	}
	for name, value := range v.Members() {
		item(name, append(jsontext.AppendText(nil, name), ':'), value)
	}
	for i, value := range v.Elements() {
		item(strconv.Itoa(i), nil, value)
	}
	return append(out, closing)
}

// mediumBegins is the prefix of a medium's name in JSON.
var mediumBegins = []byte(`"` + blob)

// Media returns the media that the record's messages and answers refer to, without duplicates.
func (s *Snapshot) Media() (found []Medium) {
	add := func(name string) {
		if m, ok := parseMedium(name); ok && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	look := texts.Editor{
		Text: func(text *string) bool { add(*text); return false },
		JSON: func(raw *json.RawMessage) bool {
			for _, rest, ok := bytes.Cut(*raw, mediumBegins); ok; _, rest, ok = bytes.Cut(rest, mediumBegins) {
				name, _, _ := bytes.Cut(rest, []byte{'"'})
				add(blob + string(name))
			}
			return false
		},
	}
	look.Request(&s.Request)
	for i := range s.Response.Candidates {
		look.Message(&s.Response.Candidates[i].Message)
	}
	return found
}

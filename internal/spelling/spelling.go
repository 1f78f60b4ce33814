// Package spelling examines how the files of documents are written. Package snapshot reads any spelling; verify
// requires the one of traceforge, so that a change of a document is a change of its content.
package spelling

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// written is memory for the files of documents, which [Examine] reuses.
var written = sync.Pool{New: func() any { return new([]byte) }}

// Examine is [snapshot.Parse], but it also requires the spelling of [snapshot.Document.Write]: [snapshot.Version], the
// layout, the order of members and the pieces of texts. The document is nil if Parse would reject it, or if it is of
// [snapshot.VersionSF].
func Examine(data []byte) (*snapshot.Document, []snapshot.Violation) {
	doc, err := snapshot.Parse(data)
	var wrong *snapshot.Error
	switch {
	case errors.As(err, &wrong):
		return nil, wrong.Violations
	case doc.Version != snapshot.Version:
		return nil, []snapshot.Violation{snapshot.OtherVersion(doc.Version)}
	}
	room := written.Get().(*[]byte)
	defer written.Put(room)
	if *room = doc.AppendFile(slices.Grow((*room)[:0], len(data))); bytes.Equal(data, *room) {
		return doc, nil
	}
	message := "differs from what traceforge writes in white space, order or spelling"
	if bytes.Contains(data, []byte("\r\n")) {
		message = "has CRLF line ends: git must not change them, as .gitattributes says"
	} else if found := otherPieces(jsontext.ValueOf(data), jsontext.ValueOf(*room)); found != nil {
		return doc, found
	}
	return doc, []snapshot.Violation{{Rule: snapshot.RuleCanonical, Message: message}}
}

// foundMost limits the violations that are collected: a text from anywhere may have millions.
const foundMost = 1000

// otherPieces returns a violation for each text of a document whose pieces differ from those in its file.
func otherPieces(data, file jsontext.Value) (found []snapshot.Violation) {
	var compare func(data, file jsontext.Value, pointer string)
	compare = func(data, file jsontext.Value, pointer string) {
		if len(found) == foundMost || bytes.Equal(data.Raw(), file.Raw()) {
			return
		}
		was, isText := piecesOf(data)
		if is, isText2 := piecesOf(file); isText && isText2 {
			if data.IsString() != file.IsString() || !slices.Equal(was, is) {
				found = append(found, snapshot.Violation{
					Pointer: pointer, Rule: snapshot.RulePieces,
					Message: "must be in the pieces that traceforge writes, which hide no line break: seal it again",
				})
			}
			return
		}
		members := maps.Collect(file.Members())
		for name, value := range data.Members() {
			compare(value, members[name], pointer+jsontext.PointerTo(name))
		}
		elements := file.Values()
		for i, value := range data.Elements() {
			if i < len(elements) {
				compare(value, elements[i], pointer+"/"+strconv.Itoa(i))
			}
		}
	}
	compare(data, file, "")
	slices.SortFunc(found, snapshot.Violation.Compare)
	return found
}

// piecesOf returns the pieces of a text: a string, an array of strings, or such an array in free JSON.
func piecesOf(v jsontext.Value) (pieces []string, isText bool) {
	if text, ok := v.Text(); ok {
		return []string{text}, true
	}
	if v.Len() == 1 && v.IsObject() {
		v = v.Member("$text")
	}
	pieces, isText = v.Texts()
	return pieces, isText && len(pieces) > 0
}

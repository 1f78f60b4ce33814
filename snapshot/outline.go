package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/traceforge/traceforge-go/canon"
)

// An outline is a record's file without its white space, and where its members are. It is
// what replay and Verify read instead of decoding the file: what this package wrote is
// canonical already, so hashing its bytes is enough.
type outline struct {
	text    []byte // compact, if the file is JSON
	laidOut bool   // the file's white space was just what layOut makes, and nothing is nested too deep
	commas  []comma
}

// A comma is one between members of the record, or of an object that is one of them.
type comma struct {
	at    int // offset in the text
	depth int // recordDepth or recordDepth+1
}

// recordDepth is the number of objects and arrays that a record's members are in.
const recordDepth = 3

// scan outlines a file in one pass. Of a file that is not JSON the result is of no use,
// but harmless.
func (o *outline) scan(file []byte) {
	o.text, o.commas = o.text[:0], o.commas[:0]
	o.laidOut = true
	depth := 0
	closing := false // after the line break before a closing bracket
	for i := 0; i < len(file); {
		c := file[i]
		switch c {
		case '"':
			end := stringEnd(file, i)
			o.text = append(o.text, file[i:end]...)
			i = end
			continue
		case '{', '[':
			depth++
			o.laidOut = o.laidOut && depth <= canon.MaxDepth
			i++
			if i < len(file) && file[i] == c+2 { // empty: both closing brackets are two above
				o.text = append(o.text, c, c+2)
				depth--
				i++
				continue
			}
			i = o.lineBreak(file, i, depth)
		case ',':
			if depth == recordDepth || depth == recordDepth+1 {
				o.commas = append(o.commas, comma{len(o.text), depth})
			}
			i = o.lineBreak(file, i+1, depth)
		case ':':
			i++
			if i < len(file) && file[i] == ' ' {
				i++
			} else {
				o.laidOut = false
			}
		case '}', ']':
			o.laidOut = o.laidOut && closing
			depth--
			i++
		case '\n':
			if i == len(file)-1 {
				o.laidOut = o.laidOut && depth == 0
				return
			}
			i = o.lineBreak(file, i, depth-1)
			closing = true
			o.laidOut = o.laidOut && i < len(file) && (file[i] == '}' || file[i] == ']')
			continue
		case ' ', '\t', '\r':
			o.laidOut = false
			i++
			continue
		default:
			end := scalarEnd(file, i)
			o.text = append(o.text, file[i:end]...)
			i = end
			continue
		}
		o.text = append(o.text, c)
		closing = false
	}
	o.laidOut = false // no final line break
}

const spaces = "                                                                "

// lineBreak returns the end of the line break and the indentation at file[i], which should
// be that of the given depth.
func (o *outline) lineBreak(file []byte, i, depth int) int {
	end := i + 1 + 2*depth
	if depth >= 0 && end <= len(file) && file[i] == '\n' && isSpaces(file[i+1:end]) {
		return end
	}
	o.laidOut = false
	for i < len(file) && (file[i] == ' ' || file[i] == '\n' || file[i] == '\r' || file[i] == '\t') {
		i++
	}
	return i
}

func isSpaces(b []byte) bool {
	for len(b) > len(spaces) {
		if string(b[:len(spaces)]) != spaces {
			return false
		}
		b = b[len(spaces):]
	}
	return string(b) == spaces[:len(b)]
}

const (
	openDocument = `{"version":"` + Version + `","snapshots":[`
	openHash     = `,"hash":"`
	closeRecord  = `"}],"hash":"`
	closeText    = `"}`
	hashLen      = len("sha256:") + 64
	tailLen      = len(openHash) + hashLen + len(closeRecord) + hashLen + len(closeText)
)

// A sealedRecord is what an outline shows of a file with one record.
type sealedRecord struct {
	members [len(sealedNames)]span // the values of the members that the seal covers
	seal    []byte
}

// A span is a part of an outline's text.
type span struct{ start, end int }

// sealed returns the record of the outline, if the members of the document and of the
// record are just those of the format, in order, and both hashes match. What
// the members hold is not looked at.
func (o *outline) sealed() (r sealedRecord, ok bool) {
	end := len(o.text) - tailLen
	if end < len(openDocument) || string(o.text[:len(openDocument)]) != openDocument {
		return r, false
	}
	start, n := len(openDocument), 0
	for _, comma := range o.commas {
		if comma.depth != recordDepth {
			continue
		}
		if n == len(r.members) {
			return r, false
		}
		opening := memberOpenings[n]
		if !bytes.HasPrefix(o.text[start:comma.at], opening) {
			return r, false
		}
		r.members[n] = span{start + len(opening), comma.at}
		start = comma.at
		n++
	}
	if n != len(r.members) || start != end {
		return r, false
	}

	seal, rest, _ := cutHash(o.text[end:], openHash)
	hash, rest, _ := cutHash(rest, closeRecord)
	if string(rest) != closeText {
		return r, false
	}
	r.seal = seal
	o.text[end] = '}' // as the sealed text ends
	intact := isHashOf(seal, o.text[len(openDocument):end+1])
	o.text[end] = ','
	// SF "Combined Hash", of a document with one record.
	const before, after = `{"version":"` + Version + `","snapshots":["`, `"]}`
	var combined [len(before) + hashLen + len(after)]byte
	return r, intact && isHashOf(hash, append(append(append(combined[:0], before...), seal...), after...))
}

// isHashOf reports whether hash is the [canon.Hash] of text. Unlike canon.Sum it allocates
// nothing, of which replay has a budget.
func isHashOf(hash, text []byte) bool {
	sum := sha256.Sum256(text)
	var digits [2 * sha256.Size]byte
	hex.Encode(digits[:], sum[:])
	prefixed := len(hash) == hashLen && string(hash[:hashLen-len(digits)]) == "sha256:"
	return prefixed && string(hash[hashLen-len(digits):]) == string(digits[:])
}

// memberOpenings are the texts before the values that the seal covers.
var memberOpenings = func() (openings [len(sealedNames)][]byte) {
	for i, name := range sealedNames {
		openings[i] = []byte(`,"` + name + `":`)
	}
	openings[0][0] = '{'
	return openings
}()

// cutHash returns the hash after the given opening, and what follows; none if text does not
// start with opening.
func cutHash(text []byte, opening string) (hash, rest []byte, ok bool) {
	if len(text) < len(opening)+hashLen || string(text[:len(opening)]) != opening {
		return nil, nil, false
	}
	return text[len(opening):][:hashLen], text[len(opening)+hashLen:], true
}

// member returns the value of the named member of an object that is a member of the record;
// nil: it has none.
func (o *outline) member(object span, name string) []byte {
	start := object.start + 1
	for _, comma := range o.commas {
		if comma.at < start {
			continue
		}
		last := comma.at >= object.end
		if !last && comma.depth != recordDepth+1 {
			continue
		}
		end := min(comma.at, object.end-1)
		item := o.text[start:max(start, end)]
		if len(item) > len(name)+3 && item[0] == '"' && string(item[1:len(name)+1]) == name && string(item[len(name)+1:len(name)+3]) == `":` {
			return item[len(name)+3:]
		}
		if last {
			break
		}
		start = comma.at + 1
	}
	return nil
}

package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// joined returns, for each path of members, the strings that the events of a stream have there, in order. It recognizes
// server-sent events, JSON lines, an array of answers and Amazon's event stream by their bytes, and returns nothing for
// any other text. A string that is the same in all events is not a piece of a text, and is left out.
func joined(text []byte) [][][]byte {
	j := joiner{at: map[uint64]int{}}
	trimmed := bytes.TrimLeft(text, "\ufeff \t\r\n")
	switch {
	case len(trimmed) == 0:
	case frame(text) > 0:
		for n := frame(text); n > 0; n = frame(text) {
			headers := int(binary.BigEndian.Uint32(text[4:]))
			j.walk(text[12+headers:n-4], 0)
			text = text[n:]
		}
	case bytes.HasPrefix(trimmed, []byte("data:")) || bytes.Contains(text, []byte("\ndata:")) ||
		bytes.Contains(text, []byte("\rdata:")):
		if bytes.IndexByte(trimmed, '\r') >= 0 { // CR and CRLF end lines, too
			trimmed = bytes.ReplaceAll(bytes.ReplaceAll(trimmed, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		}
		// of several lines, whose names are skipped like other text
		for event := range bytes.SplitSeq(trimmed, []byte("\n\n")) {
			_, data, _ := bytes.Cut(event, []byte("data:"))
			j.walk(data, 0)
		}
	case trimmed[0] == '{' && bytes.Contains(trimmed, []byte("\n{")), trimmed[0] == '[':
		j.walk(trimmed, 0)
	}
	return slices.DeleteFunc(j.said, func(pieces [][]byte) bool {
		return !slices.ContainsFunc(pieces, func(piece []byte) bool { return !bytes.Equal(piece, pieces[0]) })
	})
}

// frame returns the length of the Amazon event stream frame at the start of text, or 0. A frame has its length, the
// length of its headers, a checksum, headers, payload, and another checksum.
func frame(text []byte) int {
	const least = 16
	if len(text) < least {
		return 0
	}
	whole, headers := binary.BigEndian.Uint32(text), binary.BigEndian.Uint32(text[4:])
	if whole < least || uint64(whole) > uint64(len(text)) || headers > whole-least {
		return 0
	}
	return int(whole)
}

// A joiner collects strings by their path.
type joiner struct {
	at   map[uint64]int // indexes into said, by the hash of a path
	said [][][]byte     // the strings of each path
}

var pathSeed = maphash.MakeSeed()

// walk collects the strings of consecutive JSON values. Text that is not JSON is skipped. Positions in arrays are not
// part of a path, because an event has an array of one element where the answer has many. Values of members that are
// named as indexes are part of it.
func (j *joiner) walk(text []byte, root uint64) {
	paths := append(make([]uint64, 0, 32), root) // paths of the enclosing values, on the stack
	member := uint64(0)                          // hash of the last name
	index := false                               // the member is an index
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{' || c == '[':
			paths = append(paths, paths[len(paths)-1]*31+member)
			member = 0
		case (c == '}' || c == ']') && len(paths) > 1:
			paths, member, index = paths[:len(paths)-1], 0, false
		case c == ',' && len(paths) == 1:
			member = 0
		case '0' <= c && c <= '9' && index:
			paths[len(paths)-1] += uint64(c) * 1_000_003
		case c == '"':
			end := jsontext.StringEnd(text, i+1)
			inner := text[i+1 : end]
			i = end
			next := end + 1
			for next < len(text) && text[next] <= ' ' {
				next++
			}
			if next < len(text) && text[next] == ':' {
				member = maphash.Bytes(pathSeed, inner)
				index = bytes.HasSuffix(inner, []byte("index"))
				continue
			}
			j.add(paths[len(paths)-1]*31+member, inner)
		}
	}
}

// add appends a string to those with the same path. It walks an object in base64, as in Bedrock's events.
func (j *joiner) add(path uint64, inner []byte) {
	if bytes.HasPrefix(inner, []byte("eyJ")) {
		if decoded, err := base64.StdEncoding.AppendDecode(nil, inner); err == nil {
			j.walk(decoded, path)
			return
		}
	}
	n, ok := j.at[path]
	if !ok {
		n = len(j.said)
		j.at[path], j.said = n, append(j.said, nil)
	}
	j.said[n] = append(j.said[n], inner)
}

package snapshot

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
)

// writePart writes the part of text, an object. Anything else is written as it is.
func writePart(w io.Writer, text []byte, p part) {
	if p == nil || text[0] != '{' {
		w.Write(text)
		return
	}
	opening := "{"
	for i := 1; text[i] != '}'; {
		name := stringEnd(text, i)
		end := valueEnd(text, name+1)
		if below, ok := p[string(text[i+1:name-1])]; ok {
			io.WriteString(w, opening)
			w.Write(text[i : name+1])
			writeParts(w, text[name+1:end], below)
			opening = ","
		}
		if i = end; text[i] == ',' {
			i++
		}
	}
	if opening == "{" {
		io.WriteString(w, opening)
	}
	io.WriteString(w, "}")
}

// writeParts writes the part of each element of text, an array. Anything else is written as it
// is.
func writeParts(w io.Writer, text []byte, p part) {
	if p == nil || text[0] != '[' {
		w.Write(text)
		return
	}
	io.WriteString(w, "[")
	for i := 1; text[i] != ']'; {
		end := valueEnd(text, i)
		writePart(w, text[i:end], p)
		if i = end; text[i] == ',' {
			io.WriteString(w, ",")
			i++
		}
	}
	io.WriteString(w, "]")
}

// without appends text to out, less the members and elements that paths lead to.
func without(out, text []byte, paths [][]string) []byte {
	c := newCursor(text)
	start := 1
	item := func(token string) {
		var below [][]string
		drop := false
		for _, path := range paths {
			if path[0] == token {
				drop = drop || len(path) == 1
				below = append(below, path[1:])
			}
		}
		value := c.pos
		c.skip()
		switch {
		case drop:
		case below == nil:
			out = appendItem(out, text[start:c.pos])
		default:
			out = appendItem(out, text[start:value])
			out = without(out, text[value:c.pos], below)
		}
		start = c.pos + 1
	}
	switch text[0] {
	case '{':
		out = append(out, '{')
		c.members(item)
		return append(out, '}')
	case '[':
		out = append(out, '[')
		c.elements(func() { item(strconv.Itoa(c.steps[len(c.steps)-1].index)) })
		return append(out, ']')
	}
	return append(out, text...) // a path that leads below a scalar names nothing
}

// appendItem appends a member or an element to an open object or array.
func appendItem(out, item []byte) []byte {
	if last := out[len(out)-1]; last != '{' && last != '[' {
		out = append(out, ',')
	}
	return append(out, item...)
}

// fileOrder returns text, which is canonical, in the order in which files have the members of
// objects: that of ECMAScript for what [canon] has sorted. It differs from the canonical order
// only where names are array indexes, as in a logit_bias: these come first, by number. So the
// JavaScript of SF "Hash Calculation", whose JSON.parse orders them so, hashes what files say.
func fileOrder(text []byte) []byte {
	if !mayHaveIndex(text) {
		return text
	}
	return appendFileOrder(make([]byte, 0, len(text)), text)
}

func appendFileOrder(out, text []byte) []byte {
	c := newCursor(text)
	switch text[0] {
	case '{':
		type item struct {
			index            uint64
			name, value, end int
		}
		var indexes, others []item
		start := 1
		c.members(func(name string) {
			it := item{name: start, value: c.pos}
			c.skip()
			it.end, start = c.pos, c.pos+1
			var ok bool
			if it.index, ok = arrayIndex(name); ok {
				indexes = append(indexes, it)
			} else {
				others = append(others, it)
			}
		})
		slices.SortFunc(indexes, func(a, b item) int { return cmp.Compare(a.index, b.index) })
		out = append(out, '{')
		for _, it := range append(indexes, others...) {
			out = appendItem(out, text[it.name:it.value])
			out = appendFileOrder(out, text[it.value:it.end])
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		c.elements(func() {
			out = appendItem(out, nil)
			out = appendFileOrder(out, c.skip())
		})
		return append(out, ']')
	}
	return append(out, text...)
}

// arrayIndex returns the array index that name is, as ECMAScript defines them: an integer
// below 2^32-1 in its shortest spelling.
func arrayIndex(name string) (uint64, bool) {
	const longest = len("4294967294")
	if len(name) == 0 || len(name) > longest || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n < 1<<32-1
}

// mayHaveIndex reports whether text may have a member whose name is an array index. What
// looks like one in a string counts too.
func mayHaveIndex(text []byte) bool {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte(`":`))
		if n < 0 {
			return false
		}
		i += n
		first := i
		for first > 0 && '0' <= text[first-1] && text[first-1] <= '9' {
			first--
		}
		if first < i && first > 0 && text[first-1] == '"' {
			return true
		}
		i += len(`":`)
	}
}

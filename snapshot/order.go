package snapshot

import (
	"cmp"
	"strconv"
)

// canonicalOrder compares names by their UTF-16 code units (RFC 8785 section 3.2.3).
func canonicalOrder(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(utf16Rank(a[i])) - int(utf16Rank(b[i]))
		}
	}
	return len(a) - len(b)
}

// utf16Rank maps the first byte in which two names differ to its place in UTF-16 order. That is
// the order of UTF-8, except that U+10000 and above (first byte F0 to F4) are surrogates in
// UTF-16 and so precede U+E000 to U+FFFF (first byte EE or EF).
func utf16Rank(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}

// fileOrder compares names as files have them: array indexes first, by number, as JSON.parse orders
// them whatever the text says, and all others in canonical order. So the JavaScript of SF "Hash
// Calculation" hashes what files say.
func fileOrder(a, b string) int {
	if order, ok := indexOrder(a, b); ok {
		return order
	}
	return canonicalOrder(a, b)
}

// indexOrder compares names of which at least one is an array index.
func indexOrder(a, b string) (order int, ok bool) {
	i, isIndex := arrayIndex(a)
	j, both := arrayIndex(b)
	switch {
	case isIndex && both:
		return cmp.Compare(i, j), true
	case isIndex:
		return -1, true
	case both:
		return 1, true
	}
	return 0, false
}

// textOrder compares names as JSON.parse orders those of a text.
func textOrder(a, b string) int {
	order, _ := indexOrder(a, b)
	return order
}

// arrayIndex returns the array index that name is, as ECMAScript defines them: an integer
// below 2^32-1 in its shortest spelling.
func arrayIndex(name string) (uint64, bool) {
	const longest = len("4294967294")
	if len(name) == 0 || len(name) > longest || name[0] < '0' || name[0] > '9' || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n < 1<<32-1
}

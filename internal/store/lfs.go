package store

import (
	"bytes"
	"errors"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// LFSAttributes is the other text that .gitattributes may have: git keeps raw answers and media in Git LFS.
const LFSAttributes = `* -text
manifest.json -merge linguist-generated
*/*/* filter=lfs -merge linguist-generated
`

// ErrNotFetched says that what belongs beside a document is a pointer of Git LFS, whose content is not here.
var ErrNotFetched = errors.New("not fetched from Git LFS")

// NotFetched is what a file is that has only a pointer to its content.
const NotFetched = "is a pointer of Git LFS whose content was not fetched: git lfs pull"

// UseLFS makes git keep raw answers and media in Git LFS from now on: it writes .gitattributes, and the store if
// there is none. Committed files stay where they are until they are added again.
func (s *Store) UseLFS() error {
	lfs := *s
	lfs.lfs = true
	return lfs.Exclusively(func(Writer) error { return nil })
}

// maxAttributes is how much of .gitattributes is read: more than either text has.
const maxAttributes = 1024

// attributesFor returns the content that .gitattributes should have where it has got now: that for Git LFS stays so,
// also where it was damaged.
func (l lockFile) attributesFor(got string) string {
	if l.lfs || strings.Contains(got, "filter=lfs") {
		return LFSAttributes
	}
	return Attributes
}

// pointerVersion is the first line of each pointer of Git LFS.
const pointerVersion = "version https://git-lfs.github.com/spec/v1\n"

// maxPointer is how long a pointer of Git LFS is at most, and a bit: its specification says less than 1,024 bytes.
const maxPointer = 1024

// Pointed returns the hash of the content that data is a pointer of Git LFS to; empty means it is none.
func Pointed(data []byte) canon.Hash {
	if len(data) >= maxPointer || !bytes.HasPrefix(data, []byte(pointerVersion)) {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		oid, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "oid ")
		if h := canon.Hash(oid); ok && h.Valid() {
			return h
		}
	}
	return ""
}

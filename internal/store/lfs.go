package store

import (
	"bytes"
	"errors"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// LFSAttributes is the alternative content of .gitattributes, which makes git keep raw answers and media in Git LFS.
const LFSAttributes = `* -text -ident !working-tree-encoding
manifest.json -merge linguist-generated
*/*/* filter=lfs -merge linguist-generated
`

// ErrNotFetched means that a file next to a document is a Git LFS pointer whose content was not fetched.
var ErrNotFetched = errors.New("not fetched from Git LFS")

// NotFetched describes a file that is only a pointer to its content.
const NotFetched = "is a pointer of Git LFS whose content was not fetched: git lfs pull"

// UseLFS makes git keep raw answers and media in Git LFS from now on: it writes .gitattributes, and creates the store
// if necessary. Committed files are not converted until they are added again.
func (s *Store) UseLFS() error {
	lfs := *s
	lfs.lfs = true
	return lfs.Exclusively(func(Writer) error { return nil })
}

// maxAttributes is how much of .gitattributes is read, which is more than either content has.
const maxAttributes = 1024

// attributesFor returns the content that .gitattributes should have, given its current content: a file for Git LFS
// stays one, even if it was damaged.
func (l lockFile) attributesFor(got string) string {
	if l.store.lfs || strings.Contains(got, "filter=lfs") {
		return LFSAttributes
	}
	return Attributes
}

// pointerVersion is the first line of a Git LFS pointer.
const pointerVersion = "version https://git-lfs.github.com/spec/v1\n"

// maxPointer is a limit on the length of a Git LFS pointer, which its specification says is less than 1,024 bytes.
const maxPointer = 1024

// Pointed returns the hash that a Git LFS pointer in data refers to; empty if data is not a pointer.
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

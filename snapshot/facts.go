package snapshot

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// Facts are what a commit must know of the records that it does not touch.
type facts struct {
	timestamp time.Time    // zero: the file is altered, and it is not known
	blobs     []canon.Hash // that the record refers to, and those that these refer to
}

// recorded has the facts of records by their seals, so that of a store with many records a
// process reads each at most once, and not at every commit. What a seal stands for never
// changes, so the map is never stale: it is the one global state of this package.
var recorded sync.Map // canon.Hash -> facts

// factsOf returns the facts of the record with the given entry. A file that is altered refers
// to every blob that it mentions, so that nothing is lost by what happened to it.
func (s *Store) factsOf(root *os.Root, e Entry) (facts, error) {
	if known, ok := recorded.Load(e.Hash); ok {
		return known.(facts), nil
	}
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	if err := scratch.read(root, e.File); err != nil {
		return facts{}, err
	}
	f, seal := scratch.facts(s.readBlob)
	if seal != "" {
		recorded.Store(seal, f)
	}
	return f, nil
}

// facts returns the facts of the file that was read, and the seal if it is intact.
func (s *scratch) facts(readBlob func(canon.Hash) ([]byte, error)) (facts, canon.Hash) {
	var f facts
	s.scan(s.file)
	r, ok := s.sealed()
	if !ok {
		f.blobs = mentioned(s.file)
		return f, ""
	}
	var named refs
	at := r.members[1]
	value := s.text[at.start:at.end]
	ok = canon.Canonical(value) && timestamp.decode(newCursor(value), &f.timestamp)
	ok = decodeMember(s, r.members[requestText], "blobs", list(hash), &named.media) && ok
	ok = decodeMember(s, r.members[responseText], "raw_output_ref", hash, &named.raw) && ok
	ok = decodeMember(s, r.members[responseText], "output_ref", hash, &named.output) && ok
	if !ok {
		f.blobs = mentioned(s.file)
		return f, ""
	}
	f.blobs = named.reachable(readBlob)
	return f, canon.Hash(r.seal)
}

// Refs are the blobs that a record names.
type refs struct {
	media       []canon.Hash // of the request
	raw, output canon.Hash
}

func refsOf(s *Snapshot) refs {
	return refs{s.Request.Blobs, s.Response.RawOutputRef, s.Response.OutputRef}
}

// direct yields the blobs by the places that name them.
func (r refs) direct() iter.Seq2[string, canon.Hash] {
	return func(yield func(string, canon.Hash) bool) {
		for i, h := range r.media {
			if !yield(fmt.Sprintf("/snapshots/0/request/blobs/%d", i), h) {
				return
			}
		}
		if r.raw != "" && !yield("/snapshots/0/response/raw_output_ref", r.raw) {
			return
		}
		if r.output != "" {
			yield("/snapshots/0/response/output_ref", r.output)
		}
	}
}

// reachable returns the blobs that a record refers to: those that it names, and all that the
// envelope names (LC "Normalized Output Envelope").
func (r refs) reachable(readBlob func(canon.Hash) ([]byte, error)) (found []canon.Hash) {
	for _, h := range r.direct() {
		found = append(found, h)
	}
	if r.output == "" {
		return found
	}
	next := []canon.Hash{r.output}
	for seen := map[canon.Hash]bool{}; len(next) > 0; {
		h := next[0]
		next = next[1:]
		if seen[h] {
			continue
		}
		seen[h] = true
		found = append(found, h)
		// What is missing or altered is for Verify to say.
		if data, err := readBlob(h); err == nil {
			next = append(next, mentioned(data)...)
		}
	}
	return found
}

// mentioned returns the hashes that are strings of a JSON text.
func mentioned(text []byte) (hashes []canon.Hash) {
	for rest := text; ; {
		_, after, ok := bytes.Cut(rest, []byte(`"sha256:`))
		if !ok {
			return hashes
		}
		rest = after
		if len(after) <= 64 || after[64] != '"' {
			continue
		}
		if h := canon.Hash("sha256:" + string(after[:64])); h.Valid() {
			hashes = append(hashes, h)
		}
	}
}

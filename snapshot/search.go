package snapshot

import (
	"errors"
	"io"
	"os"
	"strings"
)

// A search finds entries in a manifest without reading all of it: its entries are sorted,
// one a line, so what a look-up costs grows with the logarithm of their number (design R13). It
// trusts no line that it did not read.
type search struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
	start, end int64  // of the entries' lines
	last       string // provider of the last entry

	buf   []byte
	block string // what was read last
	at    int64  // its offset
}

// blockSize is what is read at once where lines are read one after the other.
const blockSize = 8 << 10

// errMalformed ends a search; what is wrong is for parseManifest to say.
var errMalformed = errors.New("malformed manifest")

// openSearch opens the manifest in root.
func openSearch(root *os.Root) (*search, error) {
	f, err := root.Open(manifestName)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	s := &search{file: f, end: info.Size(), buf: make([]byte, blockSize)}
	if err := s.open(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// open reads what is around the entries, and finds where they are.
func (s *search) open() error {
	size := s.end
	head, err := s.read(0, blockSize)
	if err != nil {
		return err
	}
	m := Manifest{}
	entries, err := m.parseHead(head)
	if err != nil {
		return errMalformed
	}
	s.start = int64(len(head) - len(entries))
	tail, err := s.read(max(s.start, size-int64(tailSize+2*entryLineMost)), tailSize+2*entryLineMost)
	if err != nil {
		return err
	}
	entries, err = m.parseTail(tail)
	if err != nil {
		return errMalformed
	}
	s.end = size - int64(tailSize)
	entries = strings.TrimSuffix(entries, "\n")
	last, err := parseEntry(entries[strings.LastIndexByte(entries, '\n')+1:])
	if err != nil {
		return errMalformed
	}
	s.last = last.Provider
	return nil
}

func (s *search) close() error { return s.file.Close() }

// read returns the n bytes at offset at, fewer only before the end.
func (s *search) read(at int64, n int) (string, error) {
	n = int(min(int64(n), s.end-at))
	if at < s.at || at+int64(n) > s.at+int64(len(s.block)) {
		if _, err := s.file.ReadAt(s.buf[:n], at); err != nil {
			return "", err
		}
		s.at, s.block = at, string(s.buf[:n])
	}
	return s.block[at-s.at:][:n], nil
}

// entry returns the entry whose line is at offset at, and the offset of the next line. If the line
// must be read, so are size bytes.
func (s *search) entry(at int64, size int) (e Entry, next int64, err error) {
	line := s.cached(at)
	if !strings.Contains(line, "\n") {
		if line, err = s.read(at, size); err != nil {
			return e, 0, err
		}
	}
	n := strings.IndexByte(line, '\n') + 1
	e, err = parseEntry(line[:n])
	next = at + int64(n)
	if comma := n > 1 && line[n-2] == ','; err != nil || comma != (next < s.end) {
		return e, 0, errMalformed
	}
	return e, next, nil
}

// cached returns what of the last block is at offset at.
func (s *search) cached(at int64) string {
	if at < s.at || at >= s.at+int64(len(s.block)) {
		return ""
	}
	return s.block[at-s.at : min(s.end, s.at+int64(len(s.block)))-s.at]
}

// find returns the offset of the first line whose file is not less than key.
func (s *search) find(key string) (int64, error) {
	low, high := s.start, s.end
	var below, above string // files of the lines before low and at high; empty: none was read
	for high-low > 4*int64(entryLineMost) {
		if high-low <= blockSize { // the rest is read at once
			if _, err := s.read(low, int(high-low)); err != nil {
				return 0, err
			}
		}
		// The line after the middle; no line is longer than entryLineMost.
		middle := low + (high-low)/2
		view, err := s.read(middle, int(min(high-middle, 2*int64(entryLineMost))))
		if err != nil {
			return 0, err
		}
		n := strings.IndexByte(view, '\n') + 1
		e, next, err := s.entry(middle+int64(n), entryLineMost)
		if err != nil {
			return 0, err
		}
		if n == 0 || e.File <= below || above != "" && e.File >= above {
			return 0, errMalformed
		}
		if e.File < key {
			low, below = next, e.File
		} else {
			high, above = middle+int64(n), e.File
		}
	}
	for low < high {
		e, next, err := s.entry(low, blockSize)
		if err != nil {
			return 0, err
		}
		if e.File <= below {
			return 0, errMalformed
		}
		if e.File >= key {
			return low, s.inOrder(e, next)
		}
		low, below = next, e.File
	}
	return high, nil
}

// inOrder looks one line ahead, so that two that were swapped, as by a merge, are noticed.
func (s *search) inOrder(e Entry, next int64) error {
	if next == s.end {
		return nil
	}
	after, _, err := s.entry(next, blockSize)
	if err == nil && after.File <= e.File {
		err = errMalformed
	}
	return err
}

// between calls visit for the entries from the one file on and before the other.
func (s *search) between(from, to string, visit func(Entry)) error {
	at, err := s.find(from)
	if err != nil {
		return err
	}
	for last := ""; at < s.end; {
		e, next, err := s.entry(at, blockSize)
		if err != nil {
			return err
		}
		if e.File <= last {
			return errMalformed
		}
		if e.File >= to {
			return nil
		}
		visit(e)
		at, last = next, e.File
	}
	return nil
}

// providers calls visit for each provider that has entries, in order.
func (s *search) providers(visit func(provider string) error) error {
	for at := s.start; at < s.end; {
		e, _, err := s.entry(at, entryLineMost)
		if err != nil {
			return err
		}
		if err := visit(e.Provider); err != nil {
			return err
		}
		if e.Provider == s.last {
			return nil
		}
		// No file of the provider is greater than this, as "0" follows "/".
		if at, err = s.find(e.Provider + "0"); err != nil {
			return err
		}
	}
	return nil
}

// diagnose returns err, or if it is errMalformed, what is wrong with the manifest in root.
func diagnose(root *os.Root, err error) error {
	if !errors.Is(err, errMalformed) {
		return err
	}
	data, err := root.ReadFile(manifestName)
	if err != nil {
		return err
	}
	if _, err := parseManifest(data); err != nil {
		return err
	}
	// It was replaced meanwhile.
	return newError("", "", ruleManifest, "changed while it was read")
}

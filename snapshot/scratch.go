package snapshot

import (
	"io"
	"os"
	"sync"
)

// A scratch is memory for reading files one after the other.
type scratch struct {
	file []byte
	outline
	cursor cursor
}

const scratchSize = 32 << 10

var scratches = sync.Pool{New: func() any { return &scratch{file: make([]byte, 0, scratchSize)} }}

// glance reads a file up to the first read that does not fill the memory, which is the
// end of the file on all systems known. It spares replay the system call that says so; who
// calls it checks what was read against a hash, and else calls read.
func (s *scratch) glance(root *os.Root, file string) error {
	return s.readUntil(root, file, func(n, asked int) bool { return n < asked })
}

// read reads a file.
func (s *scratch) read(root *os.Root, file string) error {
	return s.readUntil(root, file, func(int, int) bool { return false })
}

func (s *scratch) readUntil(root *os.Root, file string, enough func(n, asked int) bool) error {
	f, err := root.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = s.file[:0]
	for {
		if len(s.file) == cap(s.file) {
			s.file = append(s.file, 0)[:len(s.file)]
		}
		asked := cap(s.file) - len(s.file)
		n, err := f.Read(s.file[len(s.file):cap(s.file)])
		s.file = s.file[:len(s.file)+n]
		if err == io.EOF || err == nil && enough(n, asked) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// openToRead opens a file to read it. That it need not wait, which no regular file does, spares package os four questions to
// the system.
func openToRead(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.EAGAIN) { // a file server lends the file, and takes it back now
		return os.Open(name)
	}
	return f, err
}

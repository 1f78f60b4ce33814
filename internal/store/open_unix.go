//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openToRead opens a file to read it, and waits for nobody: a pipe would wait for its writer. What is no regular file is
// refused by who asks for its size. That also spares package os four questions to the system.
func openToRead(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, syscall.EAGAIN): // a file server lends the file, and takes it back now
		return os.Open(name)
	case errors.Is(err, syscall.ENXIO): // a socket, or a device that is not there
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	return f, err
}

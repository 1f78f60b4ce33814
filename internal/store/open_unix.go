//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// unpolled saves package os four system calls for a new file.
const unpolled = syscall.O_NONBLOCK

// openToRead opens a file for reading without waiting, even if it is a pipe without a writer. Callers check the size
// and refuse files that are not regular. It also saves package os four system calls.
func openToRead(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.EAGAIN) { // a file server is recalling its lease of the file
		return os.Open(name)
	}
	return f, err
}

//go:build !unix

package store

import "os"

func openToRead(name string) (*os.File, error) { return os.Open(name) }

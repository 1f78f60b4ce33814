//go:build !unix

package store

import "os"

const unpolled = 0

func openToRead(name string) (*os.File, error) { return os.Open(name) }

//go:build !plan9

package recorder

import "syscall"

// The system's errors for a connection.
const (
	errRefused = syscall.ECONNREFUSED
	errReset   = syscall.ECONNRESET
	errPipe    = syscall.EPIPE
)

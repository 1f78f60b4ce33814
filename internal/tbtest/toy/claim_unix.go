//go:build unix && !solaris && !aix

package toy

import (
	"os"
	"syscall"
)

// claim locks a file unless another process holds the lock. The system releases the lock when the process ends.
func claim(path string) (release func(), ok bool) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, false
	}
	return func() { file.Close() }, true
}

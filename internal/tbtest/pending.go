package tbtest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NoPending fails t if the store in dir has a directory of pending answers. On Windows an empty one may stay, because
// its lock file is open when the rest is removed.
func NoPending(t testing.TB, dir string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, ".pending"))
	if runtime.GOOS == "windows" && len(files) == 1 && files[0].Name() == ".gitattributes" {
		return
	}
	if !os.IsNotExist(err) {
		t.Fatalf("pending answers are left in %s: %v, %v", dir, files, err)
	}
}

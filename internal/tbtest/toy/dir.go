package toy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// slots is the number of processes that can use a test's cached directories at the same time.
const slots = 4

// Dir returns an empty directory for the toy modules of a test. Its path is the same in each run, so that go can reuse
// its build cache. If another process uses the directory, or it cannot be locked, Dir returns a new one.
func Dir(t testing.TB) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(os.TempDir(), fmt.Sprintf("traceforge-toys-%d", os.Getuid()))
	_ = os.Mkdir(all, 0o700)
	if info, err := os.Lstat(all); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	name := filepath.Base(wd) + "-" + strings.ReplaceAll(t.Name(), "/", "-")
	for slot := range slots {
		dir := filepath.Join(all, fmt.Sprintf("%s-%d", name, slot))
		release, ok := claim(dir + ".lock")
		if !ok {
			continue
		}
		t.Cleanup(release)
		if remove(dir) != nil || os.Mkdir(dir, 0o700) != nil {
			break
		}
		t.Cleanup(func() {
			if err := remove(dir); err != nil {
				t.Errorf("remove what the test made: %v", err)
			}
		})
		return dir
	}
	return t.TempDir()
}

// remove removes a directory, even if it contains read-only directories.
func remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return os.RemoveAll(dir)
}

//go:build unix || windows

// Command linker caches the output of Go's linker for the tests. They run go test hundreds of times, and a test binary
// that is linked again is identical, byte for byte. It is used as Go's -toolexec:
//
//	GOFLAGS=-toolexec=/path/to/linker go test ./...
//
// Go still decides what to build, run and print. Only the linker is skipped, if it has run before with the same action
// ID, which covers everything that goes into a binary. The binaries are in traceforge-linked in the build cache. With
// TRACEFORGE_LINKER=check, all binaries are linked and compared with the cached ones.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// atMost is the maximum total size of the cached binaries in bytes. The oldest are removed first.
const atMost = 6 << 30

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -toolexec=linker")
		os.Exit(2)
	}
	tool, args := os.Args[1], os.Args[2:]
	if key, out := linking(tool, args); key != "" {
		if err := link(tool, args, key, out); err != nil {
			fmt.Fprintln(os.Stderr, "linker:", err)
			os.Exit(1)
		}
		return
	}
	if err := syscall.Exec(tool, os.Args[1:], os.Environ()); err != nil { // Windows has no exec
		exit(run(tool, args))
	}
}

// linking returns the key of a binary that the tool links, and its file; "" if the tool does something else.
func linking(tool string, args []string) (key, out string) {
	if strings.TrimSuffix(filepath.Base(tool), ".exe") != "link" || len(args) == 0 {
		return "", ""
	}
	hash, built := sha256.New(), false
	fmt.Fprintln(hash, tool)
	for i := 0; i < len(args)-1; i++ { // excludes the last argument, the main package in a temporary directory
		switch args[i] {
		case "-o":
			i++
			out = args[i]
		case "-importcfg":
			i++ // the packages, whose contents are in the build ID
		default:
			built = built || strings.HasPrefix(args[i], "-buildid=")
			fmt.Fprintln(hash, args[i])
		}
	}
	if !built || out == "" {
		return "", ""
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), out
}

// link creates out, or copies it from the cache.
func link(tool string, args []string, key, out string) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	kept := filepath.Join(cache, key)
	check := os.Getenv("TRACEFORGE_LINKER") == "check"
	if !check && copyFile(out, kept) == nil {
		now := time.Now()
		_ = os.Chtimes(kept, now, now) // another process may have removed it
		return nil
	}
	if err := run(tool, args); err != nil {
		exit(err)
	}
	if check {
		made, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		if before, err := os.ReadFile(kept); err == nil && !bytes.Equal(before, made) {
			return fmt.Errorf("%s differs from what the linker makes for it now", kept)
		}
	}
	return keep(cache, kept, out)
}

// cacheDir creates the directory of the cached binaries in the build cache.
func cacheDir() (string, error) {
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "go-build")
	}
	dir = filepath.Join(dir, "traceforge-linked")
	return dir, os.MkdirAll(dir, 0o777)
}

// keep copies a binary into the cache, and removes the oldest ones beyond atMost.
func keep(cache, kept, out string) error {
	temp := fmt.Sprintf("%s.%d", kept, os.Getpid())
	if err := copyFile(temp, out); err != nil {
		return err
	}
	if err := os.Rename(temp, kept); err != nil {
		return err
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	var files []os.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files,
		func(a, b os.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, file := range files {
		if total <= atMost {
			break
		}
		total -= file.Size()
		_ = os.Remove(filepath.Join(cache, file.Name())) // another process may have removed it
	}
	return nil
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o777)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}

func run(tool string, args []string) error {
	cmd := exec.Command(tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// exit exits in the same way as the tool.
func exit(err error) {
	if err == nil {
		return
	}
	code := 1
	if ended, ok := err.(*exec.ExitError); ok {
		code = ended.ExitCode()
	} else {
		fmt.Fprintln(os.Stderr, "linker:", err)
	}
	os.Exit(code)
}

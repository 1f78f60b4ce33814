// Package toy makes modules that use this checkout, for tests that run go in them, offline.
package toy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/traceforge/traceforge-go"

// Checkout returns the directory of this checkout's root module, which contains the working directory.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the working directory is not in a checkout of %s", module)
		}
		dir = filepath.Dir(dir)
	}
}

// Make writes the go.mod and go.sum of a module in dir that uses this checkout.
func Make(dir string) error {
	checkout, err := Checkout()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	mod := fmt.Sprintf("module example.com/toy\n\ngo 1.25\n\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", module, checkout)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666)
}

// Env returns the environment for running go in such a module: offline, with this user's caches, and without settings
// of traceforge or CI. .ci/fetch downloads modules that the cache lacks.
func Env() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	caches := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []string{
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1], "GOPROXY=off", "GONOSUMDB=*", "GOWORK=off", "GOTOOLCHAIN=local",
		"GOFLAGS=" + Flags("-mod=mod", "-vet=off", "-ldflags=-w"), // no debug information: it links faster
		"LINKER=" + Flags(),             // for scripts that set GOFLAGS
		"GOGC=off", "GOMEMLIMIT=500MiB", // go test needs far less, and would spend a fifth of its time on garbage collection
		"TRACEFORGE_LINKER=" + os.Getenv("TRACEFORGE_LINKER"),
		"TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=",
		"CI=", "GITHUB_ACTIONS=", "GITHUB_WORKSPACE=", "CI_PROJECT_DIR=", "TRACEFORGE_ANNOTATIONS=",
	}, nil
}

// Flags returns a GOFLAGS with the given flags, and with the linker in the environment's GOFLAGS, if any
// (internal/tbtest/linker).
func Flags(flags ...string) string {
	if _, linker, ok := strings.Cut(os.Getenv("GOFLAGS"), linkerFlag); ok {
		path, _, _ := strings.Cut(linker, `'"`)
		flags = append(flags, linkerFlag+path+`'"`)
	}
	return strings.Join(flags, " ")
}

// linkerFlag is the beginning of the linker flag as .ci/test sets it: quoted for GOFLAGS, and again for the words of
// the flag.
const linkerFlag = `"-toolexec='`

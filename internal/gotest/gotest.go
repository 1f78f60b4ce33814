// Package gotest holds what the harness and the command both know about go test: how tests are named, and how its
// command line selects them.
package gotest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// UpdateEnv is the variable that makes tests record changed calls.
const UpdateEnv = "TRACEFORGE_UPDATE"

// StoreName is the name of a store's directory, which is next to a go.mod.
const StoreName = ".ai-snapshots"

// StoreEnv is the variable that names the store; a relative path is relative to the module.
const StoreEnv = "TRACEFORGE_DIR"

// InCI reports whether this process runs in CI: the variable CI is set and neither 0 nor false.
func InCI() bool {
	ci := os.Getenv("CI")
	return ci != "" && ci != "0" && ci != "false"
}

// Updating turns a go test command into one that records: with the flag or, in CI, where the flag is refused, with the
// variable.
func Updating(command string) string {
	if InCI() {
		return UpdateEnv + "=1 " + command
	}
	return command + " -update"
}

// Kind returns how go test runs the named function: "Test", "Benchmark", "Fuzz" or "Example" (go help testfunc). It is
// empty for names that go test does not run, such as those of some frameworks.
func Kind(function string) string {
	for _, kind := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		rest, ok := strings.CutPrefix(function, kind)
		first, _ := utf8.DecodeRuneInString(rest)
		if ok && !unicode.IsLower(first) && strings.TrimFunc(rest, inIdentifier) == "" {
			return kind
		}
	}
	return ""
}

func inIdentifier(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Function returns the function of a test, which may be a subtest.
func Function(test string) string {
	function, _, _ := strings.Cut(test, "/")
	return function
}

// Pattern returns the -run pattern that matches exactly the named test.
func Pattern(test string) string {
	elements := strings.Split(test, "/")
	for i, element := range elements {
		elements[i] = "^" + regexp.QuoteMeta(element) + "$"
	}
	return strings.Join(elements, "/")
}

// Quote quotes a word for a shell if needed. A word that is not safe to print is spelled as $'…' (POSIX.1-2024, 2.2.4),
// so that the command still means the same.
func Quote(word string) string {
	if plaintext.Line(word) != word {
		return dollarQuote(word)
	}
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func dollarQuote(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i, r := range word {
		_, size := utf8.DecodeRuneInString(word[i:])
		if plaintext.Shown(r) && r != utf8.RuneError && !strings.ContainsRune(`'\:#`, r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(word[i : i+size]) {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteString("'")
	return b.String()
}

// plain are the characters that have no meaning in a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-"

// Module returns the nearest directory at or above dir that contains a go.mod; empty if there is none.
func Module(dir string) (string, error) { return Above(dir, "go.mod", fs.FileMode.IsRegular) }

// Here returns the working directory and its module's directory, which is empty if there is none.
func Here() (wd, module string, err error) {
	if wd, err = os.Getwd(); err == nil {
		module, err = Module(wd)
	}
	return wd, module, err
}

// Above returns the nearest directory at or above dir that contains an entry with the name and a suitable mode; empty
// if there is none. A directory that cannot be examined is an error, because going on upwards could find somebody
// else's.
func Above(dir, name string, is func(fs.FileMode) bool) (string, error) {
	for dir != "" {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil && is(info.Mode()):
			return dir, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", fmt.Errorf("looking for %s: %w", name, err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", nil
}

var moduleLine = regexp.MustCompile("(?m)^module\\s+[\"`]?([^\\s\"`(]+)")

// ModulePath returns the path of the module in a directory; "" if its go.mod has none.
func ModulePath(root string) string {
	data, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	if m := moduleLine.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

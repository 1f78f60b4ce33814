// Package gotest is the knowledge of go test that harness and command share: how tests are named, and how its command
// line selects them.
package gotest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// UpdateEnv is the variable with which tests record what changed.
const UpdateEnv = "TRACEFORGE_UPDATE"

// InCI reports whether the environment says that CI runs this process: CI is neither empty nor 0 nor false.
func InCI() bool {
	ci := os.Getenv("CI")
	return ci != "" && ci != "0" && ci != "false"
}

// Updating returns a command of go test that records: with the flag, or with the variable in CI, which the flag is refused in.
func Updating(command string) string {
	if InCI() {
		return UpdateEnv + "=1 " + command
	}
	return command + " -update"
}

// Kind returns what go test takes the named function for: "Test", "Benchmark", "Fuzz" or "Example"
// (go help testfunc). It is empty for names that go test does not run, as frameworks give.
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

// Pattern returns the -run pattern that matches exactly the named test, or part of one.
func Pattern(test string) string {
	elements := strings.Split(test, "/")
	for i, element := range elements {
		elements[i] = "^" + regexp.QuoteMeta(element) + "$"
	}
	return strings.Join(elements, "/")
}

// Patterns returns the -run pattern that matches the named tests; empty means there are none. For several tests it
// matches their functions: -run has one pattern a level, so that subtests of several tests cannot be named apart.
func Patterns(tests []string) string {
	if len(tests) == 1 {
		return Pattern(tests[0])
	}
	var functions []string
	for _, test := range tests {
		function, _, _ := strings.Cut(test, "/")
		functions = append(functions, function)
	}
	sort.Strings(functions)
	if functions = slices.Compact(functions); len(functions) == 0 {
		return ""
	}
	return "^(" + strings.Join(functions, "|") + ")$"
}

// Quote quotes a word for a shell, where that is needed. A word that cannot be printed as it is has its
// bytes as $'…' spells them (POSIX.1-2024, 2.2.4), so that the command still means it.
func Quote(word string) string {
	if plaintext.Line(word) != word {
		return dollarQuote(word)
	}
	if word != "" && !strings.ContainsFunc(word, isSpecial) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Join returns a command of words, each as [Quote] quotes it.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Words returns the words of a command that [Join] made. ok is false where it is another
// text: a shell might take that for more than one command.
func Words(command string) (words []string, ok bool) {
	for rest := command; ; {
		word, after := unquote(rest)
		if Quote(word) != rest[:len(rest)-len(after)] {
			return nil, false
		}
		words = append(words, word)
		if after == "" {
			return words, true
		}
		if rest, ok = strings.CutPrefix(after, " "); !ok {
			return nil, false
		}
	}
}

// quoted matches the first word of a text in one of the three ways that Quote spells one.
var quoted = regexp.MustCompile(`^(?:\$'([^']+)'|'((?:[^']|'\\'')*)'|([^ ]*))`)

// unquote returns the first word of a text as Quote quotes one, and what follows. Of any other text Quote makes another.
func unquote(text string) (word, rest string) {
	m := quoted.FindStringSubmatch(text)
	word = octal.ReplaceAllStringFunc(m[1], func(code string) string {
		c, _ := strconv.ParseUint(code[1:], 8, 8)
		return string([]byte{byte(c)})
	})
	return word + strings.ReplaceAll(m[2], `'\''`, "'") + m[3], text[len(m[0]):]
}

var octal = regexp.MustCompile(`\\[0-7]{3}`)

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

// isSpecial reports whether a character may mean something to a shell.
func isSpecial(r rune) bool {
	plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+=,-", r)
	return !plain
}

// Module returns the nearest directory from dir upwards that holds a go.mod; empty means none does.
func Module(dir string) (string, error) { return Above(dir, "go.mod", fs.FileMode.IsRegular) }

// Here returns the working directory, and the nearest directory from there upwards that holds a go.mod; an empty one means none does.
func Here() (wd, module string, err error) {
	if wd, err = os.Getwd(); err == nil {
		module, err = Module(wd)
	}
	return wd, module, err
}

// Above returns the nearest directory from dir upwards that holds what is named, and of the kind that is meant; empty means none
// does. Where nobody can say whether one holds it, that is an error, as the next one above would be another's.
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

// ModulePath returns the path of the module at a directory; "" where its go.mod names none.
func ModulePath(root string) string {
	data, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	if m := moduleLine.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

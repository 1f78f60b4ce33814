// Package gotest is what the harness and the command know of go test alike: how tests are named,
// and how they are selected on its command line.
package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

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

// Patterns returns the -run pattern that matches the named tests; empty: there are none. Of several it matches their
// functions, as -run has one pattern a level, so that subtests of several tests cannot be named apart.
func Patterns(tests []string) string {
	if len(tests) == 1 {
		return Pattern(tests[0])
	}
	var functions []string
	for _, test := range tests {
		function, _, _ := strings.Cut(test, "/")
		functions = append(functions, function)
	}
	slices.Sort(functions)
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

// Workspace returns the nearest directory from dir upwards that holds a go.work; empty: none does.
func Workspace(dir string) string { return Above(dir, "go.work") }

// Above returns the nearest directory from dir upwards that holds the named file; empty: none does.
func Above(dir, file string) string {
	for dir != "" {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil && info.Mode().IsRegular() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// ModulePath returns the path of the module at a directory; "" where its go.mod names none.
func ModulePath(root string) string {
	data, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	if m := moduleLine.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

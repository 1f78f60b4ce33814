package traceforgetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// acceptCommand is the one command that records the test named name again, from the module's
// directory, or from anywhere in a workspace.
func (p place) acceptCommand(name string) string {
	target := "."
	switch {
	case p.inWorkspace():
		target = p.pkg
	case p.dir != ".":
		target = "./" + p.dir
	}
	var tags string
	if p.tags != "" {
		tags = " -tags " + p.tags
	}
	return fmt.Sprintf("go test%s %s%s -update", tags, target, selection(name))
}

// inWorkspace reports whether the module is in a workspace, maybe with others.
func (p place) inWorkspace() bool {
	for dir := p.root; dir != ""; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return false
}

// selection is the flags of go test that run the named test or benchmark alone. Nothing selects
// what a framework named otherwise: then all tests of the package run.
func selection(name string) string {
	switch {
	case isNameOf("Benchmark", name):
		return " -run '^$' -bench " + shellQuote(runPattern(name))
	case isNameOf("Test", name), isNameOf("Fuzz", name), isNameOf("Example", name):
		return " -run " + shellQuote(runPattern(name))
	}
	return ""
}

// isNameOf reports whether name is that of a test of a kind, or of a part of one, as package testing
// has them.
func isNameOf(kind, name string) bool {
	top, _, _ := strings.Cut(name, "/")
	rest, ok := strings.CutPrefix(top, kind)
	first, _ := utf8.DecodeRuneInString(rest)
	isLetter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return ok && !unicode.IsLower(first) && strings.TrimFunc(rest, isLetter) == ""
}

// runPattern is the -run pattern that matches exactly the named test.
func runPattern(name string) string {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		elements[i] = "^" + regexp.QuoteMeta(element) + "$"
	}
	return strings.Join(elements, "/")
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

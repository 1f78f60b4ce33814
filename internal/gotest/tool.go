package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// CommandPath is the import path of the command.
const CommandPath = "github.com/traceforge/traceforge-go/cmd/traceforge"

// commandLine matches the command's name followed by one of its verbs, except git: git calls that as its settings say.
var commandLine = regexp.MustCompile(`(^|[^\w/.-])(?:go tool )?traceforge ((?:test|verify|show|ls|diff|report|init|update|review|accept|reject|mv|check|` +
	`prune|repair|pack|modelio|contract|snapshot|import|export|schema|version|man)\b|exec |--help\b)`)

// Spelled returns a text with its command lines changed to work in a directory: if the go.mod has the command as a tool,
// "traceforge" becomes "go tool traceforge". Lines of a diff are kept. The go.mod is read only if the text has a command
// line.
func Spelled(text, dir string) string {
	if !commandLine.MatchString(text) || !isTool(dir) {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line != "" && line[0] != '-' && line[0] != '+' {
			lines[i] = commandLine.ReplaceAllString(line, "${1}go tool traceforge ${2}")
		}
	}
	return strings.Join(lines, "")
}

// isTool reports whether the module of a directory has the command as a tool.
func isTool(dir string) bool {
	root, _ := Module(dir) // empty if not found
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if root == "" || err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		if strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "tool "), "\t \"") == CommandPath {
			return true
		}
	}
	return false
}

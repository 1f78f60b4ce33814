package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// CommandPath is the package of the command.
const CommandPath = "github.com/traceforge/traceforge-go/cmd/traceforge"

// commandLine matches what a text says of the command: its name and that of one of its commands.
var commandLine = regexp.MustCompile(`(^|[^\w/.-])(?:go tool )?traceforge ((?:test|verify|show|ls|diff|report|init|update|review|accept|reject|mv|check|` +
	`prune|repair|pack|modelio|contract|snapshot|import|export|schema|git|version|man)\b|exec |--help\b)`)

// Spelled returns a text with its command lines as they work in a directory. Where its go.mod has the command as a
// tool, they say "go tool traceforge" in place of "traceforge". Lines of a difference stay. It reads go.mod only
// where a text has such a line.
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
	root, _ := Module(dir) // else it is spelled as it is everywhere
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

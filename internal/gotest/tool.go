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
var commandLine = regexp.MustCompile(
	`(^|[^\w/.-])(go tool )?traceforge ((?:test|verify|show|ls|diff|report|init|update|review|accept|reject|mv|check|` +
		`prune|repair|pack|modelio|contract|snapshot|import|export|schema|version|man)\b|exec |--help\b)`)

// storeCommand matches a command line for a store up to the verb. It also matches text which shows that the store is
// named already, or that this is no command line.
var storeCommand = regexp.MustCompile(`(?:^|[^\w/.-])traceforge (?:verify|show|ls|diff|review|accept|reject|mv|prune|repair|import|snapshot migrate)\b(?::| --(?:dir|help)\b)?`)

// Spelled returns a text with its command lines changed to work in a directory. If the go.mod has the command as a
// tool, "traceforge" becomes "go tool traceforge". Commands for a store get --dir with the name of the store, unless
// that is empty. Lines of a diff are kept. The go.mod is read only if the text has a command line.
func Spelled(text, dir, store string) string {
	if !commandLine.MatchString(text) {
		return text
	}
	name := "${1}${2}traceforge ${3}"
	if isTool(dir) {
		name = "${1}go tool traceforge ${3}"
	}
	inStore := func(found string) string {
		if store == "" || strings.HasSuffix(found, ":") || strings.Contains(found, " --") {
			return found
		}
		return found + " --dir " + Quote(store)
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line != "" && line[0] != '-' && line[0] != '+' {
			lines[i] = commandLine.ReplaceAllString(storeCommand.ReplaceAllStringFunc(line, inStore), name)
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

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
)

// agentsText explains to coding agents how to work with tests that have snapshots.
//
//go:embed agents.md
var agentsText string

// agentsWhat lists the values of --agents.
var agentsWhat = []string{"write", "remove"}

// skillHead is the text that precedes agentsText in a skill.
const skillHead = `---
name: traceforge
description: Tests of model calls with golden snapshots in .ai-snapshots. Read it before you run, write or change such a test, or change a prompt.
---

`

// An agentsFile is a file with the text for coding agents.
type agentsFile struct {
	File   string `json:"file"`   // path of the file
	Change string `json:"change"` // the change: added, replaced, removed or none
	head   string // text at the beginning of a new file
}

// setUpAgents writes the text for coding agents, or removes it. The text goes in AGENTS.md at the top of the
// repository, and in a skill in each folder of skills there. All files are read before any is written.
func (s *setup) setUpAgents(c *call, dir string) error {
	module, err := filepath.Abs(filepath.Dir(dir))
	if err == nil {
		module, err = filepath.EvalSymlinks(module)
	}
	if err != nil {
		return err
	}
	top := module
	if r, err := git.Find(module); err == nil {
		top = r.Top
	} else if !errors.Is(err, git.ErrNoRepository) {
		return err
	}
	files := []agentsFile{{File: filepath.Join(top, "AGENTS.md")}}
	folders, _ := filepath.Glob(filepath.Join(top, ".*", "skills")) // the pattern is valid
	for _, folder := range folders {
		files = append(files, agentsFile{File: filepath.Join(folder, "traceforge", "SKILL.md"), head: skillHead})
	}
	text := ""
	if c.value("agents") == "write" {
		text = gotest.Spelled(agentsText, module, "")
	}
	after := make([][]byte, len(files))
	for i := range files {
		var err error
		if after[i], err = files[i].with(top, text); err != nil {
			return err
		}
	}
	for i, f := range files {
		if err := f.write(after[i]); err != nil {
			return err
		}
		f.File = shownFile(f.File)
		if s.Agents = append(s.Agents, f); f.Change != "none" {
			c.say("%s: what coding agents need to know was %s", f.File, f.Change)
		}
	}
	return nil
}

// with returns the file with the text in its block, or without a block if the text is empty. It notes the kind of
// change.
func (f *agentsFile) with(top, text string) ([]byte, error) {
	if err := inside(top, f.File); err != nil {
		return nil, err
	}
	before, err := store.ReadFile(f.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	was, err := blockIn(f.File, before)
	if err != nil {
		return nil, err
	}
	block := blockBegin(text) + " (traceforge init --agents writes this block: edit what is outside) -->\n" +
		text + blockEnd
	block = strings.ReplaceAll(block, "\n", lineEnd(before))
	switch found := was != nil; {
	case !found && text == "", found && string(before[was[0]:was[1]]) == block:
		f.Change = "none"
		return before, nil
	case !found:
		f.Change = "added"
		return append(before, f.gap(before)+block...), nil
	case text == "":
		f.Change = "removed"
		rest := bytes.TrimRight(before[:was[0]], "\r\n")
		if len(rest) > 0 {
			rest = before[:len(rest)+bytes.IndexByte(before[len(rest):], '\n')+1]
		}
		return bytes.Join([][]byte{rest, before[was[1]:]}, nil), nil
	}
	f.Change = "replaced"
	return bytes.Join([][]byte{before[:was[0]], []byte(block), before[was[1]:]}, nil), nil
}

// gap returns the separator between a block and the text before it.
func (f *agentsFile) gap(before []byte) string {
	end := lineEnd(before)
	switch {
	case len(before) == 0:
		return f.head
	case !bytes.HasSuffix(before, []byte("\n")):
		return end + end
	}
	return end
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// write writes a file, or removes one that contains only the output of this command.
func (f *agentsFile) write(text []byte) error {
	left := bytes.TrimSpace(text)
	switch {
	case f.Change == "none":
		return nil
	case len(left) == 0 || string(left) == strings.TrimSpace(f.head):
		if err := os.Remove(f.File); err != nil || f.head == "" {
			return err
		}
		os.Remove(filepath.Dir(f.File)) // fails if it contains other files
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.File), 0o777); err != nil {
		return err
	}
	return os.WriteFile(f.File, text, 0o666)
}

// inside refuses a file that is outside the repository, or inside git's own directory, after links are resolved.
func inside(top, file string) error {
	for at := file; at != top; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(at); err == nil {
				return fmt.Errorf("%s is a link to what does not exist: remove it", shownFile(at))
			}
			continue
		}
		if err != nil {
			return err
		}
		if git.Outside(top, real) {
			return fmt.Errorf("%s is a link that leads out of the repository: replace it by what it names", shownFile(at))
		}
		return nil
	}
	return nil
}

// shownFile returns a file's path relative to the working directory.
func shownFile(file string) string { return filepath.ToSlash(place.Rel(file)) }

var blockMark = regexp.MustCompile(`(?m)^<!-- traceforge: (begin|end)\b.*\n?`)

const blockEnd = "<!-- traceforge: end -->\n"

// blockBegin returns the beginning of the block that contains a text: it has the text's hash, which shows whether
// somebody edited the text.
func blockBegin(text string) string {
	return fmt.Sprintf("<!-- traceforge: begin %.6x", sha256.Sum256([]byte(text)))
}

// blockIn returns where the block begins and ends in a file; nil if it has none. A block that differs from the output
// of this command is an error, since somebody's additions would be lost.
func blockIn(file string, text []byte) ([]int, error) {
	marks := blockMark.FindAllSubmatchIndex(text, -1)
	line := func(i int) int { return bytes.Count(text[:marks[i][0]], []byte("\n")) + 1 }
	is := func(i int, word string) bool { return string(text[marks[i][2]:marks[i][3]]) == word }
	wrong := func(i int, format string, args ...any) ([]int, error) {
		return nil, fmt.Errorf("%s:%d: %s; nothing was written", shownFile(file), line(i), fmt.Sprintf(format, args...))
	}
	switch {
	case len(marks) == 0:
		return nil, nil
	case !is(0, "begin"):
		return wrong(0, "the end of a block of traceforge has no begin: remove this line")
	case len(marks) == 1 || is(1, "begin"):
		return wrong(0, "the block of traceforge has no end: remove its lines, and run this again")
	case len(marks) > 2:
		return wrong(2, "a second block of traceforge, the first is at line %d: remove one, from its begin to its end, and run this again", line(0))
	}
	begin, end := marks[0][0], marks[1][1]
	inner := strings.ReplaceAll(string(text[marks[0][1]:marks[1][0]]), "\r\n", "\n")
	if !bytes.HasPrefix(text[begin:], []byte(blockBegin(inner))) {
		return wrong(0, "the block of traceforge was edited: keep what you added outside of it, remove the block, "+
			"from its begin to its end, and run this again")
	}
	return []int{begin, end}, nil
}

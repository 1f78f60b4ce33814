package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

func initialize(c *call) error {
	if c.value("command") != "" && !c.is("git") {
		return usagef("--command is of use with --git only")
	}
	if what := c.value("agents"); !slices.Contains(agentsWhat, what) && what != "" {
		return usagef("--agents=%s: want %s", what, strings.Join(agentsWhat, " or "))
	}
	s, dir, err := place.OpenStore(c.value("dir"))
	if s == nil {
		return err
	}
	ready := setup{Dir: filepath.ToSlash(dir), Config: []gitSetting{}}
	if c.value("agents") != "" {
		if err := ready.setUpAgents(c, dir); err != nil {
			return err
		}
	}
	if c.value("agents") == "remove" {
		c.answer(ready, func() {})
		return nil
	}
	if c.is("lfs") {
		// without Git LFS, the recordings would be committed to git itself, and nobody would notice
		if err := git.HasLFS(c.ctx); err != nil {
			return fmt.Errorf("git has no Git LFS here, install git-lfs first: %w", err)
		}
	}
	if err := makeStore(s, dir); err != nil {
		return err
	}
	if c.is("lfs") {
		if err := useLFS(c, s, dir); err != nil {
			return err
		}
	}
	c.say("%s: the store is ready, commit it with its .gitattributes and .gitignore", dir)
	c.say("what holds for all tests may stand once in %s: run traceforge init --help",
		filepath.ToSlash(filepath.Join(dir, "config.json")))
	if c.is("git") {
		if err := ready.setUpGit(c, dir); err != nil {
			return err
		}
	}
	c.answer(ready, func() {})
	return nil
}

// makeStore makes an empty store, or keeps the existing one. It refuses to make one in place of a store that the
// checkout leaves out, since the tests would then buy its answers again.
func makeStore(s *store.Store, dir string) error {
	if err := place.LeftOut(dir); err != nil {
		return err
	}
	if _, err := os.Stat(s.Path(store.AttributesName)); !errors.Is(err, fs.ErrNotExist) {
		return err // the store exists
	}
	if err := os.MkdirAll(s.Path("."), 0o777); err != nil {
		return err
	}
	return audit.WriteManifest(s) // and everything else in a new store
}

// A setup is the result of init.
type setup struct {
	// path of the store, from the working directory or as the user named it
	Dir        string         `json:"dir"`
	Config     []gitSetting   `json:"config"`               // git settings that were changed
	Attributes *gitAttributes `json:"attributes,omitempty"` // git attributes that were added in this clone
	Agents     []agentsFile   `json:"agents,omitempty"`     // files for coding agents
}

// A gitSetting is a setting of git config.
type gitSetting struct {
	Name  string `json:"name"`  // name of the setting
	Value string `json:"value"` // new value of the setting
}

// gitAttributes are lines that were added to an attributes file.
type gitAttributes struct {
	File  string   `json:"file"`  // attributes file of this clone
	Added []string `json:"added"` // lines that were missing in the file
}

var goProgram = regexp.MustCompile(`(^|[\\/"'])go(\.exe)?["']?$`)

// setUpGit changes the settings of this clone and reports the changes.
func (s *setup) setUpGit(c *call, dir string) error {
	program := c.value("command")
	if program == "" {
		program = "traceforge"
		if _, err := osexec.LookPath(program); err != nil {
			return fmt.Errorf("git would not find this program: go install %s, or name it with --command: %w",
				gotest.CommandPath, err)
		}
	}
	if slices.ContainsFunc(strings.Fields(program), func(word string) bool { return goProgram.MatchString(word) }) {
		return usagef("--command %q: git would build and run what go.mod of any branch names that you look at; go install %s, and name that", program, gotest.CommandPath)
	}
	setting := gitSetting{"diff.traceforge.textconv", program + " git textconv"}
	if _, err := git.Run(c.ctx, dir, "config", setting.Name, setting.Value); err != nil {
		return err
	}
	c.say("git config %s: %s", setting.Name, setting.Value)
	s.Config = append(s.Config, setting)
	prefix, err := git.Run(c.ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	file, err := git.Run(c.ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
	if err != nil {
		return err
	}
	added, err := addLines(file, []string{
		attributePattern(prefix, "*/*.json") + " diff=traceforge",
		attributePattern(prefix, "*/*/**") + " -diff",
	})
	for _, line := range added {
		c.say("%s: %s", file, line)
	}
	s.Attributes = &gitAttributes{filepath.ToSlash(file), append([]string{}, added...)}
	return err
}

// attributePattern returns the gitattributes pattern for files below a directory, whose prefix has no wildcards.
func attributePattern(prefix, files string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(prefix)
	pattern := "/" + escaped + files
	if strings.ContainsAny(pattern, " \t\r\n\"\\") {
		return strconv.Quote(pattern)
	}
	return pattern
}

// addLines appends the lines that a file lacks, and returns them.
func addLines(file string, lines []string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	has := strings.Split(string(text), "\n")
	added := slices.DeleteFunc(lines, func(line string) bool { return slices.Contains(has, line) })
	if len(added) == 0 {
		return nil, nil
	}
	if has[len(has)-1] != "" {
		text = append(text, '\n')
	}
	text = append(text, strings.Join(added, "\n")+"\n"...)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, err
	}
	return added, os.WriteFile(file, text, 0o666)
}

// useLFS configures the store in dir to keep raw answers and media in Git LFS.
func useLFS(c *call, s *store.Store, dir string) error {
	if err := s.UseLFS(); err != nil {
		return err
	}
	c.say("%s: raw answers and media go to Git LFS from now on",
		filepath.ToSlash(filepath.Join(dir, store.AttributesName)))
	if _, err := git.Run(c.ctx, dir, "config", "--get", "filter.lfs.clean"); err != nil {
		c.say("git does not use Git LFS yet: run git lfs install, once for each user")
	}
	if committed, _ := git.Run(c.ctx, dir, "ls-files", "--", "*/*/*"); committed != "" { // none outside of a repository
		c.say("what is committed goes there with git add --renormalize %s", gotest.Quote(filepath.ToSlash(dir)))
	}
	return nil
}

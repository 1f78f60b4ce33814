package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/cmd/traceforge/internal/git"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func initCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "make an empty store, and set git up for it",
		Long: `Makes the store's directory with the .gitattributes that keep git from changing its
bytes and the .gitignore of what is not for git; the first recording would do the same.
What is there already is left alone.

With --git it also tells this clone of the repository, which is nothing to commit, to show
documents in git diff, git show and git log -p as traceforge show does, and to show no
difference of raw answers and media.

The object of --json has:

  dir         the path of the store from the working directory, or as it was named
  config      of each setting of git that was made: name; value
  attributes  file, the path of git's attributes of this clone; added, the lines that
              it did not have. Left out without --git
`,
		Args: arguments(0, 1),
	}
	asJSON := c.Flags().Bool("json", false, "print one object as well")
	withGit := c.Flags().Bool("git", false, "set up this clone for git diff")
	program := c.Flags().String("command", "",
		"how git shall call this program: `COMMAND`, such as \"go tool traceforge\"")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *program != "" && !*withGit {
			return usageError{errors.New("--command is of use with --git only")}
		}
		dir, err := place.StoreDir(strings.Join(args, ""))
		if err != nil {
			return err
		}
		if err := makeStore(dir); err != nil {
			return err
		}
		con.say("%s: the store is ready, commit it with its .gitattributes and .gitignore", dir)
		ready := setup{Dir: filepath.ToSlash(dir), Config: []gitSetting{}}
		if *withGit {
			if err := ready.setUpGit(c.Context(), con, dir, *program); err != nil {
				return err
			}
		}
		if *asJSON {
			return con.json(ready)
		}
		return nil
	}
	return c
}

// makeStore makes an empty store, or leaves alone what is there.
func makeStore(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, ".gitattributes")); !errors.Is(err, fs.ErrNotExist) {
		return err // it is a store
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	return s.WriteManifest() // and all else that a store has
}

// A setup is what init made.
type setup struct {
	Dir        string         `json:"dir"`
	Config     []gitSetting   `json:"config"`
	Attributes *gitAttributes `json:"attributes,omitempty"`
}

// A gitSetting is one of git config.
type gitSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// GitAttributes are lines that were added to a file of attributes.
type gitAttributes struct {
	File  string   `json:"file"`
	Added []string `json:"added"`
}

// setUpGit makes the settings of this clone and says which.
func (s *setup) setUpGit(ctx context.Context, con *console, dir, program string) error {
	if program == "" {
		program = "traceforge"
		if _, err := osexec.LookPath(program); err != nil {
			return fmt.Errorf("git would not find this program: install it, or name it with --command: %w", err)
		}
	}
	setting := gitSetting{"diff.traceforge.textconv", program + " git textconv"}
	if _, err := git.Run(ctx, dir, "config", setting.Name, setting.Value); err != nil {
		return err
	}
	con.say("git config %s: %s", setting.Name, setting.Value)
	s.Config = append(s.Config, setting)
	prefix, err := git.Run(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	file, err := git.Run(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
	if err != nil {
		return err
	}
	added, err := addLines(file, []string{
		attributePattern(prefix+"*/*.json", prefix) + " diff=traceforge",
		attributePattern(prefix+"*/*/**", prefix) + " -diff",
	})
	for _, line := range added {
		con.say("%s: %s", file, line)
	}
	s.Attributes = &gitAttributes{filepath.ToSlash(file), append([]string{}, added...)}
	return err
}

// attributePattern returns the pattern of gitattributes for path, of which prefix has no wildcards.
func attributePattern(path, prefix string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(prefix)
	pattern := "/" + escaped + strings.TrimPrefix(path, prefix)
	if strings.ContainsAny(pattern, " \t\"\\") {
		return strconv.Quote(pattern)
	}
	return pattern
}

// addLines appends to a file those lines that it does not have, and returns them.
func addLines(file string, lines []string) (added []string, err error) {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	has := strings.Split(string(before), "\n")
	for _, line := range lines {
		if !slices.Contains(has, line) {
			added = append(added, line)
		}
	}
	if len(added) == 0 {
		return nil, nil
	}
	text := before
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	text = append(text, strings.Join(added, "\n")+"\n"...)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, err
	}
	return added, os.WriteFile(file, text, 0o666)
}

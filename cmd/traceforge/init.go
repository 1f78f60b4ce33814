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

	"github.com/traceforge/traceforge-go/snapshot"
)

var initCommand = command{
	name:     "init",
	synopsis: "[--json] [--git [--command COMMAND]] [DIR]",
	summary:  "make an empty store, and set git up for it",
	help: `
Makes the store's directory with the .gitattributes that keep git from changing its
bytes; the first recording would do the same. What is there already is left alone.

With --git it also tells this clone of the repository, which is nothing to commit:

  to show snapshots in git diff, git show and git log -p as traceforge show does,
  to show no difference of blobs,
  to merge manifests by their records, instead of by their lines.

  --command COMMAND  how git shall call this program, such as "go tool traceforge"; it is
                     traceforge where nothing else is said
  --json             print one object as well

The object of --json has:

  dir         the path of the store from the working directory, or as it was named
  config      of each setting of git that was made: name; value
  attributes  file, the path of git's attributes of this clone; added, the lines that
              it did not have. Left out without --git
`,
	run: runInit,
}

func runInit(ctx context.Context, con *console, args []string) error {
	flags := newFlags()
	withGit := flags.Bool("git", false, "")
	program := flags.String("command", "", "")
	asJSON := flags.Bool("json", false, "")
	args, err := arguments(flags, args, 0, 1)
	if err != nil {
		return err
	}
	if *program != "" && !*withGit {
		return usagef("--command is of use with --git only")
	}
	dir, err := storeDir(strings.Join(args, ""))
	if err != nil {
		return err
	}
	if err := makeStoreDir(dir); err != nil {
		return err
	}
	con.say("%s: the store is ready, commit it with its .gitattributes", dir)
	ready := setup{Dir: filepath.ToSlash(dir), Config: []gitSetting{}}
	if *withGit {
		if *program == "" {
			if _, err := osexec.LookPath("traceforge"); err != nil {
				return fmt.Errorf("git would not find this program: install it, or name it with --command: %w", err)
			}
			*program = "traceforge"
		}
		if err := ready.setUpGit(ctx, con, dir, *program); err != nil {
			return err
		}
	}
	if *asJSON {
		return con.json(ready)
	}
	return nil
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

// makeStoreDir makes an empty store, or leaves alone what is there.
func makeStoreDir(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); !errors.Is(err, fs.ErrNotExist) {
		return err // it is a store
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	store, err := snapshot.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.RebuildManifest() // and all else that a store has
}

// setUpGit makes the settings of this clone and says which.
func (s *setup) setUpGit(ctx context.Context, con *console, dir, program string) error {
	for _, setting := range []gitSetting{
		{"diff.traceforge.textconv", program + " git textconv"},
		{"merge.traceforge.name", "traceforge manifests"},
		{"merge.traceforge.driver", program + " git merge-manifest %O %A %B"},
	} {
		if _, err := git(ctx, dir, "config", setting.Name, setting.Value); err != nil {
			return err
		}
		con.say("git config %s: %s", setting.Name, setting.Value)
		s.Config = append(s.Config, setting)
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	file, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
	if err != nil {
		return err
	}
	added, err := addLines(file, []string{
		attributePattern(prefix+"*/*.json", prefix) + " diff=traceforge",
		attributePattern(prefix+"blobs/**", prefix) + " -diff",
		attributePattern(prefix+"manifest.json", prefix) + " merge=traceforge",
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
	before, err := readIfAny(file)
	if err != nil {
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

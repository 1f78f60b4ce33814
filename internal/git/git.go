// Package git runs git; no other package starts it. It names the repository to work on, lets git run no programs except
// filters of the user's own config (Git LFS), and lets git fetch nothing.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrFilters means that git may run filters for a command.
var ErrFilters = errors.New("may run filters")

// unfiltered are commands that neither read nor write files of the work tree, so that git runs no filters for them.
var unfiltered = []string{
	"cat-file", "check-attr", "check-ignore", "config", "for-each-ref", "ls-files", "ls-tree", "merge-base", "remote",
	"rev-parse", "update-index",
}

// Output runs git in a directory of a repository and returns its standard output; in is its input, or nil. It refuses
// commands that may run filters, which package worktree runs: the error is [ErrFilters].
func Output(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	name := named(args)
	if !slices.Contains(unfiltered, name) || slices.Contains(args, "--filters") || slices.Contains(args, "--modified") {
		return "", fmt.Errorf("git %s %w", name, ErrFilters)
	}
	return Configured(ctx, dir, in, nil, args...)
}

// Configured runs any command of git with settings, which are alternating names and values.
func Configured(ctx context.Context, dir string, in io.Reader, config []string, args ...string) (string, error) {
	r, err := Find(dir)
	if err != nil {
		return "", err
	}
	args = append([]string{"--git-dir=" + r.dir, "--work-tree=" + r.Top}, args...)
	c := command{dir: dir, in: in, index: r.index(), config: config, args: args}
	return c.run(ctx)
}

// named returns the name of a command, which follows the options that all commands have.
func named(args []string) string {
	return args[slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })]
}

// Run is Output without input, and without the trailing newline of the output.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	printed, err := Output(ctx, dir, nil, args...)
	return strings.TrimSuffix(printed, "\n"), err
}

// index returns the index that git has prepared for the hook in which this process runs; empty for the repository's
// own.
func (r *Repository) index() string {
	file := os.Getenv("GIT_INDEX_FILE")
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Top, file) // the directory in which git starts hooks
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err != nil || dir != r.dir {
		return "" // of another repository
	}
	return file
}

// A command is an invocation of git.
type command struct {
	dir    string
	in     io.Reader
	index  string
	config []string // settings: alternating names and values
	args   []string
}

// quiet are settings that override config which starts programs. Every version takes an empty fsmonitor for none, and
// there can be no hooks below a file.
var quiet = []string{"core.fsmonitor", "", "core.hooksPath", "/dev/null", "submodule.recurse", "false",
	"diff.ignoreSubmodules", "all"}

// variables keep git from fetching (versions before 2.45 know only the second), replacing objects, taking optional
// locks and prompting.
var variables = []string{
	"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
}

// run starts git without the git variables of this environment.
func (c *command) run(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, c.args...)...)
	cmd.Dir, cmd.Stdin = c.dir, c.in
	cmd.Env = slices.DeleteFunc(os.Environ(),
		func(v string) bool { return len(v) > 4 && strings.EqualFold(v[:4], "GIT_") })
	cmd.Env = append(append(cmd.Env, variables...), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.dir))
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	config := append(quiet[:len(quiet):len(quiet)], c.config...)
	for i := 0; i < len(config); i += 2 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, config[i]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, config[i+1]))
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(config)/2))
	var said bytes.Buffer
	cmd.Stderr = &said
	printed, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s %w: %w", c.dir, ErrNoRepository, err)
	case err != nil:
		if strings.Contains(said.String(), "promisor") {
			said.WriteString("this clone is partial, and nothing is fetched from here: git fetch --refetch --no-filter\n")
		}
		return "", fmt.Errorf("git %s: %w\n%s", named(c.args), err, &said)
	}
	return string(printed), nil
}

// HasLFS returns an error if Git LFS is not installed.
func HasLFS(ctx context.Context) error {
	_, err := outside(ctx, "lfs", "version") // a repository may define an alias of that name
	return err
}

// Package git is what traceforge asks of git; nothing else starts it. Git is told which repository it works on, runs no
// program but filters of the user's own config (Git LFS), and fetches nothing.
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

// Output runs git in a directory of a repository and returns what it prints; in is its input, nil for none.
func Output(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	r, err := Find(dir)
	if err != nil {
		return "", err
	}
	c := command{dir: dir, in: in, index: r.index(), args: append([]string{"--git-dir=" + r.dir, "--work-tree=" + r.Top}, args...)}
	if err := r.turnFiltersOff(ctx, &c, args); err != nil {
		return "", err
	}
	return c.run(ctx)
}

// Run is Output without input and the last line end.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	printed, err := Output(ctx, dir, nil, args...)
	return strings.TrimSuffix(printed, "\n"), err
}

// index returns the index that the git which runs this hook has prepared; empty means that of the repository.
func (r *Repository) index() string {
	file := os.Getenv("GIT_INDEX_FILE")
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Top, file) // where git starts hooks
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err != nil || dir != r.dir {
		return "" // of another repository
	}
	return file
}

// A command is one that starts git.
type command struct {
	dir    string
	in     io.Reader
	index  string
	config []string // settings, name and value in turn
	args   []string
}

// quiet are settings that turn off what config can have git start. An empty fsmonitor is none to every version, and no hook is
// below a file.
var quiet = []string{"core.fsmonitor", "", "core.hooksPath", "/dev/null", "submodule.recurse", "false", "diff.ignoreSubmodules", "all"}

// variables have git fetch nothing (versions before 2.45 know the second only), replace no object, lock nothing to refresh it
// and ask nobody.
var variables = []string{
	"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
}

// run starts git, which gets no variable of this environment that is for git.
func (c *command) run(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, c.args...)...)
	cmd.Dir, cmd.Stdin = c.dir, c.in
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return len(v) > 4 && strings.EqualFold(v[:4], "GIT_") })
	cmd.Env = append(append(cmd.Env, variables...), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.dir))
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	config := append(quiet[:len(quiet):len(quiet)], c.config...)
	for i := 0; i < len(config); i += 2 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, config[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, config[i+1]))
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
		i := slices.IndexFunc(c.args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		return "", fmt.Errorf("git %s: %w\n%s", c.args[i], err, &said)
	}
	return string(printed), nil
}

// HasLFS returns an error where git has no Git LFS.
func HasLFS(ctx context.Context) error {
	_, err := outside(ctx, "lfs", "version") // an alias of a repository may have its name
	return err
}

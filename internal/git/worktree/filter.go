package worktree

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/git"
)

// Output is [git.Output] for all commands. It turns off the filters of the repository's own config; filters of the
// user's or the system's config run as configured. A command that stages or restores a file fails if the file needs a
// filter that is off.
func Output(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	printed, err := git.Output(ctx, dir, in, args...)
	if !errors.Is(err, git.ErrFilters) {
		return printed, err
	}
	config, err := filtersOff(ctx, dir, slices.Contains(args, "add") || slices.Contains(args, "restore"))
	if err != nil {
		return "", err
	}
	return git.Configured(ctx, dir, in, config, args...)
}

// filtersOff returns the settings that turn filters off. With strict, a file that needs one of them is an error.
func filtersOff(ctx context.Context, dir string, strict bool) (config []string, err error) {
	printed, err := ask(ctx, dir, "config", "--show-scope", "-z", "--get-regexp", `^filter\.`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // there are no filters
	}
	if err != nil {
		return nil, err
	}
	var own []string              // keys of the repository
	others := map[string]string{} // settings of the user and the system
	fields := strings.Split(printed, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if scope := fields[i]; scope == "system" || scope == "global" {
			others[key] = value
		} else {
			own = append(own, key)
		}
	}
	var required []string // overrides
	for _, key := range own {
		value, known := others[key]
		if !known && strings.HasSuffix(key, ".required") {
			value = "false"
		} else if !known { // an empty command does not run
			required = append(required, key[:strings.LastIndexByte(key, '.')]+".required", strconv.FormatBool(strict))
		}
		config = append(config, key, value)
	}
	return append(config, required...), nil
}

// answersKey is the key of what git says of repositories, by question, in a context. Each function asks when it is
// first called.
type answersKey struct{}

// Remember returns a context in which git is asked only once for a commit, a tree or the filters of a repository. It is
// for a command that ends soon: what other processes change in the meantime is not noticed.
func Remember(ctx context.Context) context.Context {
	if ctx.Value(answersKey{}) == nil {
		ctx = context.WithValue(ctx, answersKey{}, new(sync.Map))
	}
	return ctx
}

// ask is [git.Output] for a question with the same answer in all directories of a repository.
func ask(ctx context.Context, dir string, args ...string) (string, error) {
	known, _ := ctx.Value(answersKey{}).(*sync.Map)
	r, err := git.Find(dir)
	if known == nil || err != nil {
		return git.Output(ctx, dir, nil, args...)
	}
	question := r.Top + "\x00" + strings.Join(args, "\x00")
	answer := func() (string, error) { return git.Output(ctx, dir, nil, args...) }
	once, _ := known.LoadOrStore(question, sync.OnceValues(answer))
	return once.(func() (string, error))()
}

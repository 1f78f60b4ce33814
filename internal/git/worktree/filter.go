package worktree

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

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
	printed, err := git.Output(ctx, dir, nil, "config", "--show-scope", "-z", "--get-regexp", `^filter\.`)
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

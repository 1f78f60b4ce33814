package git

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// unfiltered are commands that neither read nor write files of the work tree, so that git runs no filters for them.
var unfiltered = []string{
	"cat-file", "check-attr", "check-ignore", "config", "for-each-ref", "ls-files", "ls-tree", "merge-base", "remote", "rev-parse", "update-index",
}

// turnFiltersOff adds settings to a command that turn off the filters of the repository's own config. Filters of the
// user's or the system's config run as configured. A command that stages or restores a file fails if the file needs a
// filter that is off.
func (r *Repository) turnFiltersOff(ctx context.Context, c *command, args []string) error {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--literal-pathspecs" })
	if slices.Contains(unfiltered, args[0]) && !slices.Contains(args, "--filters") && !slices.Contains(args, "--modified") {
		return nil
	}
	list := command{dir: r.Top, args: []string{"--git-dir=" + r.dir, "--work-tree=" + r.Top, "config", "--show-scope", "-z", "--get-regexp", `^filter\.`}}
	printed, err := list.run(ctx)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // there are no filters
	}
	if err != nil {
		return err
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
	strict := strconv.FormatBool(args[0] == "add" || args[0] == "restore")
	var required []string // overrides
	for _, key := range own {
		value, known := others[key]
		if !known && strings.HasSuffix(key, ".required") {
			value = "false"
		} else if !known { // an empty command does not run
			required = append(required, key[:strings.LastIndexByte(key, '.')]+".required", strict)
		}
		c.config = append(c.config, key, value)
	}
	c.config = append(c.config, required...)
	return nil
}

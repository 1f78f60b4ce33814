package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// resultFile returns the file that --json names, or "". It empties the file, so that an earlier result is not mistaken
// for the result of this run.
func (c *call) resultFile() (string, error) {
	flag := c.cmd.Flag("json")
	if flag == nil || flag.Value.Type() != "string" || c.is("json") {
		return "", nil
	}
	return emptied(flag.Value.String())
}

func emptied(file string) (string, error) {
	switch {
	case file == "":
		return "", nil
	case !isResult(file):
		return "", usagef("--json %s: the name of the file must end in .json", file)
	}
	return file, writeResult(file, nil)
}

func isResult(file string) bool { return strings.HasSuffix(file, ".json") }

// write writes a value to a file as JSON for programs. It uses several lines, since line-based readers truncate long
// ones.
func write(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeResult(file, []byte(plaintext.Text(string(text))+"\n"))
}

// writeResult writes a file that a flag names. It refuses a link that leads out of the repository, since a commit could
// add one.
func writeResult(file string, data []byte) error {
	if r, err := git.Find("."); err == nil {
		below, err := r.Rel(".")
		at := file
		if !filepath.IsAbs(at) {
			at = filepath.Join(r.Top, below, file)
		}
		if rel, outside := filepath.Rel(r.Top, at); outside == nil && filepath.IsLocal(rel) {
			err = errors.Join(err, inside(r.Top, at))
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(file, data, 0o666)
}

// joinResult joins --json FILE.json into one word in the arguments of commands that write a result file. A flag with an
// optional value does not take the next word.
func joinResult(args []string) []string {
	i := slices.Index(args, "--json")
	if i < 1 || !slices.Contains([]string{"update", "check", "test"}, args[0]) || i+1 == len(args) ||
		!isResult(args[i+1]) ||
		slices.ContainsFunc(args[:i], isArgs) {
		return args
	}
	return slices.Concat(args[:i], []string{"--json=" + args[i+1]}, args[i+2:])
}

// cutResult removes --json=FILE from the flags of go test, whose own flag has one dash.
func cutResult(args []string) (rest []string, file string, err error) {
	i := slices.IndexFunc(args, func(arg string) bool { return arg == "--json" || strings.HasPrefix(arg, "--json=") })
	if end := slices.IndexFunc(args, isArgs); i < 0 || end >= 0 && end < i {
		return args, "", nil
	}
	_, file, _ = strings.Cut(args[i], "=")
	if !isResult(file) {
		return nil, "", usagef("--json names the file of the result, which must end in .json: that of go test is -json")
	}
	return slices.Concat(args[:i], args[i+1:]), file, nil
}

func isArgs(arg string) bool { return arg == "--" || arg == "-args" || arg == "--args" }

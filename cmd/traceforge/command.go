package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A command is one subcommand.
type command struct {
	name     string // one word, or two: "modelio verify"
	synopsis string // its arguments
	summary  string // half a line
	help     string // the rest
	run      func(ctx context.Context, con *console, args []string) error
}

func commands() []command {
	return []command{
		verifyCommand,
		showCommand,
		diffCommand,
		updateCommand,
		pruneCommand,
		reportCommand,
		manifestCommand,
		migrateCommand,
		snapshotMigrateCommand,
		initCommand,
		gitTextconvCommand,
		gitMergeCommand,
		packCommand,
		packVerifyCommand,
		modelioVerifyCommand,
		modelioHashCommand,
		versionCommand,
		{name: "help", synopsis: "[COMMAND]", summary: "explain a command", run: runHelp},
	}
}

// lookup finds the command that args begin with, and returns the arguments after its name.
func lookup(args []string) (command, []string, error) {
	if len(args) == 0 {
		return command{}, nil, usagef("no command is given")
	}
	switch args[0] {
	case "-h", "-help", "--help":
		args = append([]string{"help"}, args[1:]...)
	case "-version", "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	all := commands()
	for words := min(2, len(args)); words > 0; words-- {
		name := strings.Join(args[:words], " ")
		if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
			return all[i], args[words:], nil
		}
	}
	return command{}, nil, unknownCommand(args, all)
}

func unknownCommand(args []string, all []command) error {
	var group []string
	for _, c := range all {
		if strings.HasPrefix(c.name, args[0]+" ") {
			group = append(group, c.name)
		}
	}
	if len(group) > 0 && len(args) == 1 {
		return usagef("%s needs one more word: %s", args[0], strings.Join(group, ", "))
	}
	name := args[0]
	if len(group) > 0 {
		name += " " + args[1]
	}
	near, distance := "", len(name)/2+1
	for _, c := range all {
		if d := editDistance(name, c.name); d < distance {
			near, distance = c.name, d
		}
	}
	if near == "" {
		return usagef("unknown command %q", name)
	}
	return usagef("unknown command %q, did you mean %q?", name, near)
}

// editDistance counts the bytes that are to be inserted, removed or replaced to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Exit codes, design §5. Those of the modelio commands are the reference verifier's (design R14).
const (
	exitClean    = 0
	exitFindings = 1
	exitTrouble  = 2 // usage or I/O
)

// An exit ends a command with a code of its own.
type exit struct {
	code int
	err  error // what is left to be said; nil: nothing
}

func (e exit) Error() string { return fmt.Sprint(e.err) }
func (e exit) Unwrap() error { return e.err }

// exitCode returns the code that a command's error asks for. A broken text is a finding.
func exitCode(err error) int {
	var e exit
	var broken *snapshot.Error
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &broken):
		return exitFindings
	}
	return exitTrouble
}

// A usageError says how a command was called wrongly.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is in the error
	return flags
}

// arguments parses flags, which may stand anywhere among args, and returns the rest: least
// arguments or more, most or fewer.
func arguments(flags *flag.FlagSet, args []string, least, most int) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, usageError(err.Error())
		}
		parsed := len(args) - flags.NArg()
		ended := parsed > 0 && args[parsed-1] == "--"
		if args = flags.Args(); ended {
			rest = append(rest, args...)
			break
		}
		if len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	switch {
	case len(rest) < least:
		return nil, usagef("too few arguments")
	case len(rest) > most:
		return nil, usagef("too many arguments, from %q on", rest[most])
	}
	return rest, nil
}

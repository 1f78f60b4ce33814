package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

func main() {
	os.Exit(traceforge(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// traceforge runs the command that args name and returns its exit code.
func traceforge(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	con := newConsole(stdin, stdout, stderr)
	root := rootCommand(con)
	root.SetArgs(joinResult(longFlags(args)))
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(err, con.noHelp)
	con.complain(cmd.CommandPath(), err)
	if unwritten := errors.Join(con.stdout.Flush(), con.failed); unwritten != nil {
		con.complain(cmd.CommandPath(), unwritten)
		err = unwritten
	}
	trouble := exitTrouble
	if strings.HasPrefix(cmd.CommandPath(), "traceforge modelio ") {
		trouble = exitSessionTrouble
	}
	return exitCode(err, trouble)
}

// longFlags adds the second dash to flags that have one, since Go's own flags may be written either way.
func longFlags(args []string) []string {
	args = slices.Clone(args)
	if len(args) > 0 && args[0] == "test" { // all flags belong to go test
		return args
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' {
			args[i] = "-" + arg
		}
	}
	return args
}

// Exit codes. The modelio commands use those of the reference verifier.
const (
	exitClean    = 0
	exitFindings = 1
	exitTrouble  = 2 // usage or I/O

	exitSessionTrouble = 1 // usage or I/O
	exitSessionNotJSON = 2
	exitSessionInvalid = 3
)

// An exit ends a command with an exit code of its own.
type exit struct {
	code int
	err  error // the error to print; nil if there is none
}

func (e exit) Error() string { return fmt.Sprint(e.err) }

func (e exit) Unwrap() error { return e.err }

// exitWith returns an error that ends a command with an exit code and prints nothing.
func exitWith(code int) error {
	if code == exitClean {
		return nil
	}
	return exit{code: code}
}

// withFindings returns an error that ends a command with the exit code of findings, if there are some.
func withFindings(some bool) error {
	if some {
		return exit{code: exitFindings}
	}
	return nil
}

// exitCode returns the exit code for a command's error. A text that breaks the format is a finding; trouble is the code
// for errors that have none of their own.
func exitCode(err error, trouble int) int {
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
	return trouble
}

// A usageError describes wrong arguments of a command.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio/session"
)

// Exit codes of the modelio commands .
const (
	exitSessionTrouble = 1 // usage or I/O
	exitSessionNotJSON = 2
	exitSessionInvalid = 3
)

// ruleIO is the rule of the line about a file that could not be read, as the reference verifier
// names it.
const ruleIO = "IO"

const sessionExitCodes = `
The exit code is 0 where all sessions are valid, 1 where one could not be read or the
command was called wrongly, 2 where one is not JSON, 3 where one breaks a rule; of
several, the highest.
`

func modelioCommand(con *console) *cobra.Command {
	c := group("modelio", "check model_io sessions", modelioVerifyCommand(con), modelioHashCommand(con))
	trouble := func(err error) error {
		if err == nil {
			return nil
		}
		return exit{exitSessionTrouble, err}
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(usageError{err}) })
	for _, sub := range c.Commands() {
		check := sub.Args
		sub.Args = func(c *cobra.Command, args []string) error { return trouble(check(c, args)) }
	}
	return c
}

func modelioVerifyCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify FILE…",
		Short: "check model_io sessions",
		Long: `Checks model_io.json files against the rules MI1 to MI12 and prints a line of canonical
JSON for each: its number of interactions and its hash, or every violation. The file -
is standard input. Files are read as a stream, whatever their size.
` + sessionExitCodes,
		Args: arguments(1, math.MaxInt),
	}
	var opts session.VerifyOptions
	c.Flags().BoolVar(&opts.NoResponseHashes, "no-response-hashes", false,
		"do not compare response_hash with response_content (MI7)")
	c.Flags().BoolVar(&opts.NoSizeLimits, "no-size-limits", false,
		"allow any number of interactions of any size (MI4, MI11)")
	c.RunE = func(c *cobra.Command, files []string) error {
		code := exitClean
		for _, file := range files {
			report, err := verifySession(con.stdin, file, opts)
			line := report.String()
			if err != nil {
				line = unreadSession(file, err)
				con.say("%s: %s: %v", c.CommandPath(), file, err)
			}
			con.canonical(line)
			code = max(code, sessionCode(report, err))
		}
		return endSession(con, code)
	}
	return c
}

// endSession ends a command with a code, if what it printed could be written.
func endSession(con *console, code int) error {
	if err := con.stdout.Flush(); err != nil {
		return exit{exitSessionTrouble, err}
	}
	if code != exitClean {
		return exit{code: code}
	}
	return nil
}

func verifySession(stdin io.Reader, file string, opts session.VerifyOptions) (session.Report, error) {
	if file == "-" {
		return session.VerifyReader(stdin, opts)
	}
	f, err := os.Open(file)
	if err != nil {
		return session.Report{}, withoutPath(err)
	}
	defer f.Close()
	return session.VerifyReader(f, opts)
}

// withoutPath is err for a message that names the file already.
func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func isNotJSON(err error) bool {
	var syntax *canon.Error
	return errors.As(err, &syntax)
}

// unreadSession is the line about a file that was not verified, as the reference verifier prints it.
func unreadSession(file string, err error) string {
	rule, message := ruleIO, "Failed to read file: "
	if isNotJSON(err) {
		rule, message = session.RuleParse, "Invalid JSON: "
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	violation := map[string]string{"rule_id": rule, "path": valid(file), "message": message + valid(err.Error())}
	line, err := canon.Marshal(map[string]any{"ok": false, "violations": []any{violation}})
	if err != nil {
		return err.Error() // unreachable: strings have a canonical form
	}
	return string(line)
}

func sessionCode(report session.Report, err error) int {
	switch {
	case isNotJSON(err):
		return exitSessionNotJSON
	case err != nil:
		return exitSessionTrouble
	case !report.OK():
		return exitSessionInvalid
	}
	return exitClean
}

func modelioHashCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "hash FILE",
		Short: "print the hash of a model_io session",
		Long: `Prints the ModelIOHash of a model_io.json file: sha256 over the canonical form of its
core, which has no times and no metrics. The file - is standard input. A session that
is not valid has no hash; what is wrong with it goes to standard error.
` + sessionExitCodes,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, files []string) error {
			report, err := verifySession(con.stdin, files[0], session.VerifyOptions{})
			code := sessionCode(report, err)
			switch {
			case err != nil:
				return exit{code, fmt.Errorf("%s: %w", files[0], err)}
			case !report.OK():
				for _, v := range report.Violations {
					con.say("%s: %s: %s: %s", files[0], session.Path(v), v.Rule, v.Message)
				}
				return exit{code: code}
			}
			fmt.Fprintln(con.stdout, report.Hash)
			return endSession(con, code)
		},
	}
}

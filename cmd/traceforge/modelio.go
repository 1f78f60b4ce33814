package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Exit codes of the modelio commands (design R14).
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

var modelioVerifyCommand = command{
	name:     "modelio verify",
	synopsis: "[--no-response-hashes] [--no-size-limits] FILE…",
	summary:  "check model_io sessions",
	help: `
Checks model_io.json files against the rules MI1 to MI12 and prints a line of canonical
JSON for each: its number of interactions and its hash, or every violation. The file -
is standard input. Files are read as a stream, whatever their size.

  --no-response-hashes  do not compare response_hash with response_content (MI7)
  --no-size-limits      allow any number of interactions of any size (MI4, MI11)
` + sessionExitCodes,
	run: runModelioVerify,
}

func runModelioVerify(_ context.Context, con *console, args []string) error {
	var opts modelio.VerifyOptions
	flags := newFlags()
	flags.BoolVar(&opts.NoResponseHashes, "no-response-hashes", false, "")
	flags.BoolVar(&opts.NoSizeLimits, "no-size-limits", false, "")
	files, err := arguments(flags, args, 1, math.MaxInt)
	if err != nil {
		return exit{exitSessionTrouble, err}
	}
	code := exitClean
	for _, file := range files {
		report, err := verifySession(con.stdin, file, opts)
		if err != nil {
			report = unreadSession(file, err)
			con.say("traceforge modelio verify: %s: %v", file, err)
		}
		con.canonical(report.String())
		code = max(code, sessionCode(report, err))
	}
	if err := con.stdout.Flush(); err != nil {
		return exit{exitSessionTrouble, err}
	}
	if code != exitClean {
		return exit{code: code}
	}
	return nil
}

func verifySession(stdin io.Reader, file string, opts modelio.VerifyOptions) (modelio.Report, error) {
	if file == "-" {
		return modelio.VerifyReader(stdin, opts)
	}
	f, err := os.Open(file)
	if err != nil {
		return modelio.Report{}, withoutPath(err)
	}
	defer f.Close()
	return modelio.VerifyReader(f, opts)
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

// unreadSession reports a file that was not verified, as the reference verifier does.
func unreadSession(file string, err error) modelio.Report {
	v := modelio.Violation{RuleID: ruleIO, Message: "Failed to read file: "}
	if isNotJSON(err) {
		v = modelio.Violation{RuleID: modelio.RuleParse, Message: "Invalid JSON: "}
	}
	v.Path, v.Message = strings.ToValidUTF8(file, "\uFFFD"), v.Message+err.Error()
	return modelio.Report{Violations: []modelio.Violation{v}}
}

func sessionCode(report modelio.Report, err error) int {
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

var modelioHashCommand = command{
	name:     "modelio hash",
	synopsis: "FILE",
	summary:  "print the hash of a model_io session",
	help: `
Prints the ModelIOHash of a model_io.json file: sha256 over the canonical form of its
core, which has no times and no metrics. The file - is standard input. A session that
is not valid has no hash; what is wrong with it goes to standard error.
` + sessionExitCodes,
	run: runModelioHash,
}

func runModelioHash(_ context.Context, con *console, args []string) error {
	files, err := arguments(newFlags(), args, 1, 1)
	if err != nil {
		return exit{exitSessionTrouble, err}
	}
	report, err := verifySession(con.stdin, files[0], modelio.VerifyOptions{})
	code := sessionCode(report, err)
	switch {
	case err != nil:
		return exit{code, fmt.Errorf("%s: %w", files[0], err)}
	case !report.OK():
		for _, v := range report.Violations {
			con.say("%s: %s", files[0], v)
		}
		return exit{code: code}
	}
	fmt.Fprintln(con.stdout, report.Hash)
	if err := con.stdout.Flush(); err != nil {
		return exit{exitSessionTrouble, err}
	}
	return nil
}

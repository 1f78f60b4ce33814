package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/modelio/session"
)

// ruleIO is the rule of the line about a file that could not be read, as the reference verifier
// names it.
const ruleIO = "IO"

// A verifiedSession is what modelio verify prints of a file for a program, as the reference verifier prints it.
type verifiedSession struct {
	OK           bool          `json:"ok"`                           // nothing is wrong
	Interactions *int          `json:"interactions_count,omitempty"` // of a valid session
	Hash         canon.Hash    `json:"model_io_hash,omitempty"`      // MIO §4.4, of a valid session
	Violations   []pack.Breach `json:"violations,omitempty"`         // of any other file
}

func verifySessions(c *call) error {
	opts := session.VerifyOptions{NoResponseHashes: c.is("no-response-hashes"), NoSizeLimits: c.is("no-size-limits")}
	code := exitClean
	for _, file := range c.args {
		report, err := verifySession(c.stdin, file, opts)
		if tellErr := c.tellSession(file, report, err); tellErr != nil {
			return tellErr
		}
		code = max(code, sessionCode(report, err))
	}
	return exitWith(code)
}

// tellSession says what a file was found to be; err is why it was not verified.
func (c *call) tellSession(file string, report session.Report, err error) error {
	said := verifiedSession{OK: err == nil && report.OK()}
	switch {
	case err != nil:
		said.Violations = []pack.Breach{unreadSession(file, err)}
		c.say("%s: %s: %v", c.cmd.CommandPath(), file, err)
	case said.OK:
		said.Interactions, said.Hash = &report.Interactions, report.Hash
	}
	for _, v := range report.Violations {
		said.Violations = append(said.Violations, pack.Breach{Message: v.Message, Path: session.Path(v), Rule: v.Rule})
	}
	return c.answer(said, func() {
		for _, v := range report.Violations {
			c.line(fmt.Sprintf("%s: %s: %s: %s", file, session.Path(v), v.Rule, v.Message))
		}
		if said.OK {
			c.line(fmt.Sprintf("%s: %s, %s", file, page.Count(report.Interactions, "interaction", "interactions"), report.Hash))
		}
	})
}

func hashSession(c *call) error {
	report, err := c.verified(c.args[0])
	if err == nil {
		fmt.Fprintln(c.stdout, report.Hash)
	}
	return err
}

// verified verifies a session that must keep all rules of MIO. It says which ones it breaks.
func (c *call) verified(file string) (session.Report, error) {
	report, err := verifySession(c.stdin, file, session.VerifyOptions{})
	code := sessionCode(report, err)
	if err != nil {
		return report, exit{code, fmt.Errorf("%s: %w", file, err)}
	}
	for _, v := range report.Violations {
		c.say("%s: %s: %s: %s", file, session.Path(v), v.Rule, v.Message)
	}
	return report, exitWith(code)
}

func verifySession(stdin io.Reader, file string, opts session.VerifyOptions) (session.Report, error) {
	if file == "-" {
		return session.VerifyReader(stdin, opts)
	}
	f, err := os.Open(file)
	if err != nil {
		return session.Report{}, errors.Unwrap(err) // which is os.Open's *os.PathError: the message names the file already
	}
	defer f.Close()
	return session.VerifyReader(f, opts)
}

func isNotJSON(err error) bool {
	var syntax *canon.Error
	return errors.As(err, &syntax)
}

// unreadSession is the violation of a file that was not verified, as the reference verifier names it.
func unreadSession(file string, err error) pack.Breach {
	rule, message := ruleIO, "Failed to read file: "
	if isNotJSON(err) {
		rule, message = session.RuleParse, "Invalid JSON: "
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return pack.Breach{Message: message + valid(err.Error()), Path: valid(file), Rule: rule}
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

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio/session"
)

// ruleIO is the rule of the line about a file that could not be read, as the reference verifier
// names it.
const ruleIO = "IO"

func verifySessions(c *call) error {
	opts := session.VerifyOptions{NoResponseHashes: c.is("no-response-hashes"), NoSizeLimits: c.is("no-size-limits")}
	code := exitClean
	for _, file := range c.args {
		report, err := verifySession(c.stdin, file, opts)
		line := report.String()
		if err != nil {
			line = unreadSession(file, err)
			c.say("%s: %s: %v", c.cmd.CommandPath(), file, err)
		}
		c.canonical(line)
		code = max(code, sessionCode(report, err))
	}
	return exitWith(code)
}

func hashSession(c *call) error {
	file := c.args[0]
	report, err := verifySession(c.stdin, file, session.VerifyOptions{})
	code := sessionCode(report, err)
	if err != nil {
		return exit{code, fmt.Errorf("%s: %w", file, err)}
	}
	if !report.OK() {
		for _, v := range report.Violations {
			c.say("%s: %s: %s: %s", file, session.Path(v), v.Rule, v.Message)
		}
		return exit{code: code}
	}
	fmt.Fprintln(c.stdout, report.Hash)
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
	if at := (*os.PathError)(nil); errors.As(err, &at) {
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

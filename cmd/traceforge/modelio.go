package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ruleIO is the rule in the line about a file that could not be read, as the reference verifier names it.
const ruleIO = "IO"

// A verifiedSession is the output of modelio verify --json for a file, in the form of the reference verifier.
type verifiedSession struct {
	OK           bool          `json:"ok"`                           // whether the session is valid
	Interactions *int          `json:"interactions_count,omitempty"` // number of interactions of a valid session
	Hash         canon.Hash    `json:"model_io_hash,omitempty"`      // hash of a valid session (MIO §4.4)
	Violations   []pack.Breach `json:"violations,omitempty"`         // violations of a file that is not a valid session
}

func verifySessions(c *call) error {
	opts := session.VerifyOptions{NoResponseHashes: c.is("no-response-hashes"), NoSizeLimits: c.is("no-size-limits")}
	code := exitClean
	for _, file := range c.args {
		report, err := verifySession(c.stdin, file, opts)
		c.tellSession(file, report, err)
		code = max(code, sessionCode(report, err))
	}
	return exitWith(code)
}

// tellSession reports the result for a file; err is the reason why it was not verified.
func (c *call) tellSession(file string, report session.Report, err error) {
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
	c.answer(said, func() {
		for _, v := range report.Violations {
			c.line(fmt.Sprintf("%s: %s: %s: %s", file, session.Path(v), v.Rule, v.Message))
		}
		if said.OK {
			c.line(fmt.Sprintf("%s: %s, %s", file, page.Count(report.Interactions, "interaction", "interactions"), report.Hash))
		}
	})
}

func hashSession(c *call) error {
	report, err := verifySession(c.stdin, c.args[0], session.VerifyOptions{})
	if err = c.refuse(c.args[0], report, err); err == nil {
		fmt.Fprintln(c.stdout, report.Hash)
	}
	return err
}

// refuse returns the error for a session that does not comply with all rules of MIO, and reports the violated ones. err
// is the reason why it was not verified.
func (c *call) refuse(file string, report session.Report, err error) error {
	code := sessionCode(report, err)
	if err != nil {
		return exit{code, fmt.Errorf("%s: %w", file, err)}
	}
	for _, v := range report.Violations {
		c.say("%s: %s: %s: %s", file, session.Path(v), v.Rule, v.Message)
	}
	return exitWith(code)
}

func verifySession(stdin io.Reader, file string, opts session.VerifyOptions) (session.Report, error) {
	if file == "-" {
		return session.VerifyReader(stdin, opts)
	}
	f, err := os.Open(file)
	if err != nil {
		return session.Report{}, errors.Unwrap(err) // the *os.PathError of os.Open, since the message already names the file
	}
	defer f.Close()
	return session.VerifyReader(f, opts)
}

func isNotJSON(err error) bool {
	var syntax *canon.Error
	return errors.As(err, &syntax)
}

// unreadSession is the violation for a file that was not verified, as the reference verifier names it.
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

// replaySession answers prompts from a session. Each line of standard input is a prompt, as a JSON string, and is
// answered by a line with the recorded response.
func replaySession(c *call) error {
	s, err := c.validSession(c.args[0])
	if err != nil {
		return err
	}
	left := map[canon.Hash][]string{}
	for _, in := range s.Interactions {
		left[in.PromptHash] = append(left[in.PromptHash], in.ResponseContent)
	}
	return eachPrompt(c.stdin, "standard input", func(line int, prompt string) error {
		hash := canon.Sum([]byte(prompt))
		answers, known := left[hash]
		switch {
		case !known:
			return exit{exitSessionInvalid,
				fmt.Errorf("line %d: %s has no answer to this prompt (%s): a session has the hashes of prompts alone, "+
					"so each must be what was asked, to the byte", line, c.args[0], hash)}
		case len(answers) == 0:
			return exit{exitSessionInvalid, fmt.Errorf(
				"line %d: %s has no further answer to this prompt (%s): it was asked fewer times", line, c.args[0], hash)}
		}
		left[hash] = answers[1:]
		c.json(answers[0])
		return c.stdout.Flush() // the reader may wait for it before sending the next prompt
	})
}

// validSession reads a session, which must comply with the rules of MIO. It reads the file once, as it may be a pipe.
func (c *call) validSession(file string) (*session.Session, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	report, err := session.VerifyReader(bytes.NewReader(data), session.VerifyOptions{})
	if err = c.refuse(file, report, err); err != nil {
		return nil, err
	}
	s := new(session.Session)
	return s, s.UnmarshalJSON(data)
}

// eachPrompt reads prompts, one JSON string per line.
func eachPrompt(from io.Reader, name string, do func(line int, prompt string) error) error {
	in := bufio.NewScanner(from)
	in.Buffer(nil, math.MaxInt)
	for line := 1; in.Scan(); line++ {
		var prompt string
		if err := json.Unmarshal(in.Bytes(), &prompt); err != nil {
			return fmt.Errorf("%s: line %d: want a prompt as a JSON string: %w", name, line, err)
		}
		if err := do(line, prompt); err != nil {
			return err
		}
	}
	return in.Err()
}

// importSession creates the document of a test from a session, as far as its prompts are known. Each call appears to
// have sent the prompt as a single user message.
func importSession(c *call) error {
	file := c.args[0]
	pkg, test, err := c.namedTest()
	name, model, _ := strings.Cut(c.value("model"), "/")
	if pkg == "" || test == "" || name == "" || model == "" || c.value("prompts") == "" {
		return usagef(
			"want --package and --test of the test, --model PROVIDER/MODEL as it names it to Recorder.Model, and --prompts")
	}
	if err != nil {
		return err
	}
	s, err := c.validSession(file)
	if err != nil {
		return err
	}
	f, err := os.Open(c.value("prompts"))
	if err != nil {
		return err
	}
	defer f.Close()
	known := map[canon.Hash]string{}
	err = eachPrompt(f, c.value("prompts"), func(_ int, prompt string) error {
		known[canon.Sum([]byte(prompt))] = prompt
		return nil
	})
	if err != nil {
		return err
	}
	into, dir, err := place.OpenStore(c.value("dir"))
	if into == nil {
		return err
	}
	if err := absent(into, pkg, test, name); err != nil {
		return err
	}
	told := false
	r, err := recorder.Open(recorder.Options{
		Dir: dir, Shown: filepath.ToSlash(dir), Package: pkg, Test: test, Mode: recorder.Update,
		Origin: "imported from " + filepath.Base(file) + ", a Model IO session, which does not say how it was asked",
		Source: func() snapshot.Source { return snapshot.Source{File: filepath.Base(file), Line: 1, Function: test} },
		Fail:   func() { told = true }, Tell: func(f *recorder.Failure) { told = true; c.say("%s", f.Text) },
	})
	if err != nil {
		return err
	}
	replay := session.Replay(s, session.ReplayOptions{Prompt: func(req *modelio.GenerateRequest) ([]byte, error) {
		return []byte(*req.Messages[0].Content[0].Text), nil
	}})
	imported := 0
	for _, in := range s.Interactions {
		prompt, ok := known[in.PromptHash]
		if !ok {
			c.say("%s: $.interactions[%d]: left out: its prompt is not among the prompts, and a session has its hash alone: %s",
				file, in.I, in.PromptHash)
			continue
		}
		message := modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(prompt)}}
		_, err := r.Generate(c.ctx, recorder.Generation{
			Provider: name, Model: model, Live: replay, Request: &modelio.GenerateRequest{Messages: []modelio.Message{message}},
		})
		if err != nil {
			c.say("%s: $.interactions[%d]: left out: %v", file, in.I, err)
			continue
		}
		imported++
	}
	if r.Finish(recorder.TestEnd{Failed: told}); told { // none of it is in the store
		imported = 0
	}
	c.line(fmt.Sprintf("%s: %s of %d from %s, for %s in %s", dir, page.Count(imported, "call", "calls"),
		len(s.Interactions), file, test, pkg))
	return withFindings(told || imported < len(s.Interactions))
}

// absent returns an error if a store has a document for a test.
func absent(s *store.Store, pkg, test, provider string) error {
	switch doc, err := s.Load(snapshot.DocumentName(pkg, test), provider); {
	case err == nil:
		return fmt.Errorf("%s is there already, and stays as it is: remove it first, or import for another test",
			s.Shown(doc.File()))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

package main

import (
	"bufio"
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
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// replaySession answers prompts from a session. Each line of standard input is a prompt, a JSON string, and gets a
// line with the recorded response.
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
			return exit{exitSessionInvalid, fmt.Errorf("line %d: %s has no answer to this prompt (%s): a session has the hashes of prompts alone, "+
				"so each must be what was asked, to the byte", line, c.args[0], hash)}
		case len(answers) == 0:
			return exit{exitSessionInvalid, fmt.Errorf("line %d: %s has no further answer to this prompt (%s): it was asked fewer times", line, c.args[0], hash)}
		}
		left[hash] = answers[1:]
		if err := c.json(answers[0]); err != nil {
			return err
		}
		return c.stdout.Flush() // its reader may wait for it before it asks again
	})
}

// validSession reads a session that keeps the rules of MIO.
func (c *call) validSession(file string) (*session.Session, error) {
	if _, err := c.verified(file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := new(session.Session)
	if err := s.UnmarshalJSON(data); err != nil {
		return nil, exit{exitSessionInvalid, fmt.Errorf("%s: %w", file, err)}
	}
	return s, nil
}

// eachPrompt reads prompts, a JSON string a line.
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

// importSession makes the document of a test of a session, as far as its prompts are known. The test seems to have
// asked a model for each with one user message.
func importSession(c *call) error {
	file, pkg, test := c.args[0], c.value("package"), c.value("test")
	name, model, ok := strings.Cut(c.value("model"), "/")
	if pkg == "" || test == "" || !ok || c.value("prompts") == "" {
		return usagef("want --package and --test of the test, --model PROVIDER/MODEL as it names it to Recorder.Model, and --prompts")
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
	dir, err := place.StoreDir(c.named())
	if err != nil {
		return err
	}
	if err := absent(dir, pkg, test, name); err != nil {
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
			c.say("%s: $.interactions[%d]: left out: its prompt is not among the prompts, and a session has its hash alone: %s", file, in.I, in.PromptHash)
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
	r.Finish(recorder.Outcome{Failed: told})
	c.line(fmt.Sprintf("%s: %s of %d from %s, for %s in %s", dir, page.Count(imported, "call", "calls"), len(s.Interactions), file, test, pkg))
	return withFindings(told || imported < len(s.Interactions), nil)
}

// absent returns an error if a store has the document of a test.
func absent(dir, pkg, test, provider string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	switch doc, err := s.Load(snapshot.DocumentName(pkg, test), provider); {
	case err == nil:
		return fmt.Errorf("%s is there already, and stays as it is: remove it first, or import for another test", filepath.ToSlash(filepath.Join(dir, doc.File())))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

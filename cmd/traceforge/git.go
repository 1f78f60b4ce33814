package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// git runs git in dir and returns what it prints, without the last line end.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := osexec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, &said)
	}
	return strings.TrimSuffix(string(printed), "\n"), nil
}

var gitTextconvCommand = command{
	name:     "git textconv",
	synopsis: "FILE",
	summary:  "show a snapshot file for git diff (see init --git)",
	help: `
Prints the conversation in a snapshot file as show does, without breaking lines, so that
git compares them as they were written. What is no snapshot is printed as it is.
`,
	run: runGitTextconv,
}

func runGitTextconv(_ context.Context, con *console, args []string) error {
	args, err := arguments(newFlags(), args, 1, 1)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	records, err := fileRecords(args[0], data)
	if err != nil { // git shows nothing at all where this program fails
		_, err := con.stdout.Write(data)
		return err
	}
	p := page{out: con.stdout, width: lineWidth(""), unwrapped: true}
	for _, r := range records {
		p.conversation(r.provider, r.snapshot)
	}
	return con.stdout.Flush() // an earlier error is sticky
}

var gitMergeCommand = command{
	name:     "git merge-manifest",
	synopsis: "BASE OURS THEIRS",
	summary:  "merge manifests for git merge (see init --git)",
	help: `
Merges the manifest THEIRS into OURS, by records: BASE is their common ancestor. What
both sides changed is a conflict, as is the record's own file, and exits with 1: when the
records are merged, traceforge manifest makes the manifest that they ask for.
`,
	run: runGitMerge,
}

func runGitMerge(_ context.Context, con *console, args []string) error {
	args, err := arguments(newFlags(), args, 3, 3)
	if err != nil {
		return err
	}
	var sides [3][]byte
	for i, file := range args {
		if sides[i], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	merged, conflict := snapshot.MergeManifests(sides[0], sides[1], sides[2])
	if merged != nil {
		if err := os.WriteFile(args[1], merged, 0o666); err != nil {
			return err
		}
	}
	if conflict != nil {
		return exit{exitFindings, errors.Join(conflict, errors.New("when the records are merged, run traceforge manifest"))}
	}
	return nil
}

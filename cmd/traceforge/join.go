package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// A shardReport is what report brings together of the shards of a run besides.
type shardReport struct {
	Checks    *checkReport   `json:"checks,omitempty"` // what check --json prints
	Pending   []pendingEntry `json:"pending"`          // answers that were taken into the store's pending ones
	Conflicts []conflict     `json:"conflicts"`        // what shards say differently
}

// ok reports whether the shards agree, and no check failed.
func (j *shardReport) ok() bool { return len(j.Conflicts) == 0 && (j.Checks == nil || j.Checks.OK) }

// A pendingEntry is a document of pending answers.
type pendingEntry struct {
	page.Test
	Answers int `json:"answers"` // how many
}

// A conflict is a test of which two shards say different things.
type conflict struct {
	page.Test
	Shards []string `json:"shards,omitempty"` // directories
	Reason string   `json:"reason"`           // in words
}

func (f conflict) String() string {
	text := f.Test.Test + " in " + f.Package + ": " + f.Reason
	if len(f.Shards) > 0 {
		text += ": " + strings.Join(f.Shards, ", ")
	}
	return text
}

// join brings together what the shards of a run left: their checks, and their pending answers, which it takes into those of the
// store.
func join(c *call, left []string) (j *shardReport, err error) {
	if len(c.values("dir")) > 1 {
		return nil, usageError{errors.New("shards are joined in one store: name one --dir, or one --receipt")}
	}
	s, _, err := c.storeIn(strings.Join(c.values("dir"), ""))
	if err != nil {
		return nil, err
	}
	var receipts []usage.Receipt
	for _, dir := range left {
		some, _, err := usage.ReadReceipts(dir)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, some...)
	}
	j = &shardReport{}
	receipts, j.Conflicts = joinChecks(receipts)
	if len(receipts) > 0 {
		j.Checks = newChecked(receipts, coverage.Outcomes{})
	}
	shards := &pendingShards{store: s}
	if err := shards.read(left); err != nil {
		return nil, err
	}
	if j.Pending, err = shards.join(); err != nil {
		return nil, err
	}
	j.Pending, j.Conflicts = orEmpty(j.Pending), append(j.Conflicts, shards.conflicts...)
	return j, nil
}

// checkArtefact refuses a directory that holds anything but files: an artefact may come from anybody.
func checkArtefact(dir string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Type().IsRegular() {
			return err
		}
		return fmt.Errorf("%s is a link, or no file: what a shard leaves holds files only", file)
	})
}

// write writes what was joined for people.
func (j *shardReport) write(c *call) {
	if j == nil {
		return
	}
	if j.Checks != nil {
		c.text("\n" + j.Checks.text())
	}
	answers := 0
	for _, p := range j.Pending {
		answers += p.Answers
	}
	if answers > 0 {
		c.line(fmt.Sprintf("pending: %s of %s joined: traceforge accept lists them", page.Count(answers, "answer", "answers"),
			page.Count(len(j.Pending), "test", "tests")))
	}
	for _, f := range j.Conflicts {
		c.line("conflict: " + f.String())
	}
}

// joinChecks returns the receipts with checks, in which each call stands once: that of the shard which was to make it.
// Where two did, and they found different things, it is a conflict.
func joinChecks(all []usage.Receipt) (receipts []usage.Receipt, conflicts []conflict) {
	type key struct {
		page.Test
		call string
	}
	at := map[key][2]int{}
	conflicts = []conflict{}
	for _, receipt := range all {
		if len(receipt.Checks) == 0 {
			continue
		}
		test := page.Test{Package: receipt.Package, Test: receipt.Test}
		kept := receipt
		kept.Checks = nil
		for _, found := range receipt.Checks {
			k := key{test, found.Call}
			place, twice := at[k]
			if !twice {
				at[k] = [2]int{len(receipts), len(kept.Checks)}
				kept.Checks = append(kept.Checks, found)
				continue
			}
			is := &kept
			if place[0] < len(receipts) {
				is = &receipts[place[0]]
			}
			was := &is.Checks[place[1]]
			switch {
			case was.State == usage.CheckUnchosen:
				*was = found
			case found.State != usage.CheckUnchosen && found.State != was.State:
				conflicts = append(conflicts, conflict{Test: test, Reason: fmt.Sprintf("call %d is %s in one shard and %s in another",
					found.Number, was.State, found.State)})
			}
		}
		receipts = append(receipts, kept)
	}
	slices.SortFunc(conflicts, compareConflicts)
	return receipts, conflicts
}

func compareConflicts(a, b conflict) int {
	return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test.Test, b.Test.Test), strings.Compare(a.Reason, b.Reason))
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

var manifestCommand = command{
	name:     "manifest",
	synopsis: "[DIR]",
	summary:  "rebuild the manifest from the records",
	help: `
Writes manifest.json anew from the record files, as after a merge conflict, and prints
what changed: a line for each record that was added, removed or changed. A record
file that is not valid is named, and then nothing is written.
`,
	run: runManifest,
}

func runManifest(_ context.Context, con *console, args []string) error {
	args, err := arguments(newFlags(), args, 0, 1)
	if err != nil {
		return err
	}
	store, dir, err := openStore(strings.Join(args, ""))
	if err != nil {
		return err
	}
	defer store.Close()

	file := filepath.Join(dir, "manifest.json")
	before, err := readIfAny(file)
	if err != nil {
		return err
	}
	listed, unreadable := seals(store)
	if before == nil {
		unreadable = nil // there was nothing to read
	}
	if err := store.RebuildManifest(); err != nil {
		return err
	}
	after, err := readIfAny(file)
	if err != nil {
		return err
	}
	kept, err := seals(store)
	if err != nil {
		return err
	}

	snapshots := count(len(kept), "snapshot", "snapshots")
	switch {
	case bytes.Equal(before, after):
		con.say("%s: %s, nothing was to be changed", file, snapshots)
		return nil
	case unreadable != nil:
		con.say("%s: rebuilt from %s; before, %s", file, snapshots, firstMessage(unreadable))
		return nil
	}
	con.say("%s: rebuilt from %s", file, snapshots)
	return writeChanges(con, listed, kept)
}

// seals returns the seals of the records that the manifest lists, by file.
func seals(store *snapshot.Store) (map[string]canon.Hash, error) {
	listed := map[string]canon.Hash{}
	for e, err := range store.All() {
		if err != nil {
			return nil, err
		}
		listed[e.File] = e.Hash
	}
	return listed, nil
}

// writeChanges writes a line for each record that only one of two manifests lists, or that they
// list with another seal.
func writeChanges(con *console, before, after map[string]canon.Hash) error {
	all := map[string]canon.Hash{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		change := "changed"
		switch {
		case before[file] == after[file]:
			continue
		case before[file] == "":
			change = "added"
		case after[file] == "":
			change = "removed"
		}
		fmt.Fprintln(con.stdout, change, file)
	}
	return con.stdout.Flush() // an earlier error is sticky
}

// firstMessage returns the first of what a text's error says, without the file and the way out.
func firstMessage(err error) string {
	var broken *snapshot.Error
	if errors.As(err, &broken) {
		return broken.Violations[0].Message
	}
	return err.Error()
}

func readIfAny(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

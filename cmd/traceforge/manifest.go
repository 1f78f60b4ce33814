package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

var manifestCommand = command{
	name:     "manifest",
	synopsis: "[--json] [DIR]",
	summary:  "rebuild the manifest from the records",
	help: `
Writes manifest.json anew from the record files, as after a merge conflict, and prints
what changed: a line for each record that was added, removed or changed. A record
file that is not valid is named, and then nothing is written.

  --json  print one object instead

The object of --json has:

  file       the path of the manifest from the working directory
  snapshots  how many records it lists
  rebuilt    true where it was changed
  changes    of each record: change, which is added, changed or removed; file, its path
             in the store; id. Left out where no entry changed, and where the manifest
             could not be read before
`,
	run: runManifest,
}

func runManifest(_ context.Context, con *console, args []string) error {
	flags := newFlags()
	asJSON := flags.Bool("json", false, "")
	args, err := arguments(flags, args, 0, 1)
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

	var differ []change
	snapshots := count(len(kept), "snapshot", "snapshots")
	rebuilt := !bytes.Equal(before, after)
	switch {
	case !rebuilt:
		con.say("%s: %s, nothing was to be changed", file, snapshots)
	case unreadable != nil:
		con.say("%s: rebuilt from %s; before, %s", file, snapshots, firstMessage(unreadable))
	default:
		con.say("%s: rebuilt from %s", file, snapshots)
		differ = changes("", listed, kept)
	}
	if *asJSON {
		return con.json(struct {
			File      string   `json:"file"`
			Snapshots int      `json:"snapshots"`
			Rebuilt   bool     `json:"rebuilt"`
			Changes   []change `json:"changes,omitempty"`
		}{filepath.ToSlash(file), len(kept), rebuilt, differ})
	}
	return writeChanges(con, differ)
}

// writeChanges writes a line for each change.
func writeChanges(con *console, differ []change) error {
	for _, c := range differ {
		fmt.Fprintln(con.stdout, printable(c.String()))
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

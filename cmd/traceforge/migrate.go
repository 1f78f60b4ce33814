package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

const migrateHelp = `
Checks whether snapshot files of one version of the format can be brought to another:
the files that are named, those of a directory, or those of the store. There is one
version so far, so no file needs it; and none of another version can be read, as what it
lacks would have to be guessed. Such files are listed and stay as they are: record them
again.

  --from V  the version that the files are of
  --to V    the version that they shall be of
  --json    print one object: ok; snapshots, how many files were checked; and findings
            as verify does, with each file as it was named or found
`

var migrateCommand = command{
	name:     "migrate",
	synopsis: "--from V --to V [--json] [DIR|FILE…]",
	summary:  "bring snapshots to another version of the format",
	help:     migrateHelp,
	run:      runMigrate,
}

// snapshotMigrateCommand is SF's spelling of migrateCommand (SF "Migration Path").
var snapshotMigrateCommand = command{
	name:     "snapshot migrate",
	synopsis: migrateCommand.synopsis,
	summary:  "the same as migrate",
	help:     migrateHelp,
	run:      runMigrate,
}

func runMigrate(_ context.Context, con *console, args []string) error {
	flags := newFlags()
	from := flags.String("from", "", "")
	to := flags.String("to", "", "")
	asJSON := flags.Bool("json", false, "")
	names, err := arguments(flags, args, 0, math.MaxInt)
	if err != nil {
		return err
	}
	if *from == "" || *to == "" {
		return usagef("--from and --to must name versions, such as %s", snapshot.Version)
	}
	if *to != snapshot.Version {
		_, err := snapshot.Migrate(nil, *from, *to)
		return err
	}
	files, err := snapshotFiles(names)
	if err != nil {
		return err
	}

	refused := 0 // nothing is written: the one migration that there is changes no file
	var found []snapshot.Finding
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = snapshot.Migrate(data, *from, *to)
		var broken *snapshot.Error
		if !errors.As(err, &broken) {
			continue // it is of version --to
		}
		refused++
		for _, v := range broken.Violations {
			found = append(found, snapshot.Finding{File: file, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
		}
	}
	if *asJSON {
		if err := writeFindings(con, len(files), found, nil); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			writeFinding(con, f)
		}
	}
	switch {
	case *from != snapshot.Version:
		_, err := snapshot.Migrate(nil, *from, *to)
		return exit{exitFindings, errors.New(firstMessage(err))} // in SF's words
	case refused > 0:
		return exit{exitFindings, fmt.Errorf("%d of %s cannot be migrated: nothing was changed", refused, count(len(files), "file", "files"))}
	case *asJSON:
		return nil
	}
	_, err = fmt.Fprintf(con.stdout, "nothing to do: %s of version %s\n", count(len(files), "file is", "files are"), snapshot.Version)
	return err
}

// snapshotFiles returns the files that names mean: themselves, and those of directories that hold
// snapshots. No name means the store.
func snapshotFiles(names []string) ([]string, error) {
	if len(names) == 0 {
		dir, err := storeDir("")
		if err != nil {
			return nil, err
		}
		names = []string{dir}
	}
	var files []string
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "blobs":
				return fs.SkipDir
			case entry.IsDir():
			case path == name, entry.Type().IsRegular() && strings.HasSuffix(path, ".json") && entry.Name() != "manifest.json":
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

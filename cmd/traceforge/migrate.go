package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
)

func snapshotCommand(con *console) *cobra.Command {
	return group("snapshot", "bring snapshots to another version (SF)", migrateCommand(con))
}

func migrateCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate --from V --to V [DIR|FILE…]",
		Short: "bring snapshots to another version of the format",
		Long: `Checks whether documents of one version of the format can be brought to another: the files
that are named, those of a store, or those of the module's store. There is one version so
far, so no file needs it; and none of another version can be read, as what it lacks would
have to be guessed. Such files are listed and stay as they are: record them again.

The object of --json has: ok; documents, how many files were checked; and findings as
verify does, with each file as it was named or found.
`,
		Args: arguments(0, math.MaxInt),
	}
	from := c.Flags().String("from", "", "the version that the files are of: `V`")
	to := c.Flags().String("to", "", "the version that they shall be of: `V`")
	asJSON := jsonFlag(c)
	c.RunE = func(_ *cobra.Command, names []string) error {
		if *from == "" || *to == "" {
			return usagef("--from and --to must name versions, such as %s", snapshot.Version)
		}
		if *to != snapshot.Version {
			return fmt.Errorf("migrate to %s: %w: the current version is %s", *to, snapshot.ErrVersion, snapshot.Version)
		}
		files, err := documentFiles(names)
		if err != nil {
			return err
		}
		found, err := ofOtherVersions(files)
		if err != nil {
			return err
		}
		if *asJSON {
			err := con.json(struct {
				OK        bool      `json:"ok"`
				Documents int       `json:"documents"`
				Findings  []finding `json:"findings"`
			}{len(found) == 0, len(files), findings(found)})
			if err != nil {
				return err
			}
		} else {
			for _, f := range found {
				writeFinding(con, f)
			}
		}
		tally := page.Count(len(files), "file", "files")
		switch {
		case len(found) > 0:
			err := fmt.Errorf("%d of %s cannot be migrated: nothing was changed, record again", len(found), tally)
			return exit{exitFindings, err}
		case !*asJSON:
			fmt.Fprintf(con.stdout, "nothing to do: %s of version %s\n", tally, snapshot.Version)
		}
		return nil
	}
	return c
}

// ofOtherVersions returns a finding for each file that is of another version than this one.
func ofOtherVersions(files []string) ([]snapshot.Finding, error) {
	var found []snapshot.Finding
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var broken *snapshot.Error
		if _, err := snapshot.Parse(data); !errors.As(err, &broken) {
			continue // what else is wrong with it, verify says
		}
		for _, v := range broken.Violations {
			if v.Rule == snapshot.RuleVersion {
				found = append(found, snapshot.Finding{File: file, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
			}
		}
	}
	return found, nil
}

// documentFiles returns the files that names mean: themselves, and those of stores. No name means
// the module's store.
func documentFiles(names []string) ([]string, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	var files []string
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
			continue
		}
		s, dir, err := place.OpenStore(name)
		if err != nil {
			return nil, err
		}
		documents, err := s.List()
		if err != nil {
			return nil, err
		}
		for _, file := range documents {
			files = append(files, filepath.ToSlash(filepath.Join(dir, file)))
		}
	}
	return files, nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
)

func migrate(c *call) error {
	to := c.value("to")
	if c.value("from") == "" || to == "" {
		return usagef("--from and --to must name versions, such as %s", snapshot.Version)
	}
	if to != snapshot.Version {
		return fmt.Errorf("migrate to %s: %w: the current version is %s", to, snapshot.ErrVersion, snapshot.Version)
	}
	files, err := documentFiles(c.args)
	if err != nil {
		return err
	}
	var found []snapshot.Finding
	for _, file := range files {
		other, err := otherVersion(file)
		if err != nil {
			return err
		}
		found = append(found, other...)
	}
	tally := page.Count(len(files), "file", "files")
	err = c.answer(struct {
		OK        bool               `json:"ok"`
		Documents int                `json:"documents"`
		Findings  []snapshot.Finding `json:"findings"`
	}{len(found) == 0, len(files), orEmpty(found)}, func() {
		for _, f := range found {
			c.finding(f)
		}
		if len(found) == 0 {
			fmt.Fprintf(c.stdout, "nothing to do: %s of version %s\n", tally, snapshot.Version)
		}
	})
	if err == nil && len(found) > 0 {
		err := fmt.Errorf("%d of %s cannot be migrated: nothing was changed, record again", len(found), tally)
		return exit{exitFindings, err}
	}
	return err
}

// otherVersion returns a finding if a file is of another version than this one. What else is wrong with
// it, verify says.
func otherVersion(file string) ([]snapshot.Finding, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var broken *snapshot.Error
	if _, err := snapshot.Parse(data); !errors.Is(err, snapshot.ErrVersion) || !errors.As(err, &broken) {
		return nil, nil
	}
	v := broken.Violations[0] // the only one
	return []snapshot.Finding{{File: file, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message}}, nil
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

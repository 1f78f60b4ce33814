package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/traceforge/traceforge-go/cmd/traceforge/internal/git"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func diff(c *call) error {
	dir, err := place.StoreDir(c.named())
	if err != nil {
		return err
	}
	names := append(c.args, []string{"HEAD", ""}[len(c.args):]...)
	from, err := openState(c.ctx, names[0], dir)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := openState(c.ctx, names[1], dir)
	if err != nil {
		return err
	}
	defer to.close()
	differences, err := compare(from.Store, to.Store, func(d *snapshot.Document) { c.secrets.Hide(d) })
	if err != nil {
		return err
	}
	err = c.answer(struct {
		Differences []*page.Difference `json:"differences"`
	}{orEmpty(differences)}, func() {
		for i, d := range differences {
			if i > 0 {
				fmt.Fprintln(c.stdout)
			}
			c.text(d.Text())
		}
	})
	if err == nil && len(differences) > 0 {
		return exit{code: exitFindings}
	}
	return err
}

// compare returns what differs between two states, by the documents' names.
func compare(from, to *store.Store, hide func(*snapshot.Document)) ([]*page.Difference, error) {
	before, err := place.Seals(from)
	if err != nil {
		return nil, err
	}
	after, err := place.Seals(to)
	if err != nil {
		return nil, err
	}
	var differences []*page.Difference
	for _, c := range page.Changes(before, after) {
		f, errFrom := document(from, before[c.Name].File)
		t, errTo := document(to, after[c.Name].File)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		hide(f)
		hide(t)
		d, err := page.Explain(c, f, t)
		if err != nil {
			return nil, err
		}
		differences = append(differences, d)
	}
	return page.JoinMoved(differences)
}

// document returns the document in a file of a store; nil: there is no such file.
func document(s *store.Store, file string) (*snapshot.Document, error) {
	if file == "" {
		return nil, nil
	}
	doc, err := place.Load(s, file)
	if err != nil {
		return nil, err
	}
	return doc.Document, nil
}

// A state is a store as it is, or was at a revision of git.
type state struct {
	*store.Store
	temp string // the directory of a copy; empty: it is none
}

func (s *state) close() {
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
}

// openState opens what name means: a directory, or a revision of the repository that the store in
// dir is in; empty: that store.
func openState(ctx context.Context, name, dir string) (*state, error) {
	if name == "" {
		name = dir
	}
	if info, err := os.Stat(name); name == dir || err == nil && info.IsDir() {
		s, _, err := place.OpenStore(name)
		return &state{Store: s}, err
	}
	temp, err := os.MkdirTemp("", "traceforge-diff-")
	if err != nil {
		return nil, err
	}
	s := &state{temp: temp}
	if err = git.Extract(ctx, name, dir, temp); err == nil {
		s.Store, err = store.Open(temp)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

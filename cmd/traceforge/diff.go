package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func diff(c *call) error {
	if c.is("html") && c.terminal {
		return usagef("--html prints a page for a browser: send it into a file, as with > review.html")
	}
	names := append(c.args, []string{"HEAD", ""}[len(c.args):]...)
	dir, err := place.StoreDir(c.named())
	if err != nil && !(isDir(names[0]) && isDir(names[1])) { // which need no other store
		return err
	}
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
	found, err := compare(c, from.Store, to.Store)
	if err != nil {
		return err
	}
	switch {
	case c.is("json"):
		err = c.json(found)
	case c.is("markdown"):
		_, err = c.stdout.WriteString(found.Markdown(diffCommand(c)))
	case c.is("html"):
		err = found.HTML(c.stdout, page.About{
			Command: "traceforge diff", From: names[0], To: cmp.Or(names[1], "the store as it is"), All: diffCommand(c) + " --json",
		})
	default:
		p := page.Page{Out: c.stdout, Width: c.width(), Color: c.color}
		p.Comparison(found)
		if found.Empty() {
			c.say("nothing differs between %s and %s", names[0], cmp.Or(names[1], "the store as it is"))
		}
	}
	return withFindings(!found.Empty(), err)
}

// diffCommand returns the command that shows all of what this one shows in part.
func diffCommand(c *call) string {
	var command strings.Builder
	command.WriteString("traceforge diff")
	for _, word := range c.args {
		command.WriteString(" " + gotest.Quote(word))
	}
	return command.String()
}

// compare returns what differs between two states.
func compare(c *call, from, to *store.Store) (*page.Comparison, error) {
	before, err := place.Seals(from)
	if err != nil {
		return nil, err
	}
	after, err := place.Seals(to)
	if err != nil {
		return nil, err
	}
	changed, err := settings(c, from, to)
	if err != nil {
		return nil, err
	}
	config, err := to.Config()
	if err != nil {
		config = &store.Config{} // the settings tell
	}
	found := &page.Comparison{Config: changed, Whole: c.is("json"), Cost: config.Cost, Conversations: c.is("html")}
	if found.Conversations {
		found.KeepAnswers(page.AnswersInHTML)
	}
	for _, change := range page.Changes(before, after) {
		f, errFrom := document(from, before[change.Name].File)
		t, errTo := document(to, after[change.Name].File)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		c.secrets.Hide(f)
		c.secrets.Hide(t)
		if err := found.Add(change, f, t); err != nil {
			return nil, err
		}
	}
	return found, found.Close()
}

// document returns the document in a file of a store; nil means there is no such file.
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
	temp string // the directory of a copy; empty means it is none
}

func (s *state) close() {
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
}

// openState opens what name means: a directory, or a revision of the repository that the store in
// dir is in; empty means that store.
func openState(ctx context.Context, name, dir string) (*state, error) {
	if name == "" {
		name = dir
	}
	if name == dir || isDir(name) {
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

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

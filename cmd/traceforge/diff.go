package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/commandline"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func diff(c *call) error {
	c.ctx = worktree.Remember(c.ctx)
	if c.is("html") && c.terminal {
		return usagef("--html prints a page for a browser: send it into a file, as with > review.html")
	}
	names := append(c.args, []string{"HEAD", ""}[len(c.args):]...)
	if from, to, ok := strings.Cut(names[0], "..."); ok && len(c.args) == 1 { // as for git diff
		names = []string{cmp.Or(from, "HEAD"), cmp.Or(to, "HEAD")}
	}
	dir, err := place.StoreDir(c.value("dir"))
	if err != nil && !(isDir(names[0]) && isDir(names[1])) { // two directories need no other store
		return err
	}
	from, err := openState(c.ctx, worktree.Fork(c.ctx, filepath.Dir(dir), names[0], names[1]), dir)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := openState(c.ctx, names[1], dir)
	if err != nil {
		return err
	}
	defer to.close()
	found, err := compare(c, from, to)
	if err != nil {
		return err
	}
	switch {
	case c.is("json"):
		c.json(found)
	case c.is("markdown"):
		c.stdout.WriteString(found.Markdown(found.All))
	case c.is("html"):
		c.stdout.WriteString(found.HTML(page.About{
			Command: "traceforge diff", From: names[0], To: cmp.Or(names[1], "the store as it is"), All: found.All,
		}))
	default:
		var text strings.Builder
		shown := c.page(c.stdout)
		shown.Out = &text
		shown.Comparison(found)
		c.stdout.WriteString(text.String())
		switch {
		case found.Empty() && found.Unread == nil:
			c.say("nothing differs between %s and %s", names[0], cmp.Or(names[1], "the store as it is"))
		case page.LeavesOut(text.String()):
			c.say("more of it, as a page: %s --html; all of it: %s", diffCommand(c), found.All)
		}
	}
	if found.Unread != nil {
		return exit{exitFindings, errors.New(strings.Join(found.Unread, "\n"))}
	}
	return withFindings(!found.Empty())
}

// diffCommand returns this command without the option of a form.
func diffCommand(c *call) string {
	return strings.TrimSuffix("traceforge diff"+option(" --dir ", c.value("dir"))+" "+commandline.Join(c.args), " ")
}

// compare returns the differences between two states.
func compare(c *call, was, is *state) (*page.Comparison, error) {
	from, to := was.Store, is.Store
	before, errFrom := was.seals()
	after, errTo := is.seals()
	if before == nil || after == nil {
		return nil, errors.Join(errFrom, errTo)
	}
	changed, err := settings(c, from, to)
	if err != nil {
		return nil, err
	}
	config, _ := to.Config() // the settings report its faults
	found := &page.Comparison{Config: changed, Whole: c.is("json"), Cost: lint.Prices(config.Prices).Cost,
		All: diffCommand(c) + " --json", Conversations: c.is("html")}
	if found.Conversations {
		found.KeepAnswers(page.AnswersInHTML)
	}
	altered, err := alteredAlone(c.ctx, was, is, before, after)
	if err != nil {
		return nil, err
	}
	for _, change := range page.Changes(before, after) {
		if err := cmp.Or(before[change.Document].Unread, after[change.Document].Unread); err != nil {
			found.Unread = append(found.Unread, is.shown(was.shown(err.Error())))
			continue
		}
		f, errFrom := document(from, before[change.Document].File)
		t, errTo := document(to, after[change.Document].File)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		if seal := before[change.Document]; seal.Altered {
			for _, need := range store.Needs(t) {
				if altered[change.File+" "+need.Own] {
					change.Altered = inorder.With(change.Altered, t.Snapshots[need.Record].Number())
				}
			}
			if change.Altered == nil { // no record refers to it
				continue
			}
			slices.Sort(change.Altered)
			change.Calls[drift.Changed] = change.Altered
		}
		c.secrets.Hide(f)
		c.secrets.Hide(t)
		if err := found.Add(change, f, t); err != nil {
			return nil, err
		}
	}
	found.Close()
	tellBytes(c, found, was, is)
	return found, nil
}

// alteredAlone returns the raw answers and media of which git has two versions although their documents are the same.
// Each is identified by its document's file, a space, and its own file name. It marks these documents in before. If git
// does not have one of the states, it returns nothing.
func alteredAlone(ctx context.Context, was, is *state, before, after map[string]page.Seal) (map[string]bool, error) {
	from, errFrom := was.objects(ctx)
	to, errTo := is.objects(ctx)
	if err := errors.Join(errFrom, errTo); err != nil || to == nil {
		return nil, err
	}
	altered := map[string]bool{}
	for file, object := range from {
		provider, name, own, ok := store.ParseBesideFile(file)
		seal, document := before[name], store.DocumentFile(provider, name)
		if !ok || to[file] == object || seal.File != document || after[name].File != document ||
			after[name].Hash != seal.Hash {
			continue
		}
		altered[document+" "+own] = true
		seal.Altered = true
		before[name] = seal
	}
	return altered, nil
}

// tellBytes adds the raw answers that changed although their records did not to found.
func tellBytes(c *call, found *page.Comparison, from, to *state) {
	called := map[string]bool{}
	for _, b := range found.Bytes {
		called[fmt.Sprintf("%s/%d", nameOf(b.Of.File), b.Call)] = true
		called[fmt.Sprintf("%s/%d", nameOf(b.Of.Was), b.Call)] = true
	}
	c.fail(errors.Join(from.copyRaw(c.ctx, called), to.copyRaw(c.ctx, called)))
	for i := range found.Bytes {
		b := &found.Bytes[i]
		was, errFrom := from.rawAnswer(cmp.Or(b.Of.Was, b.Of.File), b.Call)
		is, errTo := to.rawAnswer(b.Of.File, b.Call)
		lines := []string{"cannot be compared: traceforge verify tells what cannot be read"}
		if slices.Contains(b.Of.Altered, b.Call) {
			lines = []string{"altered or missing in one of the two, whose document is the same: traceforge verify tells"}
		} else if errFrom == nil && errTo == nil {
			lines = page.RawChanges(was, is)
		}
		c.secrets.Hide(&lines)
		b.Tell(lines)
	}
}

// document returns the document in a file of a store; nil if the file does not exist.
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

// A state is a store as it is now, or as it was at a revision of git.
type state struct {
	*store.Store
	of string // its revision, or ""
	// a directory that is removed at the end, with the copy or with files to show; "" if there is none
	temp  string
	dir   string          // a directory in the repository from which it was copied
	files []worktree.File // all files of the revision; only documents are copied until a raw answer is needed
	doc   *store.Doc      // the document of the last raw answer
}

// seals returns the seals of a state's documents. It does not fetch files of a revision from Git LFS.
func (s *state) seals() (map[string]page.Seal, error) {
	seals, err := place.Seals(s.Store)
	var wrong *snapshot.Error
	if s.of == "" || !errors.As(err, &wrong) {
		return seals, err
	}
	if wrong.Violations[0].Rule == snapshot.RulePointer {
		return nil, fmt.Errorf("git has documents of %s in Git LFS: check them out with git worktree add --detach DIR %s, "+
			"and name the store in DIR in its place", s.of, gotest.Quote(s.of))
	}
	wrong.File = s.shown(wrong.File)
	return seals, err
}

// shown returns a text that names files of the copy of a revision as git does.
func (s *state) shown(text string) string {
	if s.temp == "" {
		return text
	}
	return strings.ReplaceAll(filepath.ToSlash(text), filepath.ToSlash(s.temp)+"/", s.of+":")
}

// objects returns git's object ids of the files of a state, by name. Files of the working tree that differ from the
// index have none. The result is nil if git does not track the store. It is an error if git would wait for a file.
func (s *state) objects(ctx context.Context) (map[string]string, error) {
	files, touched := s.files, []string(nil)
	if s.temp == "" {
		err := s.CheckTexts()
		if err != nil {
			return nil, err
		}
		if files, err = worktree.Staged(ctx, s.Dir(), []string{"."}); err == nil {
			touched, err = worktree.Unstaged(ctx, s.Dir())
		}
		if err != nil {
			return nil, nil
		}
	}
	objects := map[string]string{}
	for _, f := range files {
		objects[f.Name] = f.Object
	}
	for _, file := range touched {
		delete(objects, file)
	}
	return objects, nil
}

// copied is the number of files from git that are in memory together.
const copied = 64

// copyRaw copies raw answers, named without extension: a document's name, a slash, and the number of a call.
func (s *state) copyRaw(ctx context.Context, called map[string]bool) error {
	files := slices.DeleteFunc(slices.Clone(s.files), func(f worktree.File) bool {
		_, name, _ := strings.Cut(f.Name, "/")
		return !called[strings.TrimSuffix(name, path.Ext(name))]
	})
	for some := range slices.Chunk(files, copied) {
		if err := worktree.Copy(ctx, s.dir, s.temp, some); err != nil {
			return err
		}
	}
	return nil
}

// rawAnswer returns the raw answer of a call of the document in a file.
func (s *state) rawAnswer(file string, n int) (a *provider.Answer, err error) {
	if s.doc == nil || s.doc.Name != nameOf(file) { // a document is read once for all of its calls
		if s.doc, err = place.Load(s.Store, file); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(s.doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return s.Number() == n })
	if i < 0 {
		return nil, store.ErrReplaced
	}
	raw, err := s.doc.Raw(i)
	return &provider.Answer{Body: raw,
		ContentType: strings.Join(s.doc.Document.Snapshots[i].Response.Headers["content-type"], ", ")}, err
}

func (s *state) close() { os.RemoveAll(s.temp) } // does nothing without one

// openState opens the state that name refers to. It is a revision of the repository that contains the store in dir, or
// a directory; "" for that store itself. A revision takes precedence over a directory of the same name, which a branch
// could add.
func openState(ctx context.Context, name, dir string) (*state, error) {
	name = cmp.Or(name, dir)
	isRevision, err := name != dir, error(nil)
	if isRevision && isDir(name) {
		isRevision, err = worktree.IsRevision(ctx, name, dir)
	}
	switch {
	case err != nil:
		return nil, err
	case !isRevision:
		s, _, err := place.OpenStore(name)
		return &state{Store: s}, err
	}
	in, files, err := worktree.At(ctx, name, dir)
	if err != nil {
		return nil, err
	}
	return copyOf(ctx, name, in, files)
}

// copyOf returns a state made from the files of a revision, in the repository that contains dir; revision is "" for the
// index. It copies the documents.
func copyOf(ctx context.Context, revision, dir string, files []worktree.File) (*state, error) {
	temp, err := os.MkdirTemp("", "traceforge-copy-")
	if err != nil {
		return nil, err
	}
	s := &state{of: revision, temp: temp, dir: dir, files: files}
	documents := slices.DeleteFunc(slices.Clone(files),
		func(f worktree.File) bool { return strings.Count(f.Name, "/") > 1 })
	if err = worktree.Copy(ctx, dir, temp, documents); err == nil {
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

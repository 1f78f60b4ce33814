package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	osexec "os/exec"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Kinds of records that wait for a decision.
const (
	pendingKind = "pending" // bought by a failed test
	changedKind = "changed" // recorded, and not yet staged in git
)

// A source is everything of one kind that waits, as a state before and after. Pending records are compared with those
// in the store. The store is compared with the version staged in git, which was committed or accepted.
type source struct {
	kind      string
	from, to  *state
	providers map[string]string // of the documents to decide on, by name
	config    bool              // config.json must be decided on too
	settings  []*page.Setting   // the changes in it
}

func (r *reviewRun) close() {
	for _, src := range r.sources {
		src.from.close()
		src.to.close()
	}
}

// gather finds everything that waits for a decision.
func (r *reviewRun) gather() error {
	if r.only != changedKind {
		if err := r.gatherPending(); err != nil {
			return err
		}
	}
	if r.only != pendingKind {
		err := r.gatherChanged()
		isThere := errors.Is(err, git.ErrForeign) || errors.Is(err, osexec.ErrNotFound)
		needless := errors.Is(err, git.ErrNoRepository) && !isThere && r.only == "" // pending records do not need git
		if err != nil && !needless {
			return err
		}
	}
	for _, src := range r.sources {
		seen, err := r.look(src, slices.Collect(maps.Keys(src.providers)))
		if err != nil {
			return err
		}
		if err := r.addConfig(src); err != nil {
			return err
		}
		found, err := r.compare(src, false)
		if err != nil {
			return err
		}
		r.add(src, found, seen)
	}
	return nil
}

func (r *reviewRun) gatherPending() error {
	src := &source{kind: pendingKind, from: &state{Store: r.store}, to: &state{Store: r.store.Pending()},
		providers: map[string]string{}}
	files, err := src.to.List()
	for _, file := range files {
		src.providers[nameOf(file)] = path.Dir(file)
	}
	r.sources = append(r.sources, src)
	return err
}

func (r *reviewRun) gatherChanged() error {
	if err := r.store.CheckTexts(); err != nil {
		return err
	}
	ctx := worktree.Remember(r.c.ctx) // decisions look again
	files, err := worktree.Unstaged(ctx, r.dir)
	if err != nil {
		return err
	}
	src := &source{kind: changedKind, to: &state{Store: r.store}, providers: map[string]string{}}
	src.config = slices.Contains(files, store.ConfigName)
	documents := map[string]bool{} // two may have the same name if one of them was removed
	for _, file := range files {
		document := store.DocumentOf(file)
		provider, name, legal := store.ParseDocumentFile(document)
		switch isBeside := strings.Count(file, "/") > 1; {
		case file[0] == '.' || file != document && !isBeside:
		case !legal:
			r.broken = errors.Join(r.broken, fmt.Errorf("%s: %s", file, audit.Stray))
		default:
			src.providers[name], documents[document], documents[provider+"/"+name] = provider, true, true
		}
	}
	names := slices.Sorted(maps.Keys(documents))
	if src.config { // its rules apply to all documents
		names = []string{"."}
	}
	staged, err := worktree.Staged(ctx, r.dir, names)
	if err != nil {
		return err
	}
	if src.from, err = copyOf(r.c.ctx, "", r.dir, staged); err != nil {
		return err
	}
	r.sources = append(r.sources, src)
	return nil
}

// load returns both versions of a document; nil for a side that does not have it. For pending records, from contains
// only the records that they replace.
func (src *source) load(name string) (from, to *store.Doc, err error) {
	if from, err = loadIn(src.from.Store, name, src.providers[name]); err != nil && src.kind == pendingKind {
		return nil, nil, err
	} else if err != nil {
		wrong, _, _ := strings.Cut(src.from.shown(err.Error()), "\n")
		return nil, nil, errors.New(
			"as git has it staged, " + strings.TrimPrefix(wrong, ":") + "\nway out: stage all of it, with git add")
	}
	if to, err = loadIn(src.to.Store, name, src.providers[name]); err != nil {
		return nil, nil, err
	}
	if src.kind == pendingKind && from != nil && to != nil {
		from.Document.Snapshots = slices.DeleteFunc(from.Document.Snapshots, func(s snapshot.Snapshot) bool {
			return !slices.ContainsFunc(to.Document.Snapshots, func(p snapshot.Snapshot) bool { return p.ID == s.ID })
		})
		if len(from.Document.Snapshots) == 0 {
			from = nil
		}
	}
	return from, to, nil
}

// documents returns both versions of a test's document, without secrets.
func (r *reviewRun) documents(item *reviewItem) (from, to *snapshot.Document, err error) {
	before, after, err := item.source.load(item.Document)
	if err == nil && item.was != "" {
		before, _, err = item.source.load(item.was)
	}
	_, from = sealed(item.Document, before)
	_, to = sealed(item.Document, after)
	r.c.secrets.Hide(from)
	r.c.secrets.Hide(to)
	return from, to, err
}

func loadIn(s *store.Store, name, provider string) (*store.Doc, error) {
	doc, err := s.Load(name, provider)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return doc, err
}

// compare compares all documents of a source, and notes documents that cannot be read.
func (r *reviewRun) compare(src *source, conversations bool) (*page.Comparison, error) {
	config, err := r.store.Config()
	if err != nil && !src.config { // otherwise it is shown
		return nil, err
	}
	found := &page.Comparison{Config: src.settings, Cost: lint.Prices(config.Prices).Cost, Conversations: conversations}
	found.KeepAnswers(shownAnswers)
	if conversations {
		found.All = r.kindCommand(src.kind) + " --json"
	}
	var half, altered []string
	for _, name := range slices.Sorted(maps.Keys(src.providers)) {
		from, to, err := src.load(name)
		if err != nil {
			r.broken = errors.Join(r.broken, err)
			continue
		}
		before, f := sealed(name, from)
		after, t := sealed(name, to)
		changes := page.Changes(before, after)
		if len(changes) == 0 && src.kind == changedKind && isAltered(to) {
			altered = append(altered, name)
		} else if len(changes) == 0 && src.kind == changedKind {
			half = append(half, name)
		}
		for _, change := range changes {
			r.c.secrets.Hide(f)
			r.c.secrets.Hide(t)
			if err := found.Add(change, f, t); err != nil {
				return nil, err
			}
		}
	}
	if len(altered) > 0 {
		r.broken = errors.Join(r.broken, fmt.Errorf("%s: what is beside the document was altered or removed, and the document is as it was: traceforge verify tells more",
			strings.Join(page.Most(filesShown, altered, "more"), ", ")))
	}
	if len(half) > 0 {
		r.broken = errors.Join(r.broken, fmt.Errorf(
			"%s: git has staged the document, and not what is beside it: git add -A -- %s, if traceforge verify finds nothing",
			strings.Join(page.Most(filesShown, half, "more"), ", "), gotest.Quote(r.dir)))
	}
	from, to := *src.from, *src.to // copies, which do not cache documents that were read before
	found.Close()
	tellBytes(r.c, found, &from, &to)
	return found, nil
}

// isAltered reports whether a file that belongs to a document is not the one that the document refers to.
func isAltered(doc *store.Doc) bool {
	return doc != nil && slices.ContainsFunc(store.Needs(doc.Document), func(n store.Need) bool {
		_, err := doc.Fetch(n)
		return err != nil
	})
}

// shownAnswers is the maximum number of changed answers shown for a cause.
const shownAnswers = 200

func sealed(name string, doc *store.Doc) (map[string]page.Seal, *snapshot.Document) {
	if doc == nil {
		return nil, nil
	}
	return map[string]page.Seal{name: page.SealOf(doc.File(), doc.Document)}, doc.Document
}

// look returns the current state of documents, by name: a text that differs if either side has changed.
func (r *reviewRun) look(src *source, names []string) (map[string]string, error) {
	seen := map[string]string{}
	note := func(s *store.Store, name string) {
		doc, err := loadIn(s, name, src.providers[name])
		switch {
		case err != nil:
			seen[name] += err.Error()
		case doc != nil:
			seen[name] += doc.File() + " " + string(doc.Document.Hash)
		}
		seen[name] += "\n"
	}
	var paths []string // files that the index may have in another version
	for _, name := range names {
		if name == store.ConfigName {
			text, err := r.store.ConfigText()
			seen[name], paths = fmt.Sprintln(string(text), err), append(paths, name)
			continue
		}
		note(src.to.Store, name)
		if src.kind == pendingKind {
			note(src.from.Store, name)
		} else {
			paths = append(paths, pathsOf(src.providers[name], name)...)
		}
	}
	staged, err := worktree.Staged(r.c.ctx, r.dir, paths)
	for _, f := range staged {
		name := nameOf(store.DocumentOf(f.Name))
		if f.Name == store.ConfigName {
			name = store.ConfigName
		}
		seen[name] += f.Name + " " + f.Object + "\n"
	}
	return seen, err
}

// pathsOf returns the file of a document, and the directory with its raw answers and media.
func pathsOf(provider, name string) []string {
	return []string{provider + "/" + name + ".json", provider + "/" + name}
}

// addConfig adds the changes in config.json, which are decided like a test.
func (r *reviewRun) addConfig(src *source) (err error) {
	if !src.config {
		return nil
	}
	if src.settings, err = settings(r.c, src.from.Store, src.to.Store); err != nil || src.settings == nil {
		return err
	}
	seen, err := r.look(src, []string{store.ConfigName})
	item := &reviewItem{Kind: src.kind, Change: drift.Changed, Document: store.ConfigName, Records: []string{},
		source: src, names: []string{store.ConfigName}, files: []string{store.ConfigName}, seen: seen[store.ConfigName]}
	g := &group{kind: src.kind, key: "config", headline: page.SettingsTitle(src.settings), settings: src.settings}
	g.take(item)
	r.groups, r.tests = append(r.groups, g), append(r.tests, item)
	return err
}

// add adds the differences that were found.
func (r *reviewRun) add(src *source, found *page.Comparison, seen map[string]string) {
	byTest := map[page.Test][]*reviewItem{}
	itemOf := map[*page.Difference]*reviewItem{}
	for _, d := range found.Differences {
		item := &reviewItem{Kind: src.kind, Test: d.Test, Change: d.Fate, Document: d.Document, Records: []string{},
			Bytes: d.Raw, source: src, names: []string{d.Document}, calls: d.Calls,
			files: pathsOf(path.Dir(d.File), d.Document)}
		numbers := slices.Concat(d.Calls[drift.Added], d.Calls[drift.Changed], d.Calls[drift.Removed])
		slices.Sort(numbers)
		for _, n := range numbers {
			item.Records = append(item.Records, snapshot.ID(d.Document, n))
		}
		if d.Was != "" {
			item.was = nameOf(d.Was)
			item.names = inorder.With(item.names, item.was)
			item.files = append(item.files, pathsOf(path.Dir(d.Was), item.was)...)
		}
		if provider := src.providers[d.Document]; provider != path.Dir(d.File) { // it moved from another provider
			item.files = append(item.files, pathsOf(provider, d.Document)...)
		}
		item.seen = item.looks(seen)
		r.tests, byTest[d.Test], itemOf[d] = append(r.tests, item), append(byTest[d.Test], item), item
	}
	for _, b := range page.Blocks(found.Causes) {
		g := &group{kind: src.kind, key: b[0].Key, headline: b.Headline(), block: b}
		for _, t := range b.Tests() {
			g.take(byTest[t]...)
		}
		r.groups = append(r.groups, g)
	}
	for _, s := range found.Sections() {
		g := &group{kind: src.kind, key: s.Key}
		s.N = 0
		for _, one := range s.Items {
			if item := itemOf[one.Of]; !one.Same || len(item.groups) == 0 { // otherwise its other groups decide
				g.take(item)
				s.N += one.N
			}
		}
		if g.headline = s.Title(); s.N > 0 {
			r.groups = append(r.groups, g)
		}
	}
}

func (g *group) take(tests ...*reviewItem) {
	for _, item := range tests {
		g.tests, item.groups = append(g.tests, item), append(item.groups, g)
	}
}

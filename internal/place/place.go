// Package place finds modules, and the stores of their tests.
package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ErrNoModule is the error of a command that needs a module and is called outside of one.
var ErrNoModule = errors.New("no go.mod was found from the working directory upwards")

// OpenStore opens the store in the named directory or, if named is empty, the store that tests use. dir is the
// directory as messages name it. If there is no store in it, the error says so, and s is the store that would be there.
func OpenStore(named string) (s *store.Store, dir string, err error) {
	if dir, err = StoreDir(named); err != nil {
		return nil, "", err
	}
	if s, err = store.Open(dir); err != nil {
		return nil, dir, err
	}
	switch info, err := os.Stat(dir); {
	case err != nil && BroughtBack(dir) != "":
		return s, dir, fmt.Errorf("no store: %w: %s", err, BroughtBack(dir))
	case err != nil && named == "":
		return s, dir, fmt.Errorf("no store: %w: the first recording makes it, or traceforge init", err)
	case err != nil:
		return s, dir, fmt.Errorf("no store: %w", err)
	case !info.IsDir():
		return s, dir, fmt.Errorf("no store: %s is not a directory", dir)
	}
	if err = LeftOut(dir); err != nil {
		return s, dir, fmt.Errorf("no store: %w", err)
	}
	return s, dir, checkStore(s, dir)
}

// BroughtBack says how to bring back a missing store that git has; "" if git has none.
func BroughtBack(dir string) string {
	files, _ := git.Run(context.Background(), ".", "ls-files", "-t", "--", dir) // fails outside of a repository
	switch {
	case strings.HasPrefix(files, "S "): // skipped in the work tree
		return "git has it, and a sparse checkout leaves it out: " + sparse + gotest.Quote(dir)
	case files != "":
		return "git has it: git checkout -- " + gotest.Quote(dir) + " brings it back"
	}
	return ""
}

const sparse = "git sparse-checkout add "

// LeftOut returns an error if the checkout leaves the store out, since its tests would be recorded again.
func LeftOut(dir string) error {
	if files, err := os.ReadDir(dir); err == nil && len(files) == 0 {
		// git fails outside of a repository, and lists a submodule with the mode 160000.
		entry, _ := git.Run(context.Background(), ".", "ls-files", "--stage", "--", dir)
		if strings.HasPrefix(entry, "160000 ") {
			return fmt.Errorf("%s is a submodule that is not checked out: git submodule update --init %s", dir,
				gotest.Quote(dir))
		}
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if back := BroughtBack(dir); strings.Contains(back, sparse) {
		return fmt.Errorf("%s is not there: %s", dir, back)
	}
	return nil
}

// checkStore returns an error if a directory is not a store at all, where verify would report every file. A store with
// faults passes. An empty directory passes too, as before the first recording.
func checkStore(s *store.Store, dir string) error {
	files, err := os.ReadDir(dir)
	ofStores := func(f fs.DirEntry) bool { // .pending: no test has passed yet
		return slices.Contains([]string{".gitattributes", "manifest.json", ".pending"}, f.Name())
	}
	if err != nil || len(files) == 0 || slices.ContainsFunc(files, ofStores) {
		return err
	}
	documents, err := s.List()
	if err != nil || len(documents) > 0 {
		return err
	}
	return fmt.Errorf("no store: %s has neither documents nor the .gitattributes of a store: name another directory", dir)
}

// Documents yields the documents of a store in the order of their files, and an error for each one that cannot be read.
func Documents(s *store.Store) iter.Seq2[*store.Doc, error] {
	return func(yield func(*store.Doc, error) bool) {
		files, err := s.List()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, file := range files {
			if doc, err := Load(s, file); !yield(doc, err) {
				return
			}
		}
	}
}

// Readable yields the documents of a store that can be read. It joins the errors of the others in unread, unless that
// is nil.
func Readable(s *store.Store, unread *error) iter.Seq[*store.Doc] {
	return func(yield func(*store.Doc) bool) {
		for doc, err := range Documents(s) {
			switch {
			case err != nil && unread != nil:
				*unread = errors.Join(*unread, err)
			case err == nil && !yield(doc):
				return
			}
		}
	}
}

// Load loads the document in a file of a store.
func Load(s *store.Store, file string) (*store.Doc, error) {
	provider, name := path.Split(file)
	return s.Load(name[:len(name)-len(path.Ext(name))], path.Clean(provider))
}

// StoreDir returns the directory of the named store or, if named is empty, of the store that tests use. It is relative
// to the working directory if possible.
func StoreDir(named string) (string, error) {
	if named != "" {
		return storeIn(named)
	}
	wd, root, err := gotest.Here()
	if err != nil {
		return "", err
	}
	dir := os.Getenv(gotest.StoreEnv)
	// A store closer than the module's takes precedence: tests may name it, and programs in other languages have no
	// go.mod.
	own, err := gotest.Above(wd, gotest.StoreName, fs.FileMode.IsDir)
	switch {
	case err != nil:
		return "", err
	case dir == "" && len(own) > len(root):
		return Rel(filepath.Join(own, gotest.StoreName)), nil
	case root != "":
		return StoreOfModule(root), nil
	case dir != "":
		return dir, nil
	}
	return "", fmt.Errorf("%w: name the store with --dir, or set %s, or run it in a module", ErrNoModule, gotest.StoreEnv)
}

// storeIn returns the store that the user means by a directory: the directory itself, or its module's store.
func storeIn(named string) (string, error) {
	inner := filepath.Join(named, gotest.StoreName)
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		return inner, nil
	}
	if root, err := gotest.Module(named); err != nil || root == named {
		return inner, err
	}
	return named, nil
}

// StoreOfModule returns the store's directory of the module in the directory root.
func StoreOfModule(root string) string {
	dir := cmp.Or(os.Getenv(gotest.StoreEnv), gotest.StoreName)
	if filepath.IsAbs(dir) {
		return dir
	}
	return Rel(filepath.Join(root, dir))
}

// Workspace returns the nearest directory at or above dir that contains a go.work; empty without one.
func Workspace(dir string) string {
	root, _ := gotest.Above(dir, "go.work", fs.FileMode.IsRegular) // used only in hints
	return root
}

// Rel returns the path of a file relative to the working directory, or the file as it is if there is no such path.
func Rel(file string) string {
	wd, _ := os.Getwd() // if it is unknown, nothing is relative to it
	if rel, err := filepath.Rel(wd, file); err == nil {
		return rel
	}
	return file
}

// Seals returns the seals of all documents of a store, by name. The error is about those that cannot be read, whose
// seals contain it too. Two documents with the same name are another error, without seals.
func Seals(s *store.Store) (map[string]page.Seal, error) {
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	seals, broken := map[string]page.Seal{}, error(nil)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".json")
		if other, twice := seals[name]; twice {
			return nil, &snapshot.Error{File: s.Shown(file), Violations: []snapshot.Violation{store.SameTest(other.File)}}
		}
		doc, err := Load(s, file)
		if err != nil {
			broken = errors.Join(broken, err)
			seals[name] = page.Seal{File: file, Altered: true, Unread: err}
			continue
		}
		seals[name] = page.SealOf(file, doc.Document)
	}
	return seals, broken
}

// OfTest returns the documents of tests with the given name in any package, and of their subtests, sorted by package
// and test. If some documents cannot be read, it returns the others and an error.
func OfTest(s *store.Store, test string) ([]*store.Doc, error) {
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	// A document's name contains the package's and then the test's letters and digits; of long test names the first 40.
	beginning, _, _ := strings.Cut(snapshot.DocumentName("", test), "-")
	beginning = "-" + beginning[:min(len(beginning), 40)]
	var docs []*store.Doc
	var broken error
	for _, file := range files {
		if !strings.Contains("-"+path.Base(file), beginning) {
			continue
		}
		doc, err := Load(s, file)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		name := page.TestOf(doc.Document).Name
		if name == test || strings.HasPrefix(name, test+"/") {
			docs = append(docs, doc)
		}
	}
	slices.SortFunc(docs, func(a, b *store.Doc) int { return page.TestOf(a.Document).Compare(page.TestOf(b.Document)) })
	return docs, broken
}

// TestOfBroken returns the test of a document that a store cannot load, as far as it is readable, and the function of
// its first record. document is its path in the store in dir.
func TestOfBroken(dir, document string) (test page.Test, function string) {
	data, _ := store.ReadFile(filepath.Join(dir, filepath.FromSlash(document)))
	source := jsontext.ValueOf(data).Member("snapshots").Head().Member("source")
	test.Package, test.Name = source.Member("package").Word(), source.Member("test").Word()
	return test, source.Member("function").Word()
}

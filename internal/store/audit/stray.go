package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func (v *verifier) stray(file, message string) {
	v.report(file, snapshot.Violation{Rule: snapshot.RuleStray, Message: message})
}

const cutShort = "a commit was cut short: traceforge repair finishes it or undoes it"

// Stray is the message of a finding about a file that no store has.
const Stray = "does not belong in a store: delete it"

// repositoryNames are the names by which git recognizes a repository.
var repositoryNames = []string{"HEAD", "config", "objects", "refs"}

const isOfRepository = "is of what makes a directory a repository to git, which then obeys its config: delete it"

const isSubmodule = "is a submodule or a repository of its own, and a store holds files: " +
	"take it out with git rm -r --cached, delete its .git, and add its files"

// linkName makes a store a submodule, a linked work tree or a repository of its own. No commit can contain a file with
// this name.
const linkName = ".git"

// IsSurplus reports whether a finding is about a file that does not belong in a store and should be deleted.
func IsSurplus(f snapshot.Finding) bool {
	return f.Rule == snapshot.RuleStray && (f.Message == Stray || f.Message == isOfRepository)
}

// strayMessage says what to do about a file that should not be there.
func strayMessage(e fs.DirEntry) string {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return "is a link, and a store holds files: put the file in its place"
	case strings.HasSuffix(e.Name(), store.TempExt):
		return "is left of a commit that was cut short: traceforge repair removes it"
	}
	return Stray
}

// walk lists the documents of the store, and reports files that do not belong in it. The files next to a document are
// checked with that document.
func (v *verifier) walk() {
	entries, err := os.ReadDir(v.store.Path(""))
	v.fail(err)
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == linkName && e.Type()&fs.ModeSymlink == 0:
		case slices.Contains(repositoryNames, name):
			v.stray(name, isOfRepository)
		case e.IsDir() && name == store.PendingName:
		case e.IsDir() && filename.Legal(name):
			v.walkProvider(name)
		default:
			v.listOther(name)
		}
	}
}

// walkProvider is walk for a provider's directory.
func (v *verifier) walkProvider(provider string) {
	entries, err := os.ReadDir(v.store.Path(provider)) // sorted
	v.fail(err)
	var files, dirs []string
	for _, e := range entries {
		_, _, isDocument := store.ParseDocumentFile(provider + "/" + e.Name())
		switch {
		case e.IsDir() && filename.LegalDocument(e.Name()):
			dirs = append(dirs, e.Name())
		case e.Type().IsRegular() && isDocument:
			files = append(files, e.Name())
		default:
			v.stray(provider+"/"+e.Name(), strayMessage(e))
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, store.DocumentExt)
		_, hasDir := slices.BinarySearch(dirs, name)
		v.listed = append(v.listed, listedDocument{provider: provider, name: name, hasDir: hasDir})
	}
	for _, dir := range dirs {
		if _, ok := slices.BinarySearch(files, dir+store.DocumentExt); ok || !v.beside {
			continue
		}
		v.abandoned(provider, dir)
	}
}

// abandoned reports the directory of a document that does not exist. It contains paid answers, so the first way out is
// to restore the document.
func (v *verifier) abandoned(provider, name string) {
	dir, file := provider+"/"+name, store.DocumentFile(provider, name)
	owns := v.owned(dir)
	if len(owns) == 0 {
		return
	}
	for _, own := range owns {
		v.orphans = append(v.orphans, dir+"/"+own)
	}
	if v.inHead == nil {
		v.inHead = map[string]bool{}
		for _, f := range committed(v.store, "HEAD") {
			v.inHead[f.Name] = true
		}
	}
	back := "put it back"
	if v.inHead[file] {
		program, named := v.store.GitAt()
		back = program + " checkout HEAD -- " + gotest.Quote(path.Join(named, file)) + " brings it back"
	}
	v.stray(dir, fmt.Sprintf("its document %s is missing: %s; traceforge prune --write removes the answers", file, back))
}

// owned returns the files in a document's directory, if it exists, and reports files that do not belong in it.
func (v *verifier) owned(dir string) (owns []string) {
	entries, err := os.ReadDir(v.store.Path(dir))
	if !errors.Is(err, fs.ErrNotExist) {
		v.fail(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !store.IsBeside(e.Name()) {
			v.stray(dir+"/"+e.Name(), strayMessage(e))
			continue
		}
		owns = append(owns, e.Name())
	}
	return owns
}

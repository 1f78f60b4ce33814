package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
)

// ErrNoModule is the error of a command that needs a module and is called outside of one.
var ErrNoModule = errors.New("no go.mod was found from the working directory upwards")

// noModule is [ErrNoModule] with a way out, for example at the top of a repository with several modules.
func noModule() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return fmt.Errorf("%w: name the store with --dir, or set %s", ErrNoModule, gotest.StoreEnv)
	}
	return fmt.Errorf("%w: run it in one of %s, or name a store, such as --dir %s, or set %s",
		ErrNoModule, listed(modules), gotest.Quote(path.Join(modules[0], gotest.StoreName)), gotest.StoreEnv)
}

// NoModuleForTests is noModule for commands that run the tests of packages.
func NoModuleForTests() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return fmt.Errorf("%w: run it in a module", ErrNoModule)
	}
	wayOut := "run it in one of " + listed(modules)
	if workspace() != "" && os.Getenv("GOWORK") != "off" {
		wayOut += ", or name packages of the workspace, such as " + gotest.Quote("./"+modules[0]+"/...")
	}
	return fmt.Errorf("%w: %s", ErrNoModule, wayOut)
}

// noStoreYet is the end of an error about a module without a store: it says how to get one.
func noStoreYet() string {
	text := ": the first recording makes it, or traceforge init"
	var others []string
	for _, dir := range modulesBelow() {
		store := path.Join(dir, gotest.StoreName)
		if info, err := os.Stat(store); err == nil && info.IsDir() {
			others = append(others, store)
		}
	}
	if len(others) > 0 {
		text += "; there is one in " + listed(others)
	}
	return text
}

// listed joins files, each quoted for a shell.
func listed(files []string) string {
	const most = 8
	var quoted []string
	for _, file := range files {
		quoted = append(quoted, gotest.Quote(file))
	}
	return strings.Join(page.Most(most, quoted, "more"), ", ")
}

// Workspace returns the nearest directory at or above dir that contains a go.work; empty without one.
func Workspace(dir string) string {
	root, _ := gotest.Above(dir, "go.work", fs.FileMode.IsRegular) // used only in hints
	return root
}

// workspace is Workspace of the working directory.
func workspace() string {
	wd, _ := os.Getwd() // empty if unknown
	return Workspace(wd)
}

// modulesBelow returns the directories of modules a few levels below the working directory or, if there are none, below
// the workspace. They are relative to the working directory, with forward slashes.
func modulesBelow() []string {
	wd, _ := os.Getwd() // there are none below an unknown one
	modules := modulesIn(wd)
	if root := workspace(); len(modules) == 0 && root != "" {
		modules = modulesIn(root)
	}
	for i, dir := range modules {
		modules[i] = filepath.ToSlash(Rel(dir))
	}
	return modules
}

// modulesIn returns the directories of modules below root. It searches only a few levels, because root may be a home
// directory.
func modulesIn(root string) []string {
	const deepest, visible = 4, "[^._]*/" // go ignores all other directories
	var modules []string
	for deep := range deepest {
		files, _ := fs.Glob(os.DirFS(root), visible+strings.Repeat(visible, deep)+"go.mod") // the pattern is well formed
		for _, file := range files {
			if !slices.ContainsFunc(strings.Split(file, "/"), isCopied) {
				modules = append(modules, filepath.Join(root, path.Dir(file)))
			}
		}
	}
	return modules
}

// isCopied reports whether modules in a directory of that name are not the user's own.
func isCopied(name string) bool {
	return slices.Contains([]string{"testdata", "vendor", "node_modules"}, name)
}

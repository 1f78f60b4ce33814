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
)

const noGoMod = "no go.mod was found from the working directory upwards: "

// noModule is the error where a command needs a module and is called in none, as at the top of a
// repository of several.
func noModule() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return errors.New(noGoMod + "name the store with --dir, or set " + DirEnv)
	}
	return fmt.Errorf("%srun it in one of %s, or name a store, such as --dir %s, or set %s",
		noGoMod, listed(modules), gotest.Quote(path.Join(modules[0], StoreName)), DirEnv)
}

// NoModuleForTests is noModule for commands that run the tests of packages.
func NoModuleForTests() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return errors.New(noGoMod + "run it in a module")
	}
	wayOut := "run it in one of " + listed(modules)
	if workspace() != "" && os.Getenv("GOWORK") != "off" {
		wayOut += ", or name packages of the workspace, such as " + gotest.Quote("./"+modules[0]+"/...")
	}
	return errors.New(noGoMod + wayOut)
}

// noStoreYet ends an error of a module without a store: it says how to get one.
func noStoreYet() string {
	text := ": the first recording makes it, or traceforge init"
	var others []string
	for _, dir := range modulesBelow() {
		store := path.Join(dir, StoreName)
		if info, err := os.Stat(store); err == nil && info.IsDir() {
			others = append(others, store)
		}
	}
	if len(others) > 0 {
		text += "; there is one in " + listed(others)
	}
	return text
}

// listed is a list of files, each as a command takes it.
func listed(files []string) string {
	const most = 8
	var quoted []string
	for _, file := range files[:min(len(files), most)] {
		quoted = append(quoted, gotest.Quote(file))
	}
	text := strings.Join(quoted, ", ")
	if len(files) > most {
		text += fmt.Sprintf(" (and %d more)", len(files)-most)
	}
	return text
}

// Workspace returns the nearest directory from dir upwards that holds a go.work; empty means none does, as far as is known.
func Workspace(dir string) string {
	root, _ := gotest.Above(dir, "go.work", fs.FileMode.IsRegular) // it is for hints
	return root
}

// workspace returns the nearest directory from the working directory upwards that holds a go.work;
// empty means none.
func workspace() string {
	wd, _ := os.Getwd() // empty means not known
	return Workspace(wd)
}

// modulesBelow returns the directories of modules not far below the working directory, or else
// below the workspace, relative to the working directory, with forward slashes.
func modulesBelow() []string {
	wd, err := os.Getwd()
	if err != nil {
		return nil
	}
	modules := modulesIn(wd)
	if root := workspace(); len(modules) == 0 && root != "" {
		modules = modulesIn(root)
	}
	for i, dir := range modules {
		if rel, err := filepath.Rel(wd, dir); err == nil {
			modules[i] = filepath.ToSlash(rel)
		}
	}
	return modules
}

// modulesIn returns the directories of modules below root. It looks only a few levels deep, as root may be a home
// directory.
func modulesIn(root string) []string {
	const deepest, visible = 4, "[^._]*/" // go looks for packages in no others
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

// isCopied reports whether the modules in a directory of that name are not the user's own.
func isCopied(name string) bool {
	return slices.Contains([]string{"testdata", "vendor", "node_modules"}, name)
}

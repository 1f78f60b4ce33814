package place

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// noModule is the error where a command needs a module and is called in none, as at the top of a
// repository of several.
func noModule() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return fmt.Errorf("no go.mod was found from the working directory upwards: name the store, or set %s", DirEnv)
	}
	example := filepath.Join(modules[0], storeName)
	return fmt.Errorf("no go.mod was found from the working directory upwards: "+
		"run it in one of %s, or name a store, such as %s, or set %s",
		listed(modules), filepath.ToSlash(example), DirEnv)
}

// NoModuleForTests is noModule for commands that run the tests of packages.
func NoModuleForTests() error {
	modules := modulesBelow()
	if len(modules) == 0 {
		return fmt.Errorf("no go.mod was found from the working directory upwards: run it in a module")
	}
	wayOut := "run it in one of " + listed(modules)
	if workspace() != "" && os.Getenv("GOWORK") != "off" {
		wayOut += ", or name packages of the workspace, such as ./" + filepath.ToSlash(modules[0]) + "/..."
	}
	return fmt.Errorf("no go.mod was found from the working directory upwards: %s", wayOut)
}

// noStoreYet says how to come to a store where the module has none, for an error to end with.
func noStoreYet() string {
	text := ": the first recording makes it, or traceforge init"
	var others []string
	for _, dir := range modulesBelow() {
		store := filepath.Join(dir, storeName)
		if info, err := os.Stat(store); err == nil && info.IsDir() {
			others = append(others, store)
		}
	}
	if len(others) > 0 {
		text += "; there is one in " + listed(others)
	}
	return text
}

// listed is a list of files for people.
func listed(files []string) string {
	const most = 8
	text := filepath.ToSlash(strings.Join(files[:min(len(files), most)], ", "))
	if len(files) > most {
		text += fmt.Sprintf(" (and %d more)", len(files)-most)
	}
	return text
}

// workspace returns the nearest directory from the working directory upwards that holds a go.work;
// empty: none.
func workspace() string {
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return gotest.Workspace(wd)
}

// modulesBelow returns the directories of modules not far below the working directory, or else
// below the workspace, relative to the working directory.
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
			modules[i] = rel
		}
	}
	return modules
}

func modulesIn(root string) []string {
	const deepest = 4 // it may be somebody's home directory
	var modules []string
	walk := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == root {
			return nil // what cannot be read has no module to name
		}
		name := entry.Name()
		others := []string{"testdata", "vendor", "node_modules"}
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains(others, name) {
			return fs.SkipDir
		}
		if isModule(path) {
			modules = append(modules, path)
		}
		if rel, err := filepath.Rel(root, path); err != nil || strings.Count(rel, string(filepath.Separator)) >= deepest-1 {
			return fs.SkipDir
		}
		return nil
	}
	if filepath.WalkDir(root, walk) != nil { // unreachable: walk fails never
		return nil
	}
	return modules
}

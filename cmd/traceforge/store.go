package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/traceforge/traceforge-go/snapshot"
)

// openStore opens the store in the named directory, or where tests find it if there is no name.
// dir is the directory as messages name it.
func openStore(named string) (store *snapshot.Store, dir string, err error) {
	if dir, err = storeDir(named); err != nil {
		return nil, "", err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, dir, fmt.Errorf("no store: %w", err)
	} else if !info.IsDir() {
		return nil, dir, fmt.Errorf("no store: %s is not a directory", dir)
	}
	store, err = snapshot.Open(dir)
	return store, dir, err
}

// storeDir returns the directory of the store, as the tests find it (design R13): relative to
// the working directory where that is possible.
func storeDir(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root := moduleRoot(wd)
	if dir := os.Getenv(dirEnv); root == "" && dir != "" {
		return dir, nil
	}
	if root == "" {
		return "", usagef("no go.mod was found from the working directory upwards: name the store, or set %s", dirEnv)
	}
	return storeOfModule(root)
}

// dirEnv is the variable that names the store; a relative path starts at the module.
const dirEnv = "TRACEFORGE_DIR"

// storeOfModule returns the directory of the store of the module that is in the directory root.
func storeOfModule(root string) (string, error) {
	dir := os.Getenv(dirEnv)
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	if dir == "" {
		dir = ".ai-snapshots"
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.Rel(wd, filepath.Join(root, dir))
}

// moduleRoot returns the nearest directory from dir upwards that holds a go.mod; empty: none.
func moduleRoot(dir string) string {
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

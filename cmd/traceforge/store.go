package main

import (
	"bytes"
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
	switch info, err := os.Stat(dir); {
	case err != nil && named == "":
		return nil, dir, fmt.Errorf("no store: %w%s", err, noStoreYet())
	case err != nil:
		return nil, dir, fmt.Errorf("no store: %w", err)
	case !info.IsDir():
		return nil, dir, fmt.Errorf("no store: %s is not a directory", dir)
	}
	if err := checkStore(dir); err != nil {
		return nil, dir, err
	}
	store, err = snapshot.Open(dir)
	return store, dir, err
}

// checkStore tells a directory that is no store at all, of which each file would be a stray, from
// a store that something is wrong with.
func checkStore(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("no store: %w", err)
	}
	for _, file := range files {
		switch file.Name() {
		case "manifest.json", "commit.pending", "blobs":
			return nil
		case ".gitattributes":
			data, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil || len(data) == 0 || bytes.Contains(data, []byte("manifest.json")) {
				return err
			}
		}
	}
	if len(files) == 0 {
		return nil // as it may be before the first recording
	}
	return fmt.Errorf("no store: %s has neither a manifest.json nor the .gitattributes of a store: name another directory, or restore the manifest with git", dir)
}

// storeDir returns the directory of the store, as the tests find it (design R13): relative to
// the working directory where that is possible.
func storeDir(named string) (string, error) {
	if named != "" {
		return storeIn(named), nil
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
		return "", noModule()
	}
	return storeOfModule(root)
}

// storeName is what the directory of a store is called, beside a go.mod.
const storeName = ".ai-snapshots"

// storeIn returns the store that the user means by a directory: itself, or that of the module.
func storeIn(named string) string {
	inner := filepath.Join(named, storeName)
	if info, err := os.Stat(inner); err == nil && info.IsDir() || isModule(named) {
		return inner
	}
	return named
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
		dir = storeName
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
		if isModule(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

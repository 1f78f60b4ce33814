package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
)

// readRegular reads a file. What is no regular file is reported as a stray, and is as good as
// missing.
func (v *verifier) readRegular(file string) ([]byte, error) {
	info, err := v.root.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return v.root.ReadFile(file)
}

// list returns the records' files, and reports what should not be in the store.
func (v *verifier) list() (records []string, err error) {
	top, err := v.readDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		name := e.Name()
		switch {
		case e.IsDir() && name == blobDir:
			if err := v.listBlobs(); err != nil {
				return nil, err
			}
		case e.IsDir() && checkProvider(name) == "":
			files, err := v.listRecords(name)
			if err != nil {
				return nil, err
			}
			records = append(records, files...)
		case e.Type().IsRegular() && name == attributesName:
		case e.Type().IsRegular() && name == manifestName:
		case name == journalName:
			v.report(name, Violation{"", rulePending, "a commit was cut short: the next one, or traceforge manifest, finishes it or undoes it"})
		default:
			v.stray(name)
		}
	}
	others := slices.ContainsFunc(top, func(e fs.DirEntry) bool { return e.Name() != attributesName })
	return records, v.attributes(others)
}

func (v *verifier) stray(file string) {
	v.report(file, Violation{"", ruleStray, "does not belong in a store"})
}

// attributes checks the attributes. They may be missing, or still be empty, only where there is
// nothing else: then a first commit is about to begin.
func (v *verifier) attributes(needed bool) error {
	data, err := v.readRegular(attributesName)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case len(data) == 0 && !needed:
	case string(data) != attributes:
		v.report(attributesName, Violation{"", ruleAttributes, "is missing, or differs from what traceforge writes: the next commit mends it"})
	}
	return nil
}

// readDir lists a directory of the store. It goes by path, as listing through a Root asks
// the system about each file; names are all that comes of it.
func (v *verifier) readDir(dir string) ([]fs.DirEntry, error) {
	return os.ReadDir(filepath.Join(v.store.dir, filepath.FromSlash(dir)))
}

func (v *verifier) listRecords(provider string) (files []string, err error) {
	if v.dirs[provider], err = v.root.OpenRoot(provider); err != nil {
		return nil, err
	}
	entries, err := v.readDir(provider)
	for _, e := range entries {
		file := provider + "/" + e.Name()
		if _, ok := entryOf(file); !ok || !e.Type().IsRegular() {
			v.stray(file)
			continue
		}
		files = append(files, file)
	}
	return files, err
}

// A blobList names the blobs in a directory.
type blobList struct {
	dir    string
	hashes []canon.Hash
}

// listBlobs lists blobs/sha256/<2 hex>/<64 hex>, and reports what else is there.
func (v *verifier) listBlobs() error {
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		list := blobList{dir: dir}
		entries, err := v.readDir(dir)
		for _, e := range entries {
			file := dir + "/" + e.Name()
			h, ok := blobOf(file)
			switch {
			case e.IsDir() && (depth == 1 && file == blobSubdir || depth == 2):
				if err := walk(file, depth+1); err != nil {
					return err
				}
			case ok && e.Type().IsRegular():
				list.hashes = append(list.hashes, h)
				v.blobs[h] = false
			default:
				v.stray(file)
			}
		}
		v.blobDirs = append(v.blobDirs, list)
		return err
	}
	return walk(blobDir, 1)
}

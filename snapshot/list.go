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

// blobsAtOnce is how many blobs one core checks before it takes the next.
const blobsAtOnce = 64

// listBlobs lists blobs/sha256/<64 hex>, and reports what else is there.
func (v *verifier) listBlobs() error {
	top, err := v.readDir(blobDir)
	if err != nil {
		return err
	}
	for _, e := range top {
		if file := blobDir + "/" + e.Name(); !e.IsDir() || file != blobSubdir {
			v.stray(file)
			continue
		}
		blobs, err := v.readDir(blobSubdir)
		if err != nil {
			return err
		}
		var hashes []canon.Hash
		for _, e := range blobs {
			file := blobSubdir + "/" + e.Name()
			if h, ok := blobOf(file); ok && e.Type().IsRegular() {
				hashes = append(hashes, h)
				v.blobs[h] = false
			} else {
				v.stray(file)
			}
		}
		v.blobLists = slices.Collect(slices.Chunk(hashes, blobsAtOnce))
	}
	return nil
}

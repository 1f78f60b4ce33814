package pack

import (
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// storeDir is the store of a pack within the directory that it was unpacked to.
const storeDir = ".ai-snapshots"

// StoreIn returns the store that [Verify] made from a pack's documents.
func StoreIn(scratch string) (*store.Store, error) {
	return store.Open(filepath.Join(scratch, storeDir))
}

// unpack makes a store from the pack's documents and the refs that they name.
func (v *verifier) unpack() error {
	if err := v.copy(ReceiptsFile, ReceiptsFile); err != nil {
		return err
	}
	for file := range v.report.Run.Files {
		inStore, isDocument := strings.CutPrefix(file, "documents/")
		switch {
		case file == ConfigFile:
			inStore = ConfigFile
		case !isDocument:
			continue
		}
		if err := v.copy(file, storeDir+"/"+inStore); err != nil {
			return err
		}
		if isDocument {
			if err := v.unpackRefs(file, strings.TrimSuffix(inStore, ".json")); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpackRefs copies the refs of a document to their places in its store. The check of the store reports missing files.
func (v *verifier) unpackRefs(file, beside string) error {
	data, err := v.root.ReadFile(file)
	if err != nil {
		return err
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		return nil // left to the check of the store
	}
	for _, n := range store.Needs(doc) {
		ref := refFile(n.Hash)
		if !v.has(ref) {
			continue
		}
		if err := v.copy(ref, storeDir+"/"+beside+"/"+n.Own); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a file of the pack into the scratch directory.
func (v *verifier) copy(file, to string) error {
	data, err := v.root.ReadFile(file)
	if err != nil {
		return err
	}
	return write(v.scratch, to, data)
}

package pack

import (
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// storeDir is the store of a pack in the directory that it was unpacked to.
const storeDir = ".ai-snapshots"

// StoreIn returns the store that [Verify] has made of a pack's documents.
func StoreIn(scratch string) (*store.Store, error) {
	return store.Open(filepath.Join(scratch, storeDir))
}

// unpack makes a store of the pack's documents, and of the refs that they name.
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

// unpackRefs copies what a document names to where its store has it. The check of the store reports files that are
// missing.
func (v *verifier) unpackRefs(file, beside string) error {
	data, err := v.root.ReadFile(file)
	if err != nil {
		return err
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		return nil // which is for the check of the store to say
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

package pack

import (
	"cmp"
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
func (v *verifier) unpack() {
	v.copy(ReceiptsFile, ReceiptsFile)
	for file := range v.report.Run.Files {
		inStore, isDocument := strings.CutPrefix(file, "documents/")
		switch {
		case file == ConfigFile:
			inStore = ConfigFile
		case !isDocument:
			continue
		}
		v.copy(file, storeDir+"/"+inStore)
		if isDocument {
			v.unpackRefs(file, strings.TrimSuffix(inStore, ".json"))
		}
	}
}

// unpackRefs copies the refs of a document to their places in its store. The check of the store reports missing files.
func (v *verifier) unpackRefs(file, beside string) {
	doc, err := snapshot.Parse(v.read(file))
	if err != nil {
		return // left to the check of the store
	}
	for _, n := range store.Needs(doc) {
		if ref := refFile(n.Hash); v.has(ref) {
			v.copy(ref, storeDir+"/"+beside+"/"+n.Own)
		}
	}
}

// copy copies a file of the pack into the scratch directory.
func (v *verifier) copy(file, to string) {
	v.failed = cmp.Or(v.failed, write(v.scratch, to, v.read(file)))
}

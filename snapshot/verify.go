package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/canon"
)

// Verify returns everything that is wrong with the store, sorted: records, blobs, manifest and
// attributes that are not what was committed, and files that do not belong there. It changes
// nothing. It reads every file, on all cores, and holds of each record only its name and
// hashes; a writer waits for it. The error is [fs.ErrNotExist] if there is no store.
func (s *Store) Verify() ([]Finding, error) {
	root, err := s.open()
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	for {
		unlock, err := s.readLock(root)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		found, err := s.verify(root)
		if unlock == nil {
			if _, absent := root.Lstat(attributesName); absent == nil && (err != nil || len(found) > 0) {
				continue // the first commit began meanwhile
			}
		} else {
			unlock()
		}
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		return found, nil
	}
}

func (s *Store) verify(root *os.Root) ([]Finding, error) {
	v := newVerifier(s, root)
	defer v.close()
	err := v.verify()
	slices.SortFunc(v.findings, compareFindings)
	return v.findings, err
}

// A verifier collects the findings of one Verify.
type verifier struct {
	store *Store
	root  *os.Root

	manifest  *Manifest
	listed    bool                // all entries of the manifest are known
	whole     bool                // all records that it lists are there and can be read
	dirs      map[string]*os.Root // of the providers
	blobLists [][]canon.Hash      // all blobs

	mu       sync.Mutex
	findings []Finding
	blobs    map[canon.Hash]bool // those in the store; true: a record refers to it
	span     timeSpan
}

func newVerifier(s *Store, root *os.Root) *verifier {
	return &verifier{store: s, root: root, dirs: map[string]*os.Root{}, blobs: map[canon.Hash]bool{}}
}

func (v *verifier) close() {
	for _, dir := range v.dirs {
		dir.Close()
	}
}

func (v *verifier) report(file string, found ...Violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, violation := range found {
		v.findings = append(v.findings, Finding{file, violation.Pointer, violation.Rule, violation.Message})
	}
}

func (v *verifier) verify() error {
	if err := v.readManifest(); err != nil {
		return err
	}
	records, err := v.list()
	if err != nil {
		return err
	}
	if v.manifest == nil {
		v.manifest = &Manifest{}
		if len(records) > 0 {
			v.report(manifestName, Violation{"", ruleMissing, "is missing, though there are records"})
		}
	}
	v.whole = true
	if err := each(records, v.record); err != nil {
		return err
	}
	v.missingRecords(records)
	v.times()

	for h, used := range v.blobs {
		if !used {
			v.report(blobFile(h), Violation{"", ruleOrphan, "no record refers to it"})
		}
	}
	return each(v.blobLists, v.checkBlobs)
}

// each calls f for each item, on all cores. It returns the first error that f does.
func each[T any](items []T, f func(*scratch, T) error) error {
	var next atomic.Int64
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			scratch := scratches.Get().(*scratch)
			defer scratches.Put(scratch)
			var err error
			for err == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					break
				}
				err = f(scratch, items[i])
			}
			errs <- err
		}()
	}
	var first error
	for range cap(errs) {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

func (v *verifier) readManifest() error {
	data, err := v.readRegular(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	v.manifest, err = parseManifest(data)
	v.listed = err == nil
	var e *Error
	if errors.As(err, &e) {
		v.report(manifestName, e.Violations...)
		v.listed = e.Violations[0].Pointer == "/hash"
	}
	return nil
}

// record checks a record's file.
func (v *verifier) record(scratch *scratch, file string) error {
	e, _ := entryOf(file)
	if err := scratch.read(v.dirs[e.Provider], path.Base(file)); err != nil {
		return err
	}
	got, found := scratch.examine()
	if found != nil {
		v.report(file, found...)
	}
	if got.id == "" {
		v.broken(mentioned(scratch.file))
		return nil
	}
	if got.id != e.ID {
		v.report(file, Violation{"/snapshots/0/id", ruleName, "must be " + e.ID + " as the file's name says"})
	} else if must := mustBeNamed(got.id, got.source); must != "" {
		v.report(file, Violation{"/snapshots/0/id", ruleName, "must be " + must})
	}
	if i, ok := slices.BinarySearchFunc(v.manifest.Snapshots, e, compareEntries); ok {
		if listed := v.manifest.Snapshots[i].Hash; listed != got.seal {
			v.report(file, Violation{"/snapshots/0/hash", ruleManifest, "is " + string(got.seal) + ", but the manifest has " + string(listed)})
		}
	} else if v.listed {
		v.report(file, Violation{"", ruleExtra, "is not in the manifest"})
	}
	v.refer(file, got)
	return nil
}

// broken notes that a record cannot be read, and that it may refer to the given blobs.
func (v *verifier) broken(blobs []canon.Hash) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.whole = false
	for _, h := range blobs {
		if _, ok := v.blobs[h]; ok {
			v.blobs[h] = true
		}
	}
}

// refer notes what a record refers to, and reports blobs that are missing.
func (v *verifier) refer(file string, got examined) {
	reached := got.reachable(v.store.readBlob)
	var missing []Violation
	v.mu.Lock()
	for _, h := range reached {
		if _, ok := v.blobs[h]; ok {
			v.blobs[h] = true
		}
	}
	// Only what the record itself names must be there: what an envelope names is for its
	// reader to ask for.
	for pointer, h := range got.direct() {
		if _, ok := v.blobs[h]; !ok {
			missing = append(missing, Violation{pointer, ruleBlob, "refers to " + string(h) + ", which is missing"})
		}
	}
	v.span.add(got.timestamp)
	v.mu.Unlock()
	v.report(file, missing...)
}

// missingRecords reports the entries whose files are not among records.
func (v *verifier) missingRecords(records []string) {
	slices.Sort(records)
	ids := map[string]string{}
	for _, e := range v.manifest.Snapshots {
		if _, ok := slices.BinarySearch(records, e.File); !ok {
			v.whole = false
			v.report(e.File, Violation{"", ruleMissing, "is in the manifest, but missing"})
		}
		if other := ids[e.ID]; other != "" {
			v.report(e.File, Violation{"/snapshots/0/id", ruleDuplicate, "is the id of " + other + " too"})
		}
		ids[e.ID] = e.File
	}
}

// times checks that the manifest has the times of the oldest and the newest record.
func (v *verifier) times() {
	if !v.listed || !v.whole || v.span.oldest.IsZero() {
		return
	}
	if got, want := formatTime(v.manifest.CreatedAt), formatTime(v.span.oldest); got != want {
		v.report(manifestName, Violation{"/created_at", ruleManifest, "is " + got + ", but the oldest record is of " + want})
	}
	if got, want := formatTime(v.manifest.UpdatedAt), formatTime(v.span.newest); got != want {
		v.report(manifestName, Violation{"/updated_at", ruleManifest, "is " + got + ", but the newest record is of " + want})
	}
}

// checkBlobs checks that blobs have the hashes that are their names.
func (v *verifier) checkBlobs(scratch *scratch, hashes []canon.Hash) error {
	root, err := v.root.OpenRoot(blobSubdir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, h := range hashes {
		got, err := sumFile(root, h.Hex(), scratch.file[:cap(scratch.file)])
		if err != nil {
			return err
		}
		if got == h {
			continue
		}
		data, err := root.ReadFile(h.Hex())
		if err != nil {
			return err
		}
		v.report(blobFile(h), altered(data, got))
	}
	return nil
}

// altered says how a blob differs from what its name says. A text may have lines that look like
// markers of its own, so they count where all are there.
func altered(data []byte, got canon.Hash) Violation {
	line := conflictLine(data)
	for _, marker := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
		if !bytes.Contains(data, []byte(marker)) {
			line = 0
		}
	}
	if line > 0 {
		return Violation{"", ruleConflict, fmt.Sprintf("line %d is a conflict marker of a merge", line)}
	}
	return Violation{"", ruleBlob, "has the hash " + string(got) + ", which is not its name"}
}

// sumFile returns the hash of a file. It may be large, so it is read piece by piece.
func sumFile(root *os.Root, name string, piece []byte) (canon.Hash, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	for {
		n, err := f.Read(piece)
		sum.Write(piece[:n])
		if err == io.EOF {
			return hashOf(sum), nil
		}
		if err != nil {
			return "", err
		}
	}
}

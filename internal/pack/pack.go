// Package pack is the run export pack: a directory with all that a test said to models and
// what they answered, for others to verify without the repository that it comes from.
//
// A pack has two files and nothing else: model_io.json, a session (MIO), and run.json,
// which says what run the session is of and names its hash (MIO §7). Both hold
// only what is in the snapshots, so the same snapshots make the same bytes.
//
// The rules of a pack, PK1 to PK12, are named as in the pack specification that MIO refers to, as
// far as they speak of these two files.
package pack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The files of a pack.
const (
	RunFile     = "run.json"
	SessionFile = "model_io.json"
)

// RunVersion is the version of run.json that this package writes and reads.
const RunVersion = "1.0.0"

// A Run says what a session is of.
type Run struct {
	ModelIOHash canon.Hash  `json:"model_io_hash"` // of the session
	Package     string      `json:"package"`       // import path of the test's package
	Version     string      `json:"run_schema_version"`
	Snapshots   []Reference `json:"snapshots"` // one for each interaction, in their order
	Test        string      `json:"test"`
}

// A Reference names the snapshot that an interaction comes from.
type Reference struct {
	Hash canon.Hash `json:"hash"` // its seal
	ID   string     `json:"id"`
}

// A Pack is what a pack's directory holds.
type Pack struct {
	Run     Run
	Session *session.Session
}

// New returns the pack of a run, of the given snapshots: those of a test, or of a test and its
// subtests. An error says which snapshot cannot be in a pack, or what rule of MIO the session breaks.
func New(pkg, test string, snaps []*snapshot.Snapshot) (*Pack, error) {
	if len(snaps) == 0 {
		return nil, fmt.Errorf("pack of %s: no snapshots", test)
	}
	ordered := inTestOrder(snaps)
	calls, err := FromSnapshots("traceforge", models(ordered), ordered)
	if err != nil {
		return nil, fmt.Errorf("pack of %s: %w", test, err)
	}
	data, err := calls.Encode()
	if err != nil {
		return nil, fmt.Errorf("pack of %s: %w", test, err) // unreachable: a snapshot's strings are UTF-8
	}
	report, err := session.VerifyReader(bytes.NewReader(data), session.VerifyOptions{})
	if err != nil {
		return nil, fmt.Errorf("pack of %s: %w", test, err) // unreachable: Encode writes JSON
	}
	if !report.OK() {
		broken := make([]error, len(report.Violations))
		for i, v := range report.Violations {
			broken[i] = errors.New(v.String())
		}
		return nil, fmt.Errorf("pack of %s: the session is not valid: %w", test, errors.Join(broken...))
	}
	run := Run{ModelIOHash: report.Hash, Package: pkg, Version: RunVersion, Test: test}
	for _, snap := range ordered {
		run.Snapshots = append(run.Snapshots, Reference{snap.Hash, snap.ID})
	}
	return &Pack{run, calls}, nil
}

// FromSnapshots returns the session of mode record that snaps make, each an interaction: its
// prompt is the canonical request core, and its response is the canonical response core. Interactions
// are in the order of tests and, within a test, of calls.
func FromSnapshots(adapterID, modelID string, snaps []*snapshot.Snapshot) (*session.Session, error) {
	s := session.New(adapterID, modelID)
	for _, snap := range inTestOrder(snaps) {
		if err := appendSnapshot(s, snap); err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", snap.ID, err)
		}
	}
	addTotals(s, snaps)
	return s, nil
}

// inTestOrder sorts snapshots by test; those of a test stay in the order of their calls.
func inTestOrder(snaps []*snapshot.Snapshot) []*snapshot.Snapshot {
	ordered := slices.Clone(snaps)
	slices.SortStableFunc(ordered, func(a, b *snapshot.Snapshot) int {
		return cmp.Or(cmp.Compare(a.Source.Package, b.Source.Package), cmp.Compare(a.Source.Test, b.Source.Test))
	})
	return ordered
}

func appendSnapshot(s *session.Session, snap *snapshot.Snapshot) error {
	prompt, err := snapshot.RequestCore(&snap.Request, snap.Source.Ignored)
	if err != nil {
		return err
	}
	response, err := snapshot.ResponseCore(&snap.Response)
	if err != nil {
		return err
	}
	s.Append(string(prompt), string(response))
	in := &s.Interactions[len(s.Interactions)-1]
	latency := snap.Response.LatencyMS
	in.LatencyMS = &latency
	if usage := snap.Response.Usage; usage != nil {
		in.TokensInput, in.TokensOutput = usage.InputTokens, usage.OutputTokens
	}
	return nil
}

// addTotals adds what sums up the snapshots and is outside the core.
func addTotals(s *session.Session, snaps []*snapshot.Snapshot) {
	if len(snaps) == 0 {
		return
	}
	byTime := func(a, b *snapshot.Snapshot) int { return a.Timestamp.Compare(b.Timestamp) }
	const format = "2006-01-02T15:04:05.000Z"
	s.CreatedAt = slices.MinFunc(snaps, byTime).Timestamp.UTC().Format(format)
	s.EndedAt = slices.MaxFunc(snaps, byTime).Timestamp.UTC().Format(format)
	s.Stats = &session.Stats{TotalInteractions: int64(len(s.Interactions))}
	for _, in := range s.Interactions {
		s.Stats.TotalTokensInput += orZero(in.TokensInput)
		s.Stats.TotalTokensOutput += orZero(in.TokensOutput)
		s.Stats.TotalLatencyMS += orZero(in.LatencyMS)
	}
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// models names the models that the snapshots are of, each once: "openai.chat/gpt-4o".
func models(snaps []*snapshot.Snapshot) string {
	var names []string
	for _, snap := range snaps {
		name := snap.Request.API + "/" + snap.Request.Model
		names = append(names, strings.TrimPrefix(name, "/")) // another writer may name no API
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// Write makes dir a directory that holds p and nothing else. It may exist if it is empty or
// holds a pack, which is replaced, but for files that would not change.
func (p *Pack) Write(dir string) error {
	if err := vacant(dir); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	session, err := p.Session.Encode()
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	run, err := canon.Marshal(p.Run)
	if err != nil {
		return fmt.Errorf("write pack: %w", err) // unreachable: strings have a canonical form
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if err := replace(dir, SessionFile, session); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if err := replace(dir, RunFile, append(run, '\n')); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return nil
}

// vacant returns an error if dir holds what is of no pack.
func vacant(dir string) error {
	info, err := os.Lstat(filepath.Clean(dir)) // a link also where its name ends in a slash
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !isPackFile(strings.TrimSuffix(entry.Name(), tempSuffix)) || !entry.Type().IsRegular() {
			return fmt.Errorf("%s holds %s, which is of no pack: choose another directory", dir, entry.Name())
		}
	}
	return nil
}

func isPackFile(name string) bool { return name == RunFile || name == SessionFile }

// tempSuffix marks a file that is being written. Only a writer that was killed leaves one.
const tempSuffix = ".tmp"

// replace writes a file at once, so that no reader sees a part of it, unless it is there already.
func replace(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	temp := path + tempSuffix
	defer os.Remove(temp)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	// It may be another name of a file elsewhere.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// checkManifest holds the manifest, if there is one, against the documents.
func (v *verifier) checkManifest() error {
	data, err := v.store.read(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	violation, ok := unreadable(err)
	if err != nil && !ok {
		return err
	}
	if err == nil {
		violation = v.manifestViolation(data)
	}
	found := findingOf(manifestName, violation)
	switch {
	case violation.Rule == "":
	case violation.Rule == snapshot.RuleBehind && (violation.Pointer != "" || !v.store.repository().tracked(manifestName)):
		if v.store.repository().ignores(manifestName) {
			return nil // nobody else reads it
		}
		v.result.Notes = append(v.result.Notes, found)
	default:
		v.result.Findings = append(v.result.Findings, found)
	}
	return nil
}

// wrongManifest tells what is wrong with the manifest.
func wrongManifest(rule, pointer, format string, args ...any) snapshot.Violation {
	message := fmt.Sprintf(format, args...) + ": traceforge repair --manifest writes it"
	return snapshot.Violation{Pointer: pointer, Rule: rule, Message: message}
}

// manifestViolation returns what is wrong with a manifest; of several things one, since one command
// remedies all.
func (v *verifier) manifestViolation(data []byte) snapshot.Violation {
	m, err := parseManifest(data)
	var newer *snapshot.Error
	switch line, kinds := conflict.Line(data); {
	case err != nil && kinds == 3:
		return wrongManifest(snapshot.RuleConflict, "", "line %d is a conflict marker of a merge", line)
	case errors.As(err, &newer):
		return newer.Violations[0]
	case err != nil:
		return wrongManifest(snapshot.RuleManifest, "", "%v", err)
	case !bytes.Equal(data, m.encode()) && !bytes.Equal(data, m.indented()):
		return wrongManifest(snapshot.RuleManifest, "", "is not laid out as traceforge or SF write it")
	case len(v.broken) > 0:
		return snapshot.Violation{} // what it should say is not known
	}
	if violation := v.behind(m); violation.Rule != "" {
		return violation
	}
	return cmp.Or(
		wrongTime("/created_at", "oldest", m.CreatedAt, v.manifest.CreatedAt, m.CreatedAt.Compare(v.manifest.CreatedAt)),
		wrongTime("/updated_at", "newest", m.UpdatedAt, v.manifest.UpdatedAt, v.manifest.UpdatedAt.Compare(m.UpdatedAt)),
	)
}

// wrongTime tells of a time that is not that of the record which it should be of. Where narrower is
// positive, a record is out of the manifest's times; where it is negative, the manifest lags.
func wrongTime(pointer, which string, is, of time.Time, narrower int) snapshot.Violation {
	rule := snapshot.RuleManifest
	switch {
	case narrower == 0:
		return snapshot.Violation{}
	case narrower < 0:
		rule = snapshot.RuleBehind
	}
	return wrongManifest(rule, pointer, "is %s, but the %s record is of %s", formatTime(is), which, formatTime(of))
}

// behind tells of a manifest that lists other records than there are; the rule is empty if it lists those. A record's
// hash seals its id, so that one with another id, or another file, was altered.
func (v *verifier) behind(m *manifest) (wrong snapshot.Violation) {
	places := make(map[canon.Hash]int, len(m.Entries)) // of what it lists that is still to be found
	for i, e := range m.Entries {
		places[e.Hash] = i
	}
	next, found, added, first := 0, 0, 0, len(m.Entries)
	for is := range v.entries() {
		inOrder := next < len(m.Entries) && m.Entries[next] == is
		if inOrder {
			next++
		}
		i, ok := places[is.Hash]
		if !ok {
			added++
			continue
		}
		delete(places, is.Hash)
		found++
		e := m.Entries[i]
		if i > first || e == is {
			continue
		}
		pointer := jsontext.PointerTo("snapshots", strconv.Itoa(i))
		if e.ID != is.ID {
			wrong = wrongManifest(snapshot.RuleManifest, pointer, "has the id %q, but the record with that hash is %s", e.ID, is.ID)
			first = i
		} else if e.File != is.File {
			wrong = wrongManifest(snapshot.RuleManifest, pointer+"/file", "is %q, but the record is in %s", e.File, is.File)
			first = i
		} else if e.Provider != is.Provider {
			wrong = wrongManifest(snapshot.RuleManifest, pointer+"/provider", "is %q, but the record's is %q", e.Provider, is.Provider)
			first = i
		}
	}
	if wrong.Rule != "" || added == 0 && found == len(m.Entries) && next == found {
		return wrong
	}
	return wrongManifest(snapshot.RuleBehind, "",
		"records that it lists and that are not there any more or have changed: %d, new ones: %d", len(m.Entries)-found, added)
}

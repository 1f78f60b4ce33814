package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// checkManifest holds the manifest, if there is one, against the documents.
func (v *verifier) checkManifest() error {
	data, err := v.read(manifestName)
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
	case violation.Rule == snapshot.RuleBehind && (violation.Pointer != "" || !v.store.tracked(manifestName)):
		v.result.Notes = append(v.result.Notes, found)
	default:
		v.result.Findings = append(v.result.Findings, found)
	}
	return nil
}

const writeIt = ": traceforge manifest writes it"

func (v *verifier) manifestViolation(data []byte) snapshot.Violation {
	wrong := func(rule, pointer, format string, args ...any) snapshot.Violation {
		return snapshot.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...) + writeIt}
	}
	m, err := parseManifest(data)
	switch line := conflictLine(data); {
	case err != nil && line > 0:
		return wrong(snapshot.RuleConflict, "", "line %d is a conflict marker of a merge", line)
	case err != nil:
		return wrong(snapshot.RuleManifest, "", "%v", err)
	case !bytes.Equal(data, m.encode()) && !bytes.Equal(data, m.encodeAs(indented)):
		return wrong(snapshot.RuleManifest, "", "is not laid out as traceforge or SF write it")
	case len(v.broken) > 0:
		return snapshot.Violation{} // what it should say is not known
	case !slices.Equal(m.Entries, v.manifest.Entries):
		return v.behind(m, wrong)
	case m.CreatedAt.After(v.manifest.CreatedAt):
		return wrong(snapshot.RuleManifest, "/created_at", "is %s, but the oldest record is of %s", formatTime(m.CreatedAt), formatTime(v.manifest.CreatedAt))
	case m.UpdatedAt.Before(v.manifest.UpdatedAt):
		return wrong(snapshot.RuleManifest, "/updated_at", "is %s, but the newest record is of %s", formatTime(m.UpdatedAt), formatTime(v.manifest.UpdatedAt))
	case m.CreatedAt.Before(v.manifest.CreatedAt):
		return wrong(snapshot.RuleBehind, "/created_at", "is %s, and the oldest record is of %s", formatTime(m.CreatedAt), formatTime(v.manifest.CreatedAt))
	case m.UpdatedAt.After(v.manifest.UpdatedAt):
		return wrong(snapshot.RuleBehind, "/updated_at", "is %s, and the newest record is of %s", formatTime(m.UpdatedAt), formatTime(v.manifest.UpdatedAt))
	}
	return snapshot.Violation{}
}

// behind tells of a manifest that lists other records than there are. A record's hash seals its id, so
// that one with another id, or another file, was altered.
func (v *verifier) behind(m *manifest, wrong func(rule, pointer, format string, args ...any) snapshot.Violation) snapshot.Violation {
	sealed := make(map[canon.Hash]entry, len(v.manifest.Entries))
	for _, e := range v.manifest.Entries {
		sealed[e.Hash] = e
	}
	changed := 0
	for i, e := range m.Entries {
		is, ok := sealed[e.Hash]
		if !ok {
			changed++
			continue
		}
		delete(sealed, e.Hash)
		if is.ID != e.ID {
			return wrong(snapshot.RuleManifest, fmt.Sprintf("/snapshots/%d", i), "has the id %q, but the record with that hash is %s", e.ID, is.ID)
		}
		if path.Base(is.File) != path.Base(e.File) || documentFile(e.Provider, strings.TrimSuffix(path.Base(e.File), documentExt)) != e.File {
			return wrong(snapshot.RuleManifest, fmt.Sprintf("/snapshots/%d/file", i), "is %q, but the record is in %s", e.File, is.File)
		}
	}
	return wrong(snapshot.RuleBehind, "", "is behind: %d records that it lists are not there any more or have changed, %d are new", changed, len(sealed))
}

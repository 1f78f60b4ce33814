package store

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A MaxAge says how many days an answer may be old before verify warns, and before it fails. 0 is never.
type MaxAge struct {
	Warn int `json:"warn_days,omitzero" is:"days"` // from which verify warns
	Fail int `json:"fail_days,omitzero" is:"days"` // from which it fails
}

// IsSet reports whether answers get too old at all.
func (m MaxAge) IsSet() bool { return m.Warn > 0 || m.Fail > 0 }

func readMaxAge(r *fields.Reader, v jsontext.Value, m *MaxAge) {
	r.ByKind(v, m)
	if m.Fail > 0 && m.Warn > m.Fail {
		r.Report(snapshot.RuleValue, "must warn before it fails: warn_days is %d, fail_days %d", m.Warn, m.Fail)
	}
	if v.IsObject() && v.Len() == 0 {
		r.Report(snapshot.RuleMissing, "must have warn_days, fail_days or both")
	}
}

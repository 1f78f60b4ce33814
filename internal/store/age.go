package store

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A MaxAge says how many days old an answer may be before verify warns, and before it fails. 0 means never.
type MaxAge struct {
	Warn int `json:"warn_days,omitzero" is:"days"` // age at which verify warns
	Fail int `json:"fail_days,omitzero" is:"days"` // age at which verify fails
}

// IsSet reports whether there is any limit.
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

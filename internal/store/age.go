package store

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A MaxAge says how many days an answer may be old before verify warns, and before it fails. 0 is never.
type MaxAge struct{ Warn, Fail int }

// IsSet reports whether answers get too old at all.
func (m MaxAge) IsSet() bool { return m.Warn > 0 || m.Fail > 0 }

func (r *configReader) maxAge(pointer string, v jsontext.Value) (m MaxAge) {
	days := number[int](r, "days")
	r.object(pointer, v, map[string]reading{"warn_days": into(&m.Warn, days), "fail_days": into(&m.Fail, days)})
	if m.Fail > 0 && m.Warn > m.Fail {
		r.fail(pointer, snapshot.RuleValue, "must warn before it fails: warn_days is %d, fail_days %d", m.Warn, m.Fail)
	}
	if v.IsObject() && v.Len() == 0 {
		r.fail(pointer, snapshot.RuleMissing, "must have warn_days, fail_days or both")
	}
	return m
}

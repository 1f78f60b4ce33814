package session

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
)

// ErrLimit means that a session would exceed a limit of MIO: see [LimitError].
var ErrLimit = errors.New("a session cannot hold this")

// A LimitError names the limit of MIO that a session exceeds. It is [ErrLimit].
type LimitError struct{ Violation modelio.Violation }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %s: %s", Path(e.Violation), e.Violation.Rule, e.Violation.Message)
}

// Unwrap returns [ErrLimit].
func (e *LimitError) Unwrap() error { return ErrLimit }

// CheckLimits returns a [*LimitError] for the first limit of MIO that s exceeds: [MaxInteractions] (MI4),
// [MaxResponseBytes] for one response, or [MaxTotalBytes] for all responses (MI11). [Verify] checks the other rules.
func (s *Session) CheckLimits() error {
	if err := checkCount(len(s.Interactions)); err != nil {
		return err
	}
	total := int64(0)
	for i := range s.Interactions {
		size := int64(len(toUTF8(s.Interactions[i].ResponseContent)))
		total += size
		if err := cmp.Or(checkSize(place(i), size), checkTotal(total)); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit returns a [*LimitError] if n exceeds a limit.
func checkLimit(rule, pointer, format string, n, limit int64) error {
	if n <= limit {
		return nil
	}
	return &LimitError{modelio.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, n, limit)}}
}

func checkCount(n int) error {
	return checkLimit("MI4", "/interactions", "interactions length (%d) exceeds limit (%d)", int64(n), MaxInteractions)
}

func checkSize(at place, bytes int64) error {
	const format = "response_content size (%d bytes) exceeds limit (%d)"
	return checkLimit("MI11", at.pointer("response_content"), format, bytes, MaxResponseBytes)
}

func checkTotal(bytes int64) error {
	return checkLimit("MI11", "/interactions", "total response bytes (%d) exceeds limit (%d)", bytes, MaxTotalBytes)
}

// timeFormat is the format of times in a session: ISO 8601 in UTC, with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// A period is the time from the start to the end of one or more calls.
type period struct{ began, ended time.Time }

// add extends a period to include another.
func (p *period) add(other period) {
	if p.began.IsZero() || other.began.Before(p.began) {
		p.began = other.began
	}
	if other.ended.After(p.ended) {
		p.ended = other.ended
	}
}

// Summarize sets the start of the first call of s, the end of its last answer, and the totals of its interactions (MIO
// §3.2, §3.4). They are not part of its hash.
func (s *Session) Summarize(began, ended time.Time) {
	s.CreatedAt, s.EndedAt = began.UTC().Format(timeFormat), ended.UTC().Format(timeFormat)
	s.Stats = &Stats{TotalInteractions: int64(len(s.Interactions))}
	for _, in := range s.Interactions {
		addTo(&s.Stats.TotalTokensInput, in.TokensInput)
		addTo(&s.Stats.TotalTokensOutput, in.TokensOutput)
		addTo(&s.Stats.TotalLatencyMS, in.LatencyMS)
	}
}

func addTo(total, n *int64) {
	if n != nil {
		*total += *n
	}
}

package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// ErrLimit says that a session would be larger than MIO allows.
var ErrLimit = errors.New("a session cannot hold this")

// A LimitError names the limit of MIO that a session exceeds. It is [ErrLimit].
type LimitError struct{ Violation modelio.Violation }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %s: %s", Path(e.Violation), e.Violation.Rule, e.Violation.Message)
}

// Unwrap returns [ErrLimit].
func (e *LimitError) Unwrap() error { return ErrLimit }

// CheckLimits returns a [*LimitError] for the first limit of MIO that s exceeds: [MaxInteractions] (MI4),
// [MaxResponseBytes] of one response, or [MaxTotalBytes] of all (MI11). Other rules are for [Verify].
func (s *Session) CheckLimits() error {
	if err := checkCount(len(s.Interactions)); err != nil {
		return err
	}
	total := 0
	for i := range s.Interactions {
		size := len(toUTF8(s.Interactions[i].ResponseContent))
		total += size
		if err := checkSize(i, size, total); err != nil {
			return err
		}
	}
	return nil
}

func checkCount(n int) error {
	if n <= MaxInteractions {
		return nil
	}
	return limitError("MI4", jsontext.PointerTo("interactions"), "interactions length (%d) exceeds limit (%d)", n, MaxInteractions)
}

// checkSize judges the i-th response by its bytes, and by those of all up to it.
func checkSize(i, size, total int) error {
	switch {
	case size > MaxResponseBytes:
		return limitError("MI11", jsontext.PointerTo("interactions", fmt.Sprint(i), "response_content"),
			"response_content size (%d bytes) exceeds limit (%d)", size, MaxResponseBytes)
	case total > MaxTotalBytes:
		return limitError("MI11", jsontext.PointerTo("interactions"), "total response bytes (%d) exceeds limit (%d)", total, MaxTotalBytes)
	}
	return nil
}

func limitError(rule, pointer, format string, args ...any) error {
	return &LimitError{modelio.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)}}
}

// timeFormat is that of the times of a session: ISO 8601 in UTC, to the millisecond.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Summarize sets when the first call of s began, when its last answer ended, and the totals of its interactions (MIO
// §3.2, §3.4). None of them is in its hash.
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

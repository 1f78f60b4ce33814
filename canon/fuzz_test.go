package canon

import (
	"errors"
	"strconv"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// seeds returns the texts of all tables.
func seeds() (all []string) {
	for _, tt := range texts {
		all = append(all, tt.text, tt.want)
	}
	for _, tt := range badTexts {
		all = append(all, tt.text)
	}
	for _, tt := range keptTexts {
		all = append(all, tt.text, tt.want)
	}
	for _, tt := range appendixB {
		all = append(all, tt.want)
	}
	return all
}

func seed(f *mutation.F) {
	for _, text := range seeds() {
		f.Add([]byte(text))
	}
}

// TestSeeds keeps the seeds for integration/oracle, which compares with RFC 8785's reference implementation: a
// dependency that users' modules do without.
func TestSeeds(t *testing.T) {
	var quoted []byte
	for _, text := range seeds() {
		quoted = append(strconv.AppendQuote(quoted, text), '\n')
	}
	goldie.New(t).Assert(t, "seeds", quoted)
}

// FuzzJSON holds what is so without an oracle; integration/oracle and FuzzJSONText have one.

func FuzzJSON(t *testing.F) {
	f := mutation.New(t)
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		before := string(src)
		got, err := JSON(src)
		require.Equal(t, before, string(src), "the argument is not changed")

		if err != nil {
			require.False(t, Canonical(src))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.LessOrEqual(t, e.Offset, int64(len(src)))
			return
		}
		require.True(t, Canonical(got))
		require.Equal(t, before == string(got), Canonical(src))
		again, err := JSON(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
		// The long way must agree with the short cut that JSON takes for canonical texts.
		again, err = canonicalize(got, rejectNumbers)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
	})
}

func FuzzKeepNumbers(t *testing.F) {
	f := mutation.New(t)
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		// What RestoreNumbers takes is what KeepNumbers writes, and nothing else.
		if back, err := RestoreNumbers(src); err == nil {
			want, err := JSON(src)
			require.NoError(t, err)
			kept, err := KeepNumbers(back)
			require.NoError(t, err)
			require.Equal(t, string(want), string(kept))
		}

		_, err := JSON(src)
		if _, keepErr := KeepNumbers(src); keepErr != nil {
			require.Error(t, err, "KeepNumbers takes all that JSON takes")
			require.NotErrorIs(t, keepErr, ErrNumber)
			return
		}
		require.True(t, err == nil || errors.Is(err, ErrNumber), "KeepNumbers takes what JSON rejects: %v", err)
		checkKept(t, src)
	})
}

package canon

import (
	"errors"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
)

func seed(f *testing.F) {
	for _, tt := range texts {
		f.Add([]byte(tt.text))
		f.Add([]byte(tt.want))
	}
	for _, tt := range badTexts {
		f.Add([]byte(tt.text))
	}
	for _, tt := range keptTexts {
		f.Add([]byte(tt.text))
		f.Add([]byte(tt.want))
	}
	for _, tt := range appendixB {
		f.Add([]byte(tt.want))
	}
}

func FuzzJSON(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		before := string(src)
		got, err := JSON(src)
		require.Equal(t, before, string(src), "the argument is not changed")

		oracle, oracleErr := jcs.Transform(src)
		if err != nil {
			require.False(t, Canonical(src))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.LessOrEqual(t, e.Offset, int64(len(src)))
			require.True(t, oracleErr != nil || errors.Is(err, ErrNumber) || errors.Is(err, ErrDepth),
				"jcs takes what we reject: %v", err)
			return
		}
		require.NoError(t, oracleErr)
		require.Equal(t, string(oracle), string(got))

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

func FuzzKeepNumbers(f *testing.F) {
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

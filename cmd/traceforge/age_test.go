package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestAges(t *testing.T) {
	now := time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)
	ago := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	held := func(most store.MaxAge) (found, notes []snapshot.Finding) {
		a := ages{most: most, now: now}
		a.note("openai/new.json", &snapshot.Source{Package: "p", Test: "TestNew"}, []time.Time{ago(60)})
		a.note("openai/old.json", &snapshot.Source{Package: "p", Test: "TestOld/a b"}, []time.Time{ago(91), ago(90), ago(1)})
		a.note("openai/oldest.json", &snapshot.Source{Package: "p q", Test: "Scenario"}, []time.Time{ago(200), ago(100)})
		a.note("openai/warned.json", &snapshot.Source{Package: "p", Test: "TestWarned"}, []time.Time{ago(61)})
		return a.held()
	}
	found, notes := held(store.MaxAge{Warn: 60, Fail: 90})
	require.Len(t, found, 2)
	require.Equal(t, "openai/oldest.json: age: 2 answers are older than 90 days, the oldest of 2025-12-12: TRACEFORGE_UPDATE=all go test 'p q'", found[0].String())
	require.Equal(t, "openai/old.json: age: 1 answer is older than 90 days, the oldest of 2026-03-31: "+
		"TRACEFORGE_UPDATE=all go test p -run '^TestOld$'", found[1].String())
	require.Len(t, notes, 1, "an answer of exactly that age is not older")
	require.Contains(t, notes[0].String(), "openai/warned.json: age: 1 answer is older than 60 days")

	found, notes = held(store.MaxAge{})
	require.Empty(t, found)
	require.Empty(t, notes)
}

func TestAgesAreBounded(t *testing.T) {
	a := ages{most: store.MaxAge{Fail: 1}, now: time.Now()}
	for i := range 25 {
		a.note(fmt.Sprintf("openai/%02d.json", i), &snapshot.Source{}, []time.Time{time.Unix(int64(i), 0)})
	}
	found, _ := a.held()
	require.Len(t, found, agedShown+1)
	require.Equal(t, "openai/00.json", found[0].File, "the oldest first")
	require.Equal(t, "age: 5 more documents have answers that are as old: TRACEFORGE_UPDATE=all go test ./...", found[agedShown].String())
}

// TestVerifyOfAge warns, then fails.
func TestVerifyOfAge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain")) // in January 2026
	for _, c := range []struct {
		name, config string
		code         int
		says         string
	}{
		{"young", `{"max_age":{"fail_days":100000}}`, exitClean, ""},
		{"ever", `{"max_age":{"fail_days":9223372036854775807}}`, exitClean, ""},
		{"warn", `{"max_age":{"warn_days":1,"fail_days":100000}}`, exitClean, "answer is older than 1 day,"},
		{"fail", `{"max_age":{"warn_days":1,"fail_days":2}}`, exitFindings, "answer is older than 2 days"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o666))
			var stdout, stderr bytes.Buffer
			require.Equal(t, c.code, traceforge(t.Context(), []string{"verify", "--dir", dir}, nil, &stdout, &stderr), "%s", &stderr)
			said := stdout.String() + stderr.String()
			require.Contains(t, said, c.says)
			require.Equal(t, c.says != "", strings.Contains(said, "age: "))
			require.NotContains(t, said, "restore with git", "nothing is lost")
		})
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
)

// TestSampleIsMasked: what is shown of a text that a rule takes is cut, around what the rule takes, and has no secret.
func TestSampleIsMasked(t *testing.T) {
	c := &call{console: newConsole(strings.NewReader(""), os.Stdout, os.Stderr)}
	rules, err := recorder.RulesOf([]store.ScrubRule{{Name: "t", Pattern: "say.*"}})
	require.NoError(t, err)
	key := "sk-" + "proj-" + strings.Repeat("aB3dE5fG7h", 5)
	text := strings.Repeat("x", 200) + " say " + key + strings.Repeat(" and more", 50)
	start, _ := rules.First(text)
	shown := sample(c, rules, text, start)
	require.Contains(t, shown, "xxx say ")
	require.NotContains(t, shown, key[:20])
	require.Less(t, len(shown), 140)
}

// TestTextsAreBounded: rules are tried on so many bytes of texts, and what they take says that there are more.
func TestTextsAreBounded(t *testing.T) {
	c := &call{console: newConsole(strings.NewReader(""), os.Stdout, os.Stderr)}
	dir := t.TempDir()
	require.NoError(t, pagetest.MakeStore(dir, "plain", "turn1", "turn2"))
	s, err := store.Open(dir)
	require.NoError(t, err)
	rules, err := recorder.RulesOf([]store.ScrubRule{{Name: "t", Pattern: "."}})
	require.NoError(t, err)
	size := 0 // of all texts, each once
	known := map[string]bool{}
	for doc, err := range place.Documents(s) {
		require.NoError(t, err)
		for i := range doc.Document.Snapshots {
			textsOf(&doc.Document.Snapshots[i], func(_, text string) {
				if !known[text] {
					known[text], size = true, size+len(text)
				}
			})
		}
	}
	tryOn := func(left int) *page.Takes {
		one := &trial{rules: rules, Takes: &page.Takes{}}
		try(c, s, []*trial{one}, map[uint64]bool{}, true, left)
		return one.Takes
	}
	all := tryOn(size)
	require.False(t, all.Partly)
	require.NotContains(t, strings.Join(all.Lines(), "\n"), "not all texts")
	some := tryOn(size - 1)
	require.True(t, some.Partly)
	require.Equal(t, all.Texts-1, some.Texts, "the last text is more than there is room for")
	require.Contains(t, some.Lines(), "not all texts were looked at, as the store is large")
	require.Zero(t, tryOn(0).Texts)
	require.Equal(t, 64<<20, mostRuled)
}

// TestLinkedConfigIsNotShown: a pull request may link config.json to another program's, and print what has credentials.
func TestLinkedConfigIsNotShown(t *testing.T) {
	t.Parallel()
	before, after := t.TempDir(), t.TempDir()
	require.NoError(t, pagetest.MakeStore(before, "plain"))
	require.NoError(t, pagetest.MakeStore(after, "plain"))
	docker := filepath.Join(t.TempDir(), store.ConfigName)
	require.NoError(t, os.WriteFile(docker, []byte(`{"auths":{"ghcr.io":{"auth":"bWU6aHVudGVyMg=="}}}`), 0o600))
	require.NoError(t, os.Symlink(docker, filepath.Join(after, store.ConfigName)))
	for _, form := range []string{"", "--json", "--markdown", "--html"} {
		for _, dirs := range [][]string{{before, after}, {after, before}} {
			_, out, said := run("", append(strings.Fields("diff "+form), dirs...)...)
			require.Contains(t, out, "cannot be read", said)
			require.NotContains(t, out+said, "bWU6aHVudGVyMg", form)
		}
	}
}

// TestNewTextsAreNotShown: of a text that the base does not have only its place and its length are told.
func TestNewTextsAreNotShown(t *testing.T) {
	c := &call{console: newConsole(strings.NewReader(""), os.Stdout, os.Stderr)}
	open := func(names ...string) *store.Store {
		dir := t.TempDir()
		require.NoError(t, pagetest.MakeStore(dir, names...))
		s, err := store.Open(dir)
		require.NoError(t, err)
		return s
	}
	from, to := open("plain"), open("plain", "turn1")
	require.NoError(t, os.WriteFile(filepath.Join(to.Dir(), "config.json"), []byte(`{"scrub":[{"name":"t","pattern":"weather.*"}]}`), 0o666))
	found, err := settings(c, from, to)
	require.NoError(t, err)
	require.Len(t, found, 1)
	takes := found[0].Takes
	require.Empty(t, takes.Sample)
	require.Zero(t, takes.Texts)
	require.NotEmpty(t, takes.New)
	require.Equal(t, 1, takes.New[0].Call)
	require.NotContains(t, strings.Join(takes.Lines(), "\n"), "weather")
}

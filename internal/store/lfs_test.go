package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// pointerTo returns Git LFS's text in place of data.
func pointerTo(data string) string {
	return pointerVersion + "oid " + string(canon.Sum([]byte(data))) + "\nsize 1\n"
}

func TestUseLFS(t *testing.T) {
	s, _ := newStore(t)
	require.NoError(t, s.UseLFS(), "makes a store")
	text := func() string {
		data, err := os.ReadFile(s.Path(AttributesName))
		require.NoError(t, err)
		return string(data)
	}
	require.Equal(t, "* -text -ident !working-tree-encoding\nmanifest.json -merge linguist-generated\n*/*/* filter=lfs -merge linguist-generated\n", text())
	commit(t, s, putOf("TestX", call{1, "x", "x"}))
	require.Equal(t, LFSAttributes, text(), "a commit lets it stand")
	requireWhole(t, s)

	require.NoError(t, os.WriteFile(s.Path(AttributesName), []byte(LFSAttributes+"*.txt text\n"), 0o666))
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Len(t, result.Findings, 1)
	require.Equal(t, snapshot.RuleAttributes, result.Findings[0].Rule, "there are two texts, and no others")
	_, err = Audit.Repair(s)
	require.NoError(t, err)
	require.Equal(t, LFSAttributes, text())

	require.NoError(t, os.Remove(s.Path(AttributesName)))
	commit(t, s, putOf("TestY", call{1, "y", "y"}))
	require.Equal(t, Attributes, text())
}

func TestPointers(t *testing.T) {
	const file = "is a pointer of Git LFS whose content was not fetched: git lfs pull"
	raw := rawIn(putOf("TestX", call{1, "x", "x"}), 0)
	for _, tt := range []struct {
		name, why string
		text      string
		rule      string
	}{
		{"not-fetched", "git lfs pull is the way out", pointerTo(string(raw)), snapshot.RulePointer},
		{"of-another", "nothing that is fetched would be what was recorded", pointerTo("other"), snapshot.RuleRaw},
		{"too-long", "no pointer is so long", pointerTo(string(raw)) + strings.Repeat("x 1\n", 300), snapshot.RuleRaw},
		{"of-another-version", "it is not known", strings.Replace(pointerTo(string(raw)), "v1", "v9", 1), snapshot.RuleRaw},
		{"without-an-oid", "it points nowhere", pointerVersion + "size 1\n", snapshot.RuleRaw},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newStore(t)
			commit(t, s, putOf("TestX", call{1, "x", "x"}))
			require.NoError(t, os.WriteFile(s.Path(rawOf("TestX", 1)), []byte(tt.text), 0o666))
			doc, err := s.Load(nameOf("TestX"), "openai")
			require.NoError(t, err)
			_, err = doc.Raw(0)
			result, wrong := Audit.Verify(s)
			require.NoError(t, wrong)
			require.Len(t, result.Findings, 1)
			require.Equal(t, tt.rule, result.Findings[0].Rule, tt.why)
			if tt.rule == snapshot.RulePointer {
				require.ErrorIs(t, err, ErrNotFetched)
				require.EqualError(t, err, filepath.ToSlash(s.Dir())+"/"+rawOf("TestX", 1)+": pointer: "+file)
				require.Equal(t, file, result.Findings[0].Message)
			} else {
				require.NotErrorIs(t, err, ErrNotFetched)
				require.ErrorIs(t, err, snapshot.ErrRaw)
			}
		})
	}
}

func TestAnswerThatLooksLikeAPointer(t *testing.T) {
	s, _ := newStore(t)
	put := putOf("TestX", call{1, "x", "x"})
	answered(put, []byte(pointerTo("anything")))
	commit(t, s, put)
	doc, err := s.Load(put.Name, put.Provider)
	require.NoError(t, err)
	raw, err := doc.Raw(0)
	require.NoError(t, err, "its hash decides")
	require.Equal(t, pointerTo("anything"), string(raw))
	requireWhole(t, s)
}

func TestCommitKeepsPointers(t *testing.T) {
	s, _ := newStore(t)
	put := putOf("TestX", call{1, "x", "x"})
	commit(t, s, put)
	pointer := pointerTo(string(rawIn(put, 0)))
	require.NoError(t, os.WriteFile(s.Path(rawOf("TestX", 1)), []byte(pointer), 0o666))

	next := putOf("TestX", call{1, "x", "x"}, call{2, "y", "y"})
	delete(next.Beside, next.Document.Snapshots[0].Response.RawOutputRef)
	commit(t, s, next)
	data, err := os.ReadFile(s.Path(rawOf("TestX", 1)))
	require.NoError(t, err)
	require.Equal(t, pointer, string(data), "what a kept call has is not lost: git lfs pull fetches it")
}

// TestPointerOfDocument checks that a document in Git LFS counts as not fetched.
func TestPointerOfDocument(t *testing.T) {
	s, _ := newStore(t)
	put := putOf("TestX", call{1, "x", "x"})
	commit(t, s, put)
	file := DocumentFile(put.Provider, put.Name)
	data, err := os.ReadFile(s.Path(file))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Path(file), []byte(pointerTo(string(data))), 0o666))

	want := file + ": pointer: is a pointer of Git LFS whose content was not fetched: git lfs pull"
	_, err = s.Load(put.Name, put.Provider)
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "way out")
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Len(t, result.Findings, 1)
	require.Equal(t, want, result.Findings[0].String())
}

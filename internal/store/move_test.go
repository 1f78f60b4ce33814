package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestRename(t *testing.T) {
	s, dir := newStore(t)
	calls := []call{{1, "Where?", "There."}, {2, "When?", "Now."}}
	p := putOf("TestOld/a", calls...)
	p.Document.Snapshots[0].Source.File = "shop/shop_test.go"
	p.Document.Snapshots[0].Source.Function = "TestOld.func1"
	commit(t, s, p, putOf("TestOther", call{1, "a", "b"}))
	pend(t, s, recordedAt, "TestOld/a", call{3, "Why?", "Snow."})
	raw := tree(t, dir)[rawOf("TestOld/a", 1)]

	moved, err := s.Move(Move{nameOf("TestOld/a"), testPackage, "TestNew/a"})
	require.NoError(t, err)
	require.Equal(t, []MovedDocument{{fileOf("TestOld/a"), fileOf("TestNew/a")}}, moved)
	requireCalls(t, s, "TestNew/a", calls...)
	requireCalls(t, s.Pending(), "TestNew/a", call{3, "Why?", "Snow."})
	requireWhole(t, s)
	requireWhole(t, s.Pending())
	files := tree(t, dir)
	require.NotContains(t, files, fileOf("TestOld/a"))
	require.NotContains(t, files, rawOf("TestOld/a", 1))
	require.Equal(t, raw, files[rawOf("TestNew/a", 1)])
	doc, err := s.Load(nameOf("TestNew/a"), "openai")
	require.NoError(t, err)
	require.Equal(t, "TestNew.func1", doc.Document.Snapshots[0].Source.Function)
	require.Equal(t, "ask", doc.Document.Snapshots[1].Source.Function)
}

func TestRenameRefuses(t *testing.T) {
	s, dir := newStore(t)
	_, err := s.Move(Move{nameOf("TestIt"), testPackage, "TestNew"})
	require.ErrorIs(t, err, fs.ErrNotExist, "there is no store")
	commit(t, s, putOf("TestIt", call{1, "a", "b"}), putOf("TestOther", call{1, "a", "b"}))
	pend(t, s, recordedAt, "TestThird", call{1, "a", "b"})
	before := tree(t, dir)
	for _, tt := range []struct {
		name, from, to string
		want           error
	}{
		{"target", "TestIt", "TestOther", fs.ErrExist},
		{"itself", "TestIt", "TestIt", fs.ErrExist},
		{"unknown", "TestNo", "TestNew", fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Move(Move{nameOf("TestIt"), testPackage, "TestMoved"}, Move{nameOf(tt.from), testPackage, tt.to})
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, before, tree(t, dir))
		})
	}
	_, err = s.Move(Move{nameOf("TestThird"), testPackage, "TestFourth"})
	require.NoError(t, err, "what is pending only moves too")
	requireCalls(t, s.Pending(), "TestFourth", call{1, "a", "b"})
	writeFile(t, dir, rawOf("TestIt", 1), "{}")
	_, err = s.Move(Move{nameOf("TestIt"), testPackage, "TestNew"})
	require.ErrorContains(t, err, "has the hash", "what is altered is not sealed again")
}

func TestMovedSource(t *testing.T) {
	was := snapshot.Source{File: "shop/agent_test.go", Function: "TestIt.func1", Package: testPackage, Test: "TestIt/a"}
	got := movedSource(was, "example.com/store", "TestIt/a")
	require.Equal(t, "store/agent_test.go", got.File)
	require.Equal(t, "TestIt.func1", got.Function)
	got = movedSource(was, testPackage, "TestItAll/a")
	require.Equal(t, "shop/agent_test.go", got.File)
	require.Equal(t, "TestItAll.func1", got.Function)
	was.File, was.Function = "agent.go", "TestItself"
	got = movedSource(was, "example.org/store", "TestNo")
	require.Equal(t, "agent.go", got.File, "a file elsewhere stays where it is")
	require.Equal(t, "TestItself", got.Function, "so does a function of another name")
}

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
)

func TestSplitTest(t *testing.T) {
	for _, tt := range []struct{ name, reason, word, pkg, test string }{
		{"test", "a test alone", "TestAsk/a", "", "TestAsk/a"},
		{"package", "with its package", "example.com/shop.TestAsk", "example.com/shop", "TestAsk"},
		{"subtest", "the test begins with the first dot in front of one", "example.com/shop.TestAsk/v1.TestB/x", "example.com/shop", "TestAsk/v1.TestB/x"},
		{"dotted", "dots of a subtest are its own", "TestAsk/v1.2", "", "TestAsk/v1.2"},
		{"pattern", "no test is named", "./agents/...", "", "./agents/..."},
		{"lower", "Testing is the name of no test", "example.com/m.Testing", "", "example.com/m.Testing"},
		{"empty", "nothing is named", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pkg, test := splitTest(tt.word)
			require.Equal(t, []string{tt.pkg, tt.test}, []string{pkg, test}, tt.reason)
		})
	}
}

func TestIsOf(t *testing.T) {
	test := page.Test{Package: "example.com/shop", Name: "TestAsk/a"}
	for word, want := range map[string]bool{
		"TestAsk": true, "TestAsk/a": true, "example.com/shop.TestAsk": true, "example.com/shop.TestAsk/a": true,
		"TestAs": false, "TestAsk/a/b": false, "example.com/other.TestAsk": false, "example.com": false, "example.com/shop": false, "": false,
	} {
		require.Equal(t, want, isOf(test, word), word)
	}
}

func TestInPackage(t *testing.T) {
	for _, tt := range []struct{ name, pkg, from, to, want string }{
		{"alone", "a/b", "a/b", "a/c", "a/c"},
		{"other", "a/b/x", "a/b", "a/c", ""},
		{"tree", "a/b/x", "a/b/...", "a/c/...", "a/c/x"},
		{"root_of_tree", "a/b", "a/b/...", "a/c/...", "a/c"},
		{"same_beginning", "a/bc", "a/b/...", "a/c/...", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now, ok := inPackage(tt.pkg, tt.from, tt.to)
			require.Equal(t, tt.want != "", ok)
			if ok {
				require.Equal(t, tt.want, now)
			}
		})
	}
}

// Names that go gives to no test or package are refused, whatever they are made of, as are patterns of packages.
func TestNamesAreChecked(t *testing.T) {
	for _, name := range []string{"", "/", "TestA/", "Test A", "TestA\n", "Test\x1b[2J", "\u202eTestA"} {
		require.ErrorContains(t, checkTest(name), "is no name of a test", "%q", name)
	}
	require.NoError(t, checkTest("TestA/in_Österreich,_§1"))
	for _, name := range []string{"", "-a", ".", "./a", "../a", "/a", "a/../b", "a//b", "a b", "a\nb", `a\b`, "a:b", "a/...", "..."} {
		require.ErrorContains(t, checkPackage(name), "is no import path", "%q", name)
	}
	require.NoError(t, checkPackage("example.com/m/v2"))
}

func TestNear(t *testing.T) {
	names := []string{"testask-0123456789ab-1", "testask-0123456789ab-2", "TestAsk"}
	require.Equal(t, ", did you mean testask-0123456789ab-2?", meant("testask-0123456789ab2", names))
	require.Equal(t, ", did you mean TestAsk?", meant("TestAks", names))
	require.Empty(t, meant("else", names))
	require.Empty(t, meant("", nil))
}

func TestSummary(t *testing.T) {
	changed := func(components ...string) usage.ChangedRecord {
		return usage.ChangedRecord{ID: "a-1", Components: components}
	}
	s := summarize([]usage.Receipt{
		{Update: nil, Played: []string{"d-1"}},
		{Update: &usage.Update{Kept: []string{"a-1", "a-2"}, TokensIn: 10, TokensOut: 2,
			Changed: []usage.ChangedRecord{changed("system"), changed("system", "user message")}}},
		{Update: &usage.Update{New: []string{"b-1"}, Removed: []string{"b-2"}, Pending: []string{"b-3"}, TokensIn: 5,
			Rekeyed: []usage.ChangedRecord{changed("tools")}, Adopted: "c"}},
	})
	require.Equal(t, []string{
		"calls: 3 kept, 2 changed (system 2, user message 1), 1 new, 1 removed, 1 rekeyed; 15 tokens in, 2 out",
		"1 renamed test goes on with the records of the old name",
		"1 answer of a test that failed waits for a decision: see traceforge accept; the next -update uses what is still needed",
	}, s.lines())
	require.Equal(t, []string{"calls: 0 kept, 0 changed, 0 new, 0 removed; 0 tokens in, 0 out"}, summarize(nil).lines())
}

func TestKnownIsRead(t *testing.T) {
	want := map[string][]usage.Known{"/s": {{Name: "a", Package: "p", Test: "TestA/\n", Gone: true}, {Name: "b"}}}
	file, err := writeKnown(want)
	require.NoError(t, err)
	defer os.Remove(file)
	got, err := usage.ReadKnown(file)
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = usage.ReadKnown(file + "none")
	require.Error(t, err)
}

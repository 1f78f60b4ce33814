package foreign_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/foreign"
)

const suite = `package chat

import "testing"

var shared = []struct{ name string }{{"from a variable"}}

func TestChat(t *testing.T) { t.Run("says hello", func(t *testing.T) { t.Run("twice/now", nil) }) }

func TestTable(t *testing.T) {
	for _, tt := range []struct{ name string }{{"gpt-4"}, {"gpt-4_turbo"}} {
		t.Run(tt.name, func(t *testing.T) {})
	}
	for name := range map[string]int{"a key": 1} { t.Run("with "+name, func(t *testing.T) {}) }
}

func TestDots(t *testing.T) {
	for _, name := range []string{".", "..", "x/../y", "a//b"} { t.Run(name, func(t *testing.T) {}) }
}

func TestShared(t *testing.T) { each(t, shared) }

func each(t *testing.T, all []struct{ name string }) {
	for _, one := range all { t.Run(one.name, func(t *testing.T) {}) }
}

func TestMade(t *testing.T) { t.Run(fmt.Sprint(1), func(t *testing.T) {}) }
func TestMade_2(t *testing.T) {}

func TestA(t *testing.T) { t.Run("b", func(t *testing.T) {}) }
func TestA_b(t *testing.T) {}
func TestPlain(t *testing.T) { m.Run(ctx, "no subtest") }

type suite struct{}
func (s *suite) TestMethod() { s.Run("inner", func() {}) }
func TestSuite(t *testing.T) { testify.Run(t, new(suite)) }

func TestMain(m *testing.M) {}
func Testing(t *testing.T) {}
`

// TestPlace: the path of a recording is of the one test that it can be of.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chat_test.go"), []byte(suite), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken_test.go"), []byte("package chat\nfunc TestBroken(t *testing.T) {}\nfunc {"), 0o600))
	tests, err := foreign.ReadTests(dir)
	require.NoError(t, err)
	require.False(t, tests.Empty())
	for _, tt := range []struct{ reason, file, want string }{
		{"its name", "testdata/TestChat.yaml", "TestChat"},
		{"after folders", "fixtures/cassettes/v1/TestChat.yml", "TestChat"},
		{"gzip", "testdata/TestChat.httprr.gz", "TestChat"},
		{"a file of which the rest is Go", "testdata/TestBroken.yaml", "TestBroken"},
		{"a subtest as go test spells it", "testdata/TestChat/says_hello.yaml", "TestChat/says_hello"},
		{"one below that has a slash", "testdata/TestChat/says_hello/twice/now.yaml", "TestChat/says_hello/twice/now"},
		{"adk-go", "testdata/TestChat_says_hello.httprr", "TestChat/says_hello"},
		{"langchaingo", "testdata/TestChat-says_hello-twice-now.httprr.gz", "TestChat/says_hello/twice/now"},
		{"of the same name once more", "testdata/TestChat/says_hello#01.yaml", "TestChat/says_hello#01"},
		{"a table", "testdata/TestTable_gpt-4.httprr", "TestTable/gpt-4"},
		{"another row of it", "testdata/TestTable_gpt-4_turbo.httprr", "TestTable/gpt-4_turbo"},
		{"a text and a row", "testdata/TestTable_with_a_key.httprr", "TestTable/with_a_key"},
		{"a variable of the package, in a function of it", "testdata/TestShared_from_a_variable.httprr", "TestShared/from_a_variable"},
		{"whole names may be made", "testdata/TestMade/1.yaml", "TestMade/1"},
		{"a suite", "testdata/TestSuite/TestMethod/inner.yaml", "TestSuite/TestMethod/inner"},
		{"names of methods are not read", "testdata/TestSuite_TestMethod.httprr", `TestSuite has no subtest that is spelled "TestMethod", as far as its names can be read`},

		{"a dot", "testdata/TestDots/..yaml", "TestDots/."},
		{"two dots", "testdata/TestDots/...yaml", "TestDots/.."},
		{"dots within", "testdata/TestDots/x/../y.yaml", "TestDots/x/../y"},

		{"a system's path for dots within", "testdata/TestDots/y.yaml", "may be of TestDots/x/../y or of TestDots/y"},
		{"no name", "testdata/TestDots/.yaml", `TestDots cannot have a subtest ""`},
		{"two tests are spelled so", "testdata/TestA_b.httprr", "may be of TestA/b or of TestA_b"},
		{"a made name cannot be excluded", "testdata/TestMade_2.httprr", "may be of TestMade/… or of TestMade_2"},
		{"a made name is not read", "testdata/TestMade_1.httprr", `TestMade has no subtest that is spelled "1", as far as its names can be read`},
		{"it is gone", "testdata/TestGone.yaml", "its path names no test of the package"},
		{"Python", "testdata/cassettes/test_chat.yaml", "its path names no test of the package"},
		{"no test", "testdata/TestMain.yaml", "its path names no test of the package"},
		{"nor this", "testdata/Testing.yaml", "its path names no test of the package"},
		{"no such subtest", "testdata/TestChat/says_goodbye.yaml", `TestChat has no subtest "says_goodbye"`},
		{"none at all", "testdata/TestPlain/1.yaml", "TestPlain runs no subtests"},
		{"no name of go test", "testdata/TestMade/a b.yaml", `TestMade cannot have a subtest "a b"`},
		{"nor this", "testdata/TestMade/\x1b[31m.yaml", `TestMade cannot have a subtest "\x1b[31m"`},
	} {
		t.Run(tt.file, func(t *testing.T) {
			got, err := tests.Place(tt.file)
			if err != nil {
				require.Equal(t, tt.want, err.Error(), tt.reason)
				return
			}
			require.Equal(t, tt.want, got.Test, tt.reason)
		})
	}
	_, err = foreign.ReadTests(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

package traceforgetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSelectsBelow holds that a pattern that may select subtests only counts as one that does: then no record is dropped.
func TestSelectsBelow(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
		why           string
	}{
		{"", "TestIt", false, "all is run"},
		{"TestIt", "TestIt", false, "the test is run whole"},
		{"TestIt|TestOther", "TestIt", false, "the test is run whole"},
		{"^(TestIt|TestOther)$", "TestIt", false, "the test is run whole"},
		{"TestIt/one", "TestIt", true, "a subtest is run"},
		{"TestIt/one", "TestIt/one", false, "the subtest is run whole"},
		{"TestIt/one/deep", "TestIt/one", true, "a subtest of the subtest is run"},
		{"TestOther/x", "TestIt", false, "the test is not run"},
		{"TestOther/x|TestIt", "TestIt", false, "an alternative selects the test, and another a subtest of another"},
		{"TestOther/x|TestIt/one", "TestIt", true, "an alternative selects a subtest"},
		{"TestIt/one|TestIt", "TestIt", true, "an alternative selects a subtest"},
		{"TestIt/a b/x", "TestIt/a_b", true, "space is written so in names"},
		{"TestIt\\/one", "TestIt", true, "an escaped separator may be one"},
		{"TestIt\\(?/one", "TestIt", true, "an escaped parenthesis is none"},
		{"TestIt[/x]?", "TestIt", true, "one in brackets may be one"},
		{"TestIt(/one)?", "TestIt", true, "one in parentheses may be one"},
		{"TestIt[(]?/one", "TestIt", true, "a parenthesis in brackets is none"},
		{"(TestIt[)]?|x)?/one", "TestIt", true, "a parenthesis in brackets closes none"},
		{"(TestIt|TestOther)/one", "TestIt", true, "alternatives in parentheses"},
		{"(TestIt|TestOther)/one", "TestOther", true, "alternatives in parentheses"},
		{"TestIt/(one|two)", "TestIt", true, "alternatives of a level"},
		{"TestIt/(one|two)", "TestIt/one", false, "the subtest is run whole"},
		{"TestIt/(one|two)/deep", "TestIt/one", true, "a subtest of the subtest is run"},
		{"Test[It|x]+/one", "TestIt", true, "a separator in brackets is none"},
		{"TestIt/a\\|b/deep", "TestIt/a|b", true, "an escaped separator is none"},
		{"^TestIt$/^a\\.b$|^TestOther$/^c$", "TestIt/a.b", false, "the subtests of two tests are run whole"},
		{"TestIt]?/one", "TestIt", true, "a bracket that closes none"},
	} {
		require.Equal(t, c.want, selectsBelow(c.pattern, c.name), "%s of %s: %s", c.pattern, c.name, c.why)
	}
}

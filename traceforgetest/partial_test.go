package traceforgetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSelectsBelow splits patterns as package testing does.
func TestSelectsBelow(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
		why           string
	}{
		{"", "TestIt", false, "all is run"},
		{"TestIt", "TestIt", false, "the test is run whole"},
		{"TestIt/one", "TestIt", true, "a subtest is run"},
		{"TestIt/one", "TestIt/one", false, "the subtest is run whole"},
		{"TestIt/one/deep", "TestIt/one", true, "a subtest of the subtest is run"},
		{"TestIt/two/deep", "TestIt/one", false, "the test is not run"},
		{"TestOther/x", "TestIt", false, "the test is not run"},
		{"TestOther/x|TestIt/one", "TestIt", true, "an alternative selects a subtest"},
		{"TestIt/one|TestIt", "TestIt", false, "an alternative selects the test"},
		{"TestIt/a b/x", "TestIt/a_b", true, "space is written so in names"},
		{"TestIt\\/one", "TestIt", false, "an escaped separator is none"},
		{"TestIt\\(?/one", "TestIt", true, "an escaped parenthesis is none"},
		{"TestIt[/x]?", "TestIt", false, "one in brackets is none"},
		{"TestIt(/one)?", "TestIt", false, "one in parentheses is none"},
		{"TestIt[(]?/one", "TestIt", true, "a parenthesis in brackets is none"},
		{"(TestIt[)]?|x)?/one", "TestIt", true, "a parenthesis in brackets closes none"},
		{"(TestIt|TestOther)/one", "TestIt", true, "a separator in parentheses is none"},
		{"TestIt]?/one", "TestIt", true, "a bracket that closes none"},
		{"TestIt*[/x", "TestIt", false, "no pattern"},
		{"*/x", "TestIt", false, "no pattern"},
	} {
		require.Equal(t, c.want, selectsBelow(c.pattern, c.name), "%s of %s: %s", c.pattern, c.name, c.why)
	}
}

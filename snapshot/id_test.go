package snapshot_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestID(t *testing.T) {
	for name, c := range map[string]struct {
		why  string
		test string
		n    int
		want string
	}{
		"plain":     {"lower case", "TestSummarize", 1, `^testsummarize-1-[0-9a-f]{12}$`},
		"subtest":   {"other characters become a hyphen", "TestX/a_b c", 12, `^testx-a-b-c-12-[0-9a-f]{12}$`},
		"runs":      {"one for a run of them", "TestX//#00", 1, `^testx-00-1-[0-9a-f]{12}$`},
		"fits":      {"40 characters are kept", "Test" + strings.Repeat("x", 36), 1, `^testx{36}-1-[0-9a-f]{12}$`},
		"long":      {"of more, 31 and a tag", "Test" + strings.Repeat("x", 37), 1, `^testx{27}-[0-9a-f]{8}-1-[0-9a-f]{12}$`},
		"non-ascii": {"what is lost is tagged", "TestX/é", 1, `^testx-[0-9a-f]{8}-1-[0-9a-f]{12}$`},
		"nothing":   {"a name of which nothing is left", "日本", 1, `^[0-9a-f]{8}-1-[0-9a-f]{12}$`},
		"empty":     {"no name", "", 1, `^[0-9a-f]{8}-1-[0-9a-f]{12}$`},
		"high":      {"n has room", "Test" + strings.Repeat("x", 50), 2_000_000_000, `^testx{27}-[0-9a-f]{8}-2000000000-[0-9a-f]{12}$`},
		"highest":   {"and takes from the slug", "Test" + strings.Repeat("x", 50), math.MaxInt, `^testx{27}(-[0-9a-f]{8})?-[0-9]+-[0-9a-f]{12}$`},
	} {
		t.Run(name, func(t *testing.T) {
			id := snapshot.ID(testPackage, c.test, c.n)
			require.Regexp(t, regexp.MustCompile(c.want), id, c.why)
			require.LessOrEqual(t, len(id), 64)
		})
	}
	// printf 'example.com/agents\0TestSummarize\01' | sha256sum
	require.Equal(t, "testsummarize-1-72719f6d93ab", snapshot.ID(testPackage, "TestSummarize", 1))
}

// TestIDsDiffer: what is not the same snapshot has not the same id.
func TestIDsDiffer(t *testing.T) {
	ids := map[string]bool{}
	long := "Test" + strings.Repeat("Long", 20)
	for _, pkg := range []string{"a", "b", "a\x00TestX"} {
		for _, test := range []string{"TestX", "TestX/1", "TestX/1/1", "TestX_1", "testx", long + "a", long + "b", "TestX\x001", ""} {
			for n := 1; n < 12; n++ {
				id := snapshot.ID(pkg, test, n)
				require.False(t, ids[id], "%s %s %d", pkg, test, n)
				ids[id] = true
			}
		}
	}
}

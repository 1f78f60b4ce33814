package archtest

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecurityNamesTests checks that the tests that the pages of security and of secrets name are there.
func TestSecurityNamesTests(t *testing.T) {
	for _, file := range []string{"../../docs/security.md", "../../docs/volatile.md"} {
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		names := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(page), -1)
		require.NotEmpty(t, names)
		for _, name := range names {
			cmd := exec.Command("grep", "-rqs", "--include=*_test.go", "^func "+name+"(", "../..")
			require.NoError(t, cmd.Run(), "no test is named %s", name)
		}
	}
}

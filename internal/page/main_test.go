package page_test

import (
	"os"
	"testing"
)

// TestMain runs the tests as outside of CI, where messages name the flag.
func TestMain(m *testing.M) {
	os.Setenv("CI", "")
	os.Exit(m.Run())
}

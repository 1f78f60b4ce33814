package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// asked is what the go.mod files that users' modules read ask of each library that several of them name: the oldest
// that pass, since no user's module can have an older one.
var asked = map[string]string{
	"github.com/rogpeppe/go-internal":          "v1.12.0", // testscript of 1.10.0 does not compile with Go 1.26
	"github.com/santhosh-tekuri/jsonschema/v6": "v6.0.1",  // the first
	"github.com/sebdah/goldie/v2":              "v2.5.3",  // the first
	"github.com/stretchr/testify":              "v1.8.0",  // it brings WithinRange
	"go.yaml.in/yaml/v3":                       "v3.0.2",  // the first
}

// askedOtherwise is where a dependency of a module asks for more.
var askedOtherwise = map[string]map[string]string{
	"adapters/genkit":       {"github.com/stretchr/testify": "v1.10.0", "github.com/rogpeppe/go-internal": "v1.13.1"}, // Genkit 1.4's own OpenTelemetry
	"adapters/genkit/hooks": {"github.com/stretchr/testify": "v1.10.0", "github.com/rogpeppe/go-internal": "v1.13.1"},
	"adapters/websocket":    {"github.com/stretchr/testify": "v1.8.1"},                                      // a provider's SDK of its tests
	"cmd/traceforge":        {"go.yaml.in/yaml/v3": "v3.0.4", "github.com/rogpeppe/go-internal": "v1.14.1"}, // cobra; testscript.Main
}

func TestUsersGetTheOldest(t *testing.T) {
	if testing.Short() {
		t.Skip(".ci/check newestdeps raises them in its copy, and tests with -short")
	}
	required := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`)
	for _, folder := range []string{".", "adapters/genkit", "adapters/genkit/hooks", "adapters/mcp", "adapters/websocket", "cmd/traceforge"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(folder), "go.mod"))
		require.NoError(t, err)
		found := 0
		for _, m := range required.FindAllStringSubmatch(string(text), -1) {
			path, version := m[1], m[2]
			want, ok := askedOtherwise[folder][path]
			if !ok {
				want, ok = asked[path]
			}
			if ok {
				found++
				require.Equal(t, want, version, "%s/go.mod raises %s in the modules of users", folder, path)
			}
		}
		require.GreaterOrEqual(t, found, 2, folder)
	}
}

// TestUsersModule holds that the go.mod of a module whose tests import traceforgetest gets one line besides ours, and its go.sum
// 22: go keeps the sums of what tests of linked packages import.
func TestUsersModule(t *testing.T) {
	if testing.Short() {
		t.Skip(".ci/check newestdeps raises what it holds in its copy, and tests with -short")
	}
	dir := t.TempDir()
	require.NoError(t, toy.Make(dir))
	test := "package toy\n\nimport _ \"" + module + "/traceforgetest\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "toy_test.go"), []byte(test), 0o666))
	env, err := toy.Env()
	require.NoError(t, err)
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	indirect := regexp.MustCompile(`(?m)^.*// indirect$`).FindAllString(string(text), -1)
	require.Equal(t, []string{"require github.com/rogpeppe/go-internal " + asked["github.com/rogpeppe/go-internal"] + " // indirect"}, indirect)
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(sums), "\n"), 22, "%s", sums)
}

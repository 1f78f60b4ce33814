// Package archtest enforces the arrows of the project's architecture.
package archtest

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/traceforge/traceforge-go"

// arrows are the imports within the module that the architecture draws, each with its reason.
// A package may also import what the packages that it may import may import. Everything else
// is forbidden.
var arrows = map[string]map[string]string{
	"canon":   {"internal/jsontext": "strings"},
	"modelio": {"canon": "hashes of sessions and of cores", "internal/jsontext": "strings of sessions, which may hold lone surrogates"},
	"snapshot": {
		"canon": "seals, and the names of blobs",
	},
	"contract": {
		"canon": "refs", "modelio": "messages", "snapshot": "blobs", "internal/provider": "wire formats",
		"internal/envelope": "outputs",
	},
	"traceforgetest": {
		"snapshot": "the store", "modelio": "model-level capture", "internal/provider": "wire formats", "internal/drift": "failure texts",
		"internal/receipt": "what tests used, for the command", "internal/envelope": "outputs, as the contract has them",
		"internal/annotation": "failures, for GitHub Actions", "internal/gotest": "the command that accepts",
	},
	"internal/provider":   {"modelio": "the one shape that all wire formats decode to", "internal/jsontext": "strings"},
	"internal/envelope":   {"canon": "refs", "modelio": "messages", "internal/provider": "the answers that it is made of"},
	"internal/drift":      {"canon": "hashes of components", "snapshot": "the requests that are compared"},
	"internal/receipt":    {},
	"internal/annotation": {},
	"internal/gotest":     {},
	"internal/jsontext":   {},
	"internal/pack":       {"snapshot": "the records", "modelio": "sessions"},
	// So that no mistake of a codec can hide in its own fake.
	"internal/fakeprovider": {},
	"internal/archtest":     {},
	"internal/tbtest":       {},
	"internal/demo":         {"internal/fakeprovider": "the provider of the demo"},
	"cmd/traceforge": {
		"canon": "", "modelio": "", "snapshot": "", "contract": "", "internal/provider": "",
		"internal/drift": "", "internal/receipt": "", "internal/pack": "", "internal/annotation": "", "internal/gotest": "",
	},
}

// standardOnly are the packages that import nothing from outside the standard library.
var standardOnly = []string{"internal/fakeprovider", "internal/provider", "modelio"}

// light are the packages that users' test binaries link, with all they may link besides the
// standard library.
var light = []string{"github.com/rogpeppe/go-internal/"}

type pkg struct {
	ImportPath   string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,TestImports,XTestImports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if err == io.EOF {
			return pkgs
		}
		require.NoError(t, err)
		pkgs = append(pkgs, p)
	}
}

// allowed returns what name may import: its arrows, followed as far as they go.
func allowed(name string) map[string]bool {
	reach := map[string]bool{}
	var follow func(string)
	follow = func(from string) {
		for to := range arrows[from] {
			if !reach[to] {
				reach[to] = true
				follow(to)
			}
		}
	}
	follow(name)
	return reach
}

func TestArrows(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		_, drawn := arrows[name]
		require.True(t, drawn, "%s is not drawn in the architecture: draw it in arrows, with its reason", name)
		reach := allowed(name)
		for _, dep := range p.Imports {
			if to, ours := strings.CutPrefix(dep, module+"/"); ours {
				require.True(t, reach[to], "%s imports %s: no arrow leads there", name, to)
			}
		}
	}
}

func TestCommandIsNoTest(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath == module+"/cmd/traceforge" {
			require.NotContains(t, p.Deps, "testing", "the command links the testing package")
			require.NotContains(t, p.Deps, module+"/traceforgetest")
		}
	}
}

func TestDependenciesAreLight(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, dep := range p.Imports {
			if !external(dep) {
				continue
			}
			require.NotContains(t, standardOnly, name, "%s imports %s: it keeps to the standard library", name, dep)
		}
		if name != "traceforgetest" {
			continue
		}
		for _, dep := range p.Deps {
			if external(dep) {
				ok := slices.ContainsFunc(light, func(prefix string) bool { return strings.HasPrefix(dep, prefix) })
				require.True(t, ok, "users' test binaries would link %s", dep)
			}
		}
	}
}

// external reports whether a package is neither of the standard library nor ours.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !strings.HasPrefix(path, module)
}

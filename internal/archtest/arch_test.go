// Package archtest enforces the arrows of the project's architecture.
package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/traceforge/traceforge-go"

// Reasons that several arrows have.
const (
	names    = "the hashes that name what is stored"
	audited  = "whether a store is whole"
	texts    = "the one room that reads and writes JSON"
	typed    = "objects that are read and written as their tags say"
	shown    = "what may be printed"
	calls    = "the one vocabulary of a call"
	records  = "what is recorded"
	files    = "where it is kept"
	named    = "which names are legal"
	merged   = "what a merge left"
	joined   = "the texts of a content as one"
	wires    = "what the wire formats say"
	question = "what all clients ask, so that only the clients differ"
	told     = "what other programs read in an answer"
	sorts    = "what is sorted, and not compiled again for each type"
	shared   = "what goroutines share"
	offline  = "so that no demo, test or measurement calls a provider"
)

// arrows are the imports within the project that the architecture draws, each with its reason. What is
// not drawn is forbidden, and so is what nobody needs any more: the list is the architecture.
var arrows = map[string]map[string]string{
	"internal/inorder":         {},
	"internal/locked":          {},
	"internal/jsontext":        {},
	"internal/jsontext/fields": {"internal/inorder": sorts, "internal/jsontext": texts, "internal/locked": shared},
	"canon":                    {"internal/jsontext": texts},
	"modelio":                  {"internal/inorder": sorts, "internal/jsontext": texts, "internal/jsontext/fields": typed},
	"modelio/modeltest":        {"canon": "two inputs of a tool that say the same are the same", "internal/jsontext": texts, "internal/texts": joined, "modelio": calls},
	"modelio/session": {
		"internal/inorder": sorts, "canon": "prompt, response and session hashes (MIO §4)", "internal/jsontext": texts, "modelio": calls,
		"internal/texts": "which calls of an answer are the caller's",
		"snapshot":       "the records that a session is made of",
	},
	"snapshot": {
		"internal/inorder": sorts, "canon": "seals and cores", "internal/jsontext": texts, "modelio": calls, "internal/filename": named,
		"internal/conflict": merged, "internal/texts": "where media are named",
	},
	"internal/spelling": {"internal/jsontext": texts, "snapshot": "what files say, and how they are written"},
	"internal/conflict": {},
	"internal/filename": {},
	"internal/store": {
		"internal/conflict": merged, "internal/inorder": sorts, "canon": names, "internal/amount": "limits in config.json", "internal/jsontext": texts, "internal/jsontext/fields": typed, "modelio": "what a call used",
		"internal/locked": shared, "internal/git": "what it knows of a store", "internal/texts": "whether two answers say the same", "internal/near": "what a member was meant to be", "snapshot": "what its documents hold",
		"internal/pattern":  "which rules would change their own output",
		"internal/filename": named,
	},
	"internal/store/audit": {
		"internal/store": "the documents that it verifies and merges", "internal/inorder": sorts, "canon": names, "internal/jsontext": texts,
		"internal/git": "what outside of a repository is no error", "internal/git/worktree": "commands that filter", "internal/gotest": "how words of commands are quoted",
		"snapshot": records, "internal/spelling": "how documents are written", "internal/conflict": merged, "internal/drift": "where two lists differ",
		"modelio": calls, "internal/filename": named, "internal/page": "how things are counted",
	},
	"contract": {
		"canon": "refs", "internal/jsontext": texts, "internal/jsontext/fields": typed, "internal/texts": joined, "modelio": calls,
		"internal/encoder":  "the requests that it makes",
		"internal/provider": "the answers that it reads",
		"snapshot":          "the records that it tells in its own terms",
		"internal/store":    "the documents, from which blobs are derived",
		"internal/reading":  "what other programs read, as a warning",
	},

	"internal/provider": {
		"internal/inorder": sorts, "internal/locked": shared, "canon": "whether two texts say the same", "internal/jsontext": texts, "internal/texts": joined, "modelio": calls,
	},
	"internal/encoder": {
		"internal/jsontext": texts, "internal/provider": "how the wire spells what is usual", "modelio": calls,
	},
	"internal/drift": {
		"internal/inorder": sorts, "internal/jsontext": texts, "internal/plaintext": shown, "modelio": calls, "snapshot": "the cores that are compared",
		"internal/texts": "which messages two requests begin with",
	},
	"internal/pattern": {},
	"internal/reading": {
		"canon": "whether two inputs of a tool say the same", "internal/jsontext": texts, "internal/provider": "the events of streams",
		"internal/texts": joined, "modelio": calls, "snapshot": records,
	},
	"internal/secret": {"internal/jsontext": "the texts in which secrets hide"},
	"internal/scrub": {
		"internal/inorder": sorts, "internal/locked": shared, "internal/jsontext": texts, "internal/pattern": "what rules find", "internal/provider": "the events of streams",
		"internal/texts": "where values stand", "modelio": calls,
	},
	"internal/recorder": {
		"internal/inorder": sorts, "internal/locked": shared, "canon": names, "internal/drift": "what changed", "internal/jsontext": texts, "internal/provider": wires,
		"internal/plaintext": shown, "internal/scrub": "what is kept as a placeholder", "internal/pattern": "which names are of values of each run",
		"internal/secret": "what must not be kept and not be printed", "modelio": calls, "snapshot": records, "internal/store": files,
		"internal/usage": "what a run did and found, as receipts have it", "internal/content": "answers as they can be read",
		"internal/texts": "where media stand", "internal/websocket": "sessions",
		"internal/gotest": "how flags of a program are quoted", "internal/reading": told, "internal/amount": "counts that nobody may have said",
	},
	"internal/websocket": {},
	"internal/cassette": {
		"canon": "whether two bodies say the same", "internal/content": "answers as they can be read", "internal/drift": "where they differ",
		"internal/jsontext": texts, "internal/provider": "what of a URL is a credential",
		"internal/recorder": "what a record says of an answer that was recorded before", "internal/usage": "requests as they were sent",
		"internal/secret": "what may be a key", "internal/conflict": merged,
	},
	"traceforgetest/cassette": {"internal/cassette": "all that it does"},
	"traceforgetest/fault":    {"internal/provider": "the events of streams", "internal/recorder": "which injects it", "traceforgetest": "whose calls it is for"},
	"traceforgetest/script": {
		"canon": names, "internal/fakeprovider": "answers in the wire format that is asked for", "internal/jsontext": "fixtures of aimock",
		"internal/provider": "what a request says", "internal/recorder": "what a record says of a step", "modelio": calls,
	},
	"internal/foreign": {
		"modelio":           calls,
		"internal/cassette": "recordings that documents are made of", "internal/gotest": "what is a test",
		"canon": names, "internal/jsontext": texts, "internal/provider": "where cassettes were recorded",
		"internal/recorder": "the rules of recordings, which hold for cassettes", "snapshot": records, "internal/store": files,
	},
	"traceforgetest": {
		"internal/annotation": "failures, for GitHub Actions", "internal/gotest": "the command that accepts", "internal/inorder": sorts, "internal/locked": shared,
		"internal/jsontext": texts, "internal/provider": "the providers that have a URL", "internal/recorder": "all that it does", "internal/scrub": "the rules of a test",
		"internal/usage": "what tests used, for the command", "modelio": "models that are recorded", "snapshot": records,
	},

	"internal/amount":      {},
	"internal/git":         {"internal/gotest": "how words of commands are quoted"},
	"internal/content":     {},
	"internal/plaintext":   {},
	"internal/near":        {},
	"internal/texts":       {"internal/inorder": sorts, "internal/jsontext": texts, "modelio": calls},
	"internal/annotation":  {"internal/plaintext": shown},
	"internal/gotest":      {"internal/plaintext": "what a word in a command must not hold as it is"},
	"internal/usage":       {"internal/inorder": sorts},
	"internal/commandline": {"internal/gotest": "how words are quoted", "internal/secret": "what no command says"},
	"internal/page": {
		"internal/plaintext": shown, "internal/commandline": "commands of programs",
		"canon": "whether two calls are the same", "internal/drift": "what changed", "internal/inorder": "names of both sides", "internal/jsontext": texts,
		"internal/gotest": "the command that accepts", "internal/provider": "the events of raw answers",
		"internal/reading": told, "modelio": calls, "snapshot": records,
	},
	"internal/lint": {
		"canon": "whether beginnings are the same", "internal/amount": "counts that nobody may have said", "internal/jsontext": texts,
		"internal/page": "how tests are named, and sizes", "internal/provider": "which APIs generate", "modelio": calls, "internal/texts": joined,
		"internal/recorder": "what it asks of calls", "internal/scrub": "which texts are placeholders",
		"snapshot": records, "internal/store": "documents, and what config.json asks for",
	},
	"internal/git/gittest":   {},
	"internal/git/worktree":  {"internal/git": "git", "internal/gotest": "how commands are quoted"},
	"internal/page/pagetest": {"canon": names, "modelio": calls, "snapshot": records, "internal/store": files},
	"internal/pack": {
		"canon": "hashes of the files of a pack", "contract": "envelopes of answers", "internal/jsontext": texts,
		"internal/usage": "what a run used", "internal/usage/coverage": "the receipts that it left",
		"modelio/session": "the session of a test", "snapshot": "what documents name", "internal/store": files,
		"internal/store/audit": audited,
	},
	"internal/place": {
		"internal/git": "stores that are checked out in part", "internal/gotest": "where tests are", "internal/jsontext": texts,
		"internal/page": "how a document is shown", "snapshot": "how documents are called", "internal/store": files,
	},
	"internal/usage/coverage": {
		"internal/gotest": "the tests there are", "internal/plaintext": shown, "internal/page": "how it is shown", "internal/place": "the store in use",
		"internal/annotation": "files of the checkout", "internal/drift": "what changed",
		"internal/usage": "what tests used", "snapshot": records, "internal/store": files,
	},

	// So that no mistake of a codec can hide in its own fake.
	"internal/fakeprovider": {},
	"internal/archtest":     {},
	"docs/schemas":          {},
	"internal/schematest": {
		"canon": "how hashes are spelled", "contract": "the types of the contract", "docs/schemas": "what texts are held against",
		"internal/jsontext/fields": "the members of types", "internal/pack": "run.json", "internal/store": "config.json",
		"internal/usage": "receipts",
	},
	"internal/tbtest": {}, "internal/tbtest/stdjson": {}, "internal/tbtest/toy": {}, "internal/tbtest/linker": {}, "internal/tbtest/mutation": {},
	"internal/tbtest/copied":   {"internal/tbtest/toy": "the flags of go"},
	"internal/tbtest/vector":   {"internal/tbtest/toy": "where the checkout is"},
	"internal/store/storetest": {"canon": "hashes of raw answers", "modelio": "what records ask and say", "snapshot": records},
	"internal/rehearsal":       {"internal/tbtest": "a test that is recorded and replayed"},
	"internal/conformance":     {"modelio": "the answers that are judged"},
	"internal/demo":            {"internal/fakeprovider": offline},
	"internal/demo/fake":       {"internal/fakeprovider": offline},

	// Modules of their own.
	"cmd/traceforge": {
		"canon": names, "internal/git": "what git knows of a store", "internal/git/worktree": "what git has of its files",
		"contract":        "receipts of records",
		"docs/schemas":    "schema",
		"internal/amount": "sizes and ages", "internal/commandline": "commands of programs",
		"internal/drift":      "what changed of what is pending",
		"internal/inorder":    "lists in which each item stands once",
		"internal/annotation": "findings, for GitHub Actions", "internal/gotest": "go test", "internal/jsontext": texts,
		"internal/near": "what a name was meant to be", "internal/plaintext": shown, "internal/secret": "what no command prints, and verify finds",
		"internal/pack": "pack", "internal/lint": "verify --lint",
		"internal/page": "show, diff, review", "internal/place": "the store in use",
		"internal/recorder":       "whether records say what they serve; exec",
		"internal/provider":       "the variables that exec sets",
		"internal/scrub":          "what exec keeps as a placeholder",
		"internal/usage":          "receipts",
		"internal/usage/coverage": "coverage",
		"internal/foreign":        "import",
		"internal/cassette":       "recordings that import reads",
		"modelio":                 "what modelio import asks of a session",
		"modelio/session":         "the commands of modelio", "snapshot": records, "internal/store": files, "internal/store/audit": "verify, repair and prune",
	},
	"adapters/genkit": {
		"adapters/genkit/internal/naming": "recorded names", "internal/jsontext": texts, "modelio": "the model that it is made into",
	},
	"adapters/genkit/hooks": {"adapters/genkit": "models", "adapters/genkit/internal/naming": "recorded names", "internal/jsontext": texts},
	"adapters/genkit/internal/genkittest": {
		"internal/tbtest": "a test that is recorded and replayed", "traceforgetest": "what records it",
	},
	"adapters/mcp":              {"traceforgetest": "the tape"},
	"adapters/websocket":        {"traceforgetest": "the tape"},
	"examples/internal/standin": {"internal/fakeprovider": offline, "traceforgetest": "what is shown"},
	"integration/internal/recorded": {
		"internal/recorder": "whether records say what they serve", "snapshot": records, "internal/store": files, "internal/store/audit": audited,
	},
	"integration/collide/internal/ask": {"traceforgetest": "what others collide with"},
	"bench/client/memory":              {"bench/client/ask": question},
	"bench/client/traceforge":          {"bench/client/ask": question, "traceforgetest": "what is measured"},
	"bench/client/vcr":                 {"bench/client/ask": question},
	"bench/repo":                       {"internal/fakeprovider": offline},
}

// modules are the folders of all modules.
var modules = []string{
	".", "adapters/genkit", "adapters/genkit/hooks", "adapters/mcp", "adapters/websocket", "bench", "bench/httprr", "cmd/traceforge", "examples", "examples/genkit", "integration", "integration/agents",
	"integration/collide", "integration/moving", "integration/publish",
}

// standardOnly are the packages that import nothing from outside the standard library.
var standardOnly = []string{
	"internal/encoder", "internal/fakeprovider", "internal/jsontext", "internal/jsontext/fields", "internal/provider",
	"internal/secret", "modelio", "modelio/session", "canon",
}

// light is what users' test binaries may link besides the standard library.
var light = []string{"github.com/rogpeppe/go-internal/"}

// without are packages that a package must not link, not even by way of others.
var without = map[string][]string{
	"cmd/traceforge":    {"testing", module + "/traceforgetest"},
	"internal/recorder": {"testing", "html/template"},
	"traceforgetest": { // with templates a linker drops no method of what users' tests link
		"html/template", "text/template", "go/parser", "go/ast", "encoding/xml", "encoding/gob", "archive/zip", "database/sql", "embed",
	},
}

// linked are our packages that users' test binaries compile and link: each makes the first build of a test slower.
var linked = []string{
	"canon", "internal/amount", "internal/annotation", "internal/conflict", "internal/content",
	"internal/drift", "internal/filename", "internal/git", "internal/gotest", "internal/inorder",
	"internal/jsontext", "internal/jsontext/fields", "internal/locked", "internal/near", "internal/pattern", "internal/plaintext", "internal/provider",
	"internal/reading", "internal/recorder", "internal/scrub", "internal/secret", "internal/store",
	"internal/texts", "internal/usage", "internal/websocket", "modelio", "snapshot",
}

// sorting are the functions that are compiled for each type again; package inorder has what users' tests need of them.
var sorting = regexp.MustCompile(`slices\.(Sort|SortFunc|SortStableFunc|Sorted)\(`)

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string

	folder string // of its module
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages returns the packages of all modules that this Go can build; the folders of those that ask for a newer one are newer.
func packages(t *testing.T) (all []pkg, newer []string) {
	t.Helper()
	list, err := listed()
	require.NoError(t, err)
	require.NotEmpty(t, list.all)
	for _, folder := range list.newer {
		t.Logf("left out: %s asks for a newer Go", folder)
	}
	return list.all, list.newer
}

// A listing is what packages returns.
type listing struct {
	all   []pkg
	newer []string
}

// listed makes the listing once: it starts go for each module.
var listed = sync.OnceValues(func() (list listing, err error) {
	for _, folder := range modules {
		cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Deps", "./...")
		cmd.Dir = filepath.Join("..", "..", filepath.FromSlash(folder))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		switch {
		case strings.Contains(stderr.String(), "(running go"):
			list.newer = append(list.newer, folder)
			continue
		case err != nil:
			return list, fmt.Errorf("%s: %w: %s", folder, err, &stderr)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			p := pkg{folder: folder}
			if err := dec.Decode(&p); err != nil {
				return list, fmt.Errorf("%s: %w", folder, err)
			}
			list.all = append(list.all, p)
		}
	}
	return list, nil
})

// TestArrows reports all that the drawing and the code do not have in common.
func TestArrows(t *testing.T) {
	unused := map[string]map[string]string{}
	for from, to := range arrows {
		unused[from] = maps.Clone(to)
		for to, reason := range to {
			if reason == "" {
				t.Errorf("the arrow from %s to %s has no reason", from, to)
			}
		}
	}
	there := map[string]bool{}
	all, newer := packages(t)
	for _, p := range all {
		there[p.name()] = true
		if _, drawn := arrows[p.name()]; !drawn && p.folder == "." {
			t.Errorf("%s is not drawn: draw it in arrows, with its reasons", p.name())
		}
		for _, dep := range p.Imports {
			to, ours := strings.CutPrefix(dep, module+"/")
			if !ours {
				continue
			}
			if _, drawn := arrows[p.name()][to]; !drawn {
				t.Errorf("%s imports %s: draw the arrow, with its reason, or do without", p.name(), to)
			}
			delete(unused[p.name()], to)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(unused)) {
		if slices.ContainsFunc(newer, func(folder string) bool { return strings.HasPrefix(from+"/", folder+"/") }) {
			continue
		}
		if !there[from] {
			t.Errorf("%s is drawn, but there is no such package", from)
		}
		for _, to := range slices.Sorted(maps.Keys(unused[from])) {
			t.Errorf("the arrow from %s to %s is drawn, but not used", from, to)
		}
	}
}

// TestModules finds every go.mod, so that no module is forgotten here.
func TestModules(t *testing.T) {
	found := map[string]bool{}
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", "*/*/*/go.mod"} {
		matches, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, match := range matches {
			folder, err := filepath.Rel(filepath.Join("..", ".."), filepath.Dir(match))
			require.NoError(t, err)
			found[filepath.ToSlash(folder)] = true
		}
	}
	require.Equal(t, modules, slices.Sorted(maps.Keys(found)))
}

func TestDependenciesAreLight(t *testing.T) {
	all, _ := packages(t)
	for _, p := range all {
		for _, dep := range p.Imports {
			if slices.Contains(standardOnly, p.name()) && external(dep) {
				t.Errorf("%s imports %s: it keeps to the standard library", p.name(), dep)
			}
		}
		for _, dep := range p.Deps {
			if slices.Contains(without[p.name()], dep) {
				t.Errorf("%s links %s", p.name(), dep)
			}
			isLight := slices.ContainsFunc(light, func(prefix string) bool { return strings.HasPrefix(dep, prefix) })
			if p.name() == "traceforgetest" && external(dep) && !isLight {
				t.Errorf("users' test binaries would link %s", dep)
			}
		}
	}
}

// TestLinked: what users' test binaries compile is on a list, and sorts no type of its own but where it must be fast.
func TestLinked(t *testing.T) {
	all, _ := packages(t)
	for _, p := range all {
		if p.name() != "traceforgetest" {
			continue
		}
		var ours []string
		for _, dep := range p.Deps {
			if name, ok := strings.CutPrefix(dep, module+"/"); ok {
				ours = append(ours, name)
			}
		}
		slices.Sort(ours)
		require.Equal(t, linked, ours)
	}
	fast := []string{"canon/rewrite.go", "internal/provider/provider.go"}
	for _, dir := range append(linked, "traceforgetest") {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			own := path.Join(dir, filepath.Base(file))
			if found := sorting.Find(text); found != nil && !strings.HasSuffix(file, "_test.go") && !slices.Contains(fast, own) {
				t.Errorf("%s calls %s…): internal/inorder does not compile a sort for each type", own, found)
			}
			if bytes.Contains(text, []byte(" sync.Map")) && !strings.HasSuffix(file, "_test.go") && dir != "internal/locked" {
				t.Errorf("%s has a sync.Map: internal/locked does not compile a trie for each package", own)
			}
		}
	}
}

// external reports whether a package is neither of the standard library nor ours.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !strings.HasPrefix(path, module)
}

// TestOneStartsGit holds that internal/git alone starts git, which has to be told what it works on.
func TestOneStartsGit(t *testing.T) {
	starts := regexp.MustCompile(`\b(Command|CommandContext|LookPath)\((?:[\w.()]+, )?"git(\.exe)?"`)
	var found []string
	err := filepath.WalkDir(filepath.Join("..", ".."), func(file string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if starts.Match(text) {
			found = append(found, filepath.ToSlash(filepath.Clean(file)))
		}
		return err
	})
	require.NoError(t, err)
	require.Equal(t, []string{"../../internal/git/git.go", "../../internal/git/gittest/plant.go"}, found) // the second is of tests
}

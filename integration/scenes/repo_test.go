package scenes_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A repo is a git repository with a store, and a provider for recording. Like a real provider's, its ids, times and
// token counts differ between calls.
type repo struct {
	t        *testing.T
	dir      string
	provider *fakeprovider.Server
	options  []traceforgetest.Option // for all recorders
}

func newRepo(t *testing.T, answer func(fakeprovider.Call) fakeprovider.Reply) *repo {
	t.Helper()
	tbtest.Unfiltered(t)
	r := &repo{t: t, dir: t.TempDir(), provider: fakeprovider.New(t)}
	r.provider.Handle(answer)
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("config", "user.name", "A Developer")
	r.git("config", "user.email", "developer@example.com")
	return r
}

func (r *repo) store() string { return filepath.Join(r.dir, ".ai-snapshots") }

// git runs git and returns its output.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.tryGit(args...)
	require.NoError(r.t, err, "git %s: %s", strings.Join(args, " "), out)
	return out
}

func (r *repo) tryGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commit commits the whole store.
func (r *repo) commit(message string) {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message", message)
}

// A program is the body of a test.
type program func(tb *tbtest.TB, tf *traceforgetest.Recorder)

// record runs a test that records, and replays it. Its name must be that of a test in this package.
func (r *repo) record(name string, test program) {
	r.t.Helper()
	r.t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := r.run(name, test)
	require.False(r.t, tb.Failed(), "recording %s: %s", name, tb.Logged())
	r.replay(name, test)
}

// replay runs a test that replays without a provider, and requires success.
func (r *repo) replay(name string, test program) {
	r.t.Helper()
	tb := r.fails(name, test)
	require.False(r.t, tb.Failed(), "replaying %s: %s", name, tb.Logged())
}

// fails runs a test that replays, and returns the result.
func (r *repo) fails(name string, test program) *tbtest.TB {
	r.t.Helper()
	r.t.Setenv("TRACEFORGE_UPDATE", "")
	return r.run(name, test)
}

func (r *repo) run(name string, test program) *tbtest.TB {
	return tbtest.Run(name, func(tb *tbtest.TB) {
		opts := append([]traceforgetest.Option{traceforgetest.Dir(r.store()), traceforgetest.Upstream(r.provider.Transport())}, r.options...)
		test(tb, traceforgetest.New(tb, opts...))
	})
}

// A change is git's diff of the work tree against the last commit.
type change struct {
	files          int
	added, removed []string // lines, without the + and the -
	names          []string
}

func (c change) lines() int { return len(c.added) + len(c.removed) }

// changed returns the change since the last commit.
func (r *repo) changed() (c change) {
	r.t.Helper()
	r.git("add", "--all")
	c.names = strings.Fields(r.git("diff", "--cached", "--name-only", "--no-renames"))
	c.files = len(c.names)
	for line := range strings.Lines(r.git("diff", "--cached", "--unified=0", "--no-renames")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			c.added = append(c.added, line[1:])
		case strings.HasPrefix(line, "-"):
			c.removed = append(c.removed, line[1:])
		}
	}
	return c
}

// documents returns the paths of the store's documents.
func (r *repo) documents() (documents []string) {
	r.t.Helper()
	require.NoError(r.t, filepath.WalkDir(r.store(), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(r.store(), path)
		if err == nil && !d.IsDir() && strings.Count(filepath.ToSlash(rel), "/") == 1 {
			documents = append(documents, path)
		}
		return err
	}))
	return documents
}

// document returns the text of the store's only document.
func (r *repo) document() string {
	r.t.Helper()
	documents := r.documents()
	require.Len(r.t, documents, 1)
	text, err := os.ReadFile(documents[0])
	require.NoError(r.t, err)
	return string(text)
}

// requireSound checks that the store has no findings.
func (r *repo) requireSound() {
	r.t.Helper()
	recorded.RequireSound(r.t, r.store())
}

package gotest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpelledOfAStore checks that command lines name a store that the command would not find.
func TestSpelledOfAStore(t *testing.T) {
	for _, tt := range []struct{ name, why, text, want string }{
		{"verb", "--dir follows the verb", "accept it: traceforge accept a-1", "accept it: traceforge accept --dir 'a b/snaps' a-1"},
		{"several", "each command of a line is run", "traceforge accept --all, or traceforge reject --all",
			"traceforge accept --dir 'a b/snaps' --all, or traceforge reject --dir 'a b/snaps' --all"},
		{"end", "words may follow", "run traceforge repair, which merges", "run traceforge repair --dir 'a b/snaps', which merges"},
		{"named", "what names a store already stays", "traceforge mv --dir x A B", "traceforge mv --dir x A B"},
		{"help", "help is of no store", "run traceforge verify --help", "run traceforge verify --help"},
		{"speaker", "who speaks is not run", "traceforge verify: no store", "traceforge verify: no store"},
		{"tests", "tests find their stores", "buy it: traceforge update TestA", "buy it: traceforge update TestA"},
		{"migrate", "a command of two words", "traceforge snapshot migrate --write", "traceforge snapshot migrate --dir 'a b/snaps' --write"},
		{"packs", "a pack is no store", "traceforge pack verify run.pack", "traceforge pack verify run.pack"},
		{"drift", "what a test said stays", "drifted\n- traceforge verify\n+ traceforge diff", "drifted\n- traceforge verify\n+ traceforge diff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Spelled(tt.text, t.TempDir(), "a b/snaps"), tt.why)
		})
	}
}

// TestSpelled: a command line that is printed works where it is printed.
func TestSpelled(t *testing.T) {
	const line, block = "module m\n\ntool github.com/traceforge/traceforge-go/cmd/traceforge\n",
		"module m\n\ntool (\n\texample.com/other\n\tgithub.com/traceforge/traceforge-go/cmd/traceforge // pinned\n)\n"
	const required = "module m\n\nrequire github.com/traceforge/traceforge-go/cmd/traceforge v1.0.0\n"
	for _, tt := range []struct{ name, why, mod, text, want string }{
		{"line", "a tool of the module", line, "accept it: traceforge accept a-1", "accept it: go tool traceforge accept a-1"},
		{"export", "the way to leave is a command", line, "or traceforge export --to go-vcr", "or go tool traceforge export --to go-vcr"},
		{"block", "go writes several as a block", block, "run traceforge repair, which merges", "run go tool traceforge repair, which merges"},
		{"required", "who requires it need not have it as a tool", required, "run traceforge repair", "run traceforge repair"},
		{"none", "no tool", "module m\n", "run traceforge repair", "run traceforge repair"},
		{"twice", "what says it already stays", line, "run go tool traceforge repair", "run go tool traceforge repair"},
		{"prefix", "who speaks is not run", line, "traceforge: traceforge verify --dir x", "traceforge: go tool traceforge verify --dir x"},
		{"words", "not every word after it is a command", line, "what traceforge writes: traceforge commit", "what traceforge writes: traceforge commit"},
		{"paths", "nor every name that ends so", line, "bin/traceforge verify, my-traceforge verify", "bin/traceforge verify, my-traceforge verify"},
		{"drift", "what a test said stays", line, "drifted\n- traceforge verify\n+ traceforge check\nchanged: system", "drifted\n- traceforge verify\n+ traceforge check\nchanged: system"},
		{"git", "git runs what is in its settings, which init prints", line, "git config diff.traceforge.textconv: traceforge git textconv",
			"git config diff.traceforge.textconv: traceforge git textconv"},
		{"exec", "a program's package is no command line", line, "p in traceforge exec\ntraceforge exec p -- node", "p in traceforge exec\ngo tool traceforge exec p -- node"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(tt.mod), 0o666))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o777))
			require.Equal(t, tt.want, Spelled(tt.text, filepath.Join(dir, "p"), ""), tt.why)
		})
	}
}

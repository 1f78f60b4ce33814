package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"
)

// TestDemo compares the demo's output, except times and hashes.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test five times, and builds the command")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the demo shows a part of this only, without git")
	}
	t.Setenv("TRACEFORGE_UPDATE", "all") // the demo must ignore the caller's variables
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("CI", "true")
	t.Setenv("COLUMNS", "60")
	var out bytes.Buffer
	require.NoError(t, run(&out, "../.."), &out)
	text := regexp.MustCompile(`\d+\.\d+s`).ReplaceAll(out.Bytes(), []byte("0.00s"))
	text = regexp.MustCompile(`(sha256:|index |\.\.)[0-9a-f]{7,}`).ReplaceAll(text, []byte("${1}HASH"))
	goldie.New(t).Assert(t, "demo", text)
}

// TestMissing checks that one line names what the demo cannot get, and that the demo continues without git and without
// the command.
func TestMissing(t *testing.T) {
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "off")
	err := run(&bytes.Buffer{}, "../..")
	require.Error(t, err)
	require.Regexp(t, `^a module that it needs is missing, and no proxy has it: .*module lookup disabled by GOPROXY=off$`, err.Error())

	require.ErrorContains(t, run(&bytes.Buffer{}, t.TempDir()), "the demo runs from the root of the checkout: ")

	checkout, err := filepath.Abs("../..")
	require.NoError(t, err)
	var out bytes.Buffer
	d := &demo{checkout: checkout, module: t.TempDir(), bin: t.TempDir(), out: &out}
	require.NoError(t, os.Mkdir(filepath.Join(d.module, ".ai-snapshots"), 0o777))
	if _, err := exec.LookPath("git"); err == nil {
		require.NoError(t, d.write("a", "a\n"))
		require.NoError(t, d.commit())
		require.NoError(t, d.review())
		require.Regexp(t, `(?m)^    traceforge diff is left out, as the command does not build: .*module lookup disabled by GOPROXY=off$`, out.String())
	}
	t.Setenv("PATH", "")
	require.ErrorContains(t, d.commit(), `exec: "git": executable file not found`)
}

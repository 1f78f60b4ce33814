package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
)

// TestResultIsNoLinkOut: a file that a flag names is not written where a link of the repository leads out of it.
func TestResultIsNoLinkOut(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	outside := t.TempDir()
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, top, map[string]string{"sub/inner.xml": "", "reports.xml": "", "sub/deep/x": ""})
	gittest.Write(t, outside, map[string]string{"junit.xml": "theirs"})
	for link, target := range map[string]string{
		"sub/out.xml": filepath.Join(outside, "junit.xml"), "sub/new.xml": filepath.Join(outside, "new.xml"), "dir": outside,
		"sub/config.xml": "../.git/config", "sub/in.xml": "inner.xml",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(top, link)))
	}
	t.Chdir(filepath.Join(top, "sub"))
	for file, want := range map[string]string{
		"out.xml": "out.xml is a link that leads out of the repository", "../dir/junit.xml": "../dir/junit.xml is a link that leads out of the repository",
		"new.xml": "new.xml is a link to what does not exist", "config.xml": "config.xml is a link that leads out of the repository",
		filepath.Join(top, "sub", "out.xml"): "leads out of the repository",
	} {
		require.ErrorContains(t, writeResult(file, []byte("ours")), want)
	}
	for _, file := range []string{"in.xml", "plain.xml", "../reports.xml", filepath.Join(outside, "named.xml"), filepath.Join(top, "abs.xml")} {
		require.NoError(t, writeResult(file, []byte("ours")), file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "ours", string(text))
	}
	text, err := os.ReadFile(filepath.Join(outside, "junit.xml"))
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
	require.NoFileExists(t, filepath.Join(outside, "new.xml"))
}

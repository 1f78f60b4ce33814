package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page/pagetest"
)

// run calls the command in this process.
func run(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, said bytes.Buffer
	code = traceforge(context.Background(), args, strings.NewReader(stdin), &out, &said)
	return code, out.String(), said.String()
}

// One character that changes anywhere in a store is found, with the name of its file.
func TestVerifyEveryByte(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, pagetest.MakeStore(dir, "plain", "turn1", "stream"))
	code, _, said := run("", "verify", "--dir", dir)
	require.Equal(t, exitClean, code, said)

	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	require.Len(t, files, 9, "3 documents, 3 raw answers, the manifest, .gitattributes and .gitignore")
	const positions = 40
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for at := 0; at < len(data); at += max(1, len(data)/positions) {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1
			require.NoError(t, os.WriteFile(file, flipped, 0o666))
			code, found, _ := run("", "verify", "--dir", dir)
			require.Equal(t, exitFindings, code, "%s, byte %d", file, at)
			require.Contains(t, found, filepath.ToSlash(file), "byte %d", at)
		}
		require.NoError(t, os.WriteFile(file, data, 0o666))
	}
}

func TestVerifyNameThatDrivesTheTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such file names")
	}
	dir := t.TempDir()
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openai", "evil\x1b[2J\nopenai.json"), nil, 0o666))
	for _, args := range [][]string{{"verify", "--dir", dir}, {"verify", "--json", "--dir", dir}} {
		code, found, _ := run("", args...)
		require.Equal(t, exitFindings, code)
		require.Equal(t, 1, strings.Count(found, "\n"))
		require.Contains(t, found, `\u001b[2J\nopenai.json`)
		require.NotContains(t, found, "\x1b")
	}
}

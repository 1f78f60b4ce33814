// Package gittest plants what has git run programs, for tests that it does not.
package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// settings are what config has git run, all of which makes a marker.
const settings = `[core]
	fsmonitor = "touch '%[1]s'; false"
	sshCommand = "touch '%[1]s'; false"
	gitProxy = "touch '%[1]s'; false"
	pager = "touch '%[1]s'; cat"
[extensions]
	partialClone = origin
[remote "origin"]
	url = ssh://localhost.invalid/planted
	promisor = true
	uploadpack = "touch '%[1]s'; false"
[filter "planted"]
	clean = "touch '%[1]s'; cat"
	smudge = "touch '%[1]s'; cat"
	required
[diff]
	external = "touch '%[1]s'; true"
[diff "planted"]
	command = "touch '%[1]s'; true"
	textconv = "touch '%[1]s'; cat"
[alias]
	lfs = "!touch '%[1]s'"
`

// Attributes are what has the drivers of a config run for all files.
const Attributes = "* filter=planted diff=planted\n"

// Plant puts files into a directory, such as a commit can hold, that make it a repository to a git that is started
// there.
func Plant(t testing.TB, dir, marker string) {
	t.Helper()
	Write(t, dir, map[string]string{
		"HEAD":                    "ref: refs/heads/main\n",
		"config":                  "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = .\n\thooksPath = hooks\n[include]\n\tpath = included\n",
		"included":                fmt.Sprintf(settings, marker),
		"objects/info/alternates": "../../../.git/objects\n",
		"refs/heads/none":         "",
		".gitmodules": "[submodule \"planted\"]\n\tpath = planted\n\turl = ext::touch " +
			strings.ReplaceAll(marker, " ", "% ") + "\n",
		"hooks/post-index-change": "#!/bin/sh\ntouch '" + marker + "'\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "hooks", "post-index-change"), 0o755))
}

// Configure plants the same in the own config of a repository.
func Configure(t testing.TB, gitDir, marker string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(gitDir, "config"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, settings, marker)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	hook := filepath.Join(gitDir, "hooks", "post-index-change")
	Write(t, gitDir, map[string]string{"hooks/post-index-change": "#!/bin/sh\ntouch '" + marker + "'\n"})
	require.NoError(t, os.Chmod(hook, 0o755))
}

// Write writes files, by their paths in a directory.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
}

// Try runs git as a user does who has no config, with variables besides.
func Try(dir string, variables []string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"), variables...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Run is Try of what must not fail.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := Try(dir, nil, args...)
	require.NoError(t, err, out)
	return out
}

// RequireLive fails unless git runs what is planted when it is started in a directory.
func RequireLive(t testing.TB, dir, marker string) {
	t.Helper()
	_, _ = Try(dir, nil, "status")
	require.FileExists(t, marker, "what is planted in %s is dead", dir)
	require.NoError(t, os.Remove(marker))
}

// Package publish makes a release of the last commit on disk and uses it like a stranger: by its version, from a module
// proxy, without the checkout.
package publish

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestPublished runs scripts with an empty module cache and a proxy that has our release. Other modules come from this
// user's caches or from their usual source.
func TestPublished(t *testing.T) {
	if os.Getenv("TRACEFORGE_TEST_ALL") == "" {
		t.Skip("builds all that users install; make check sets TRACEFORGE_TEST_ALL")
	}
	version := nextVersion(t)
	release := t.TempDir()
	made, err := exec.Command("../../.ci/publish", version, release).CombinedOutput()
	require.NoError(t, err, "%s", made)

	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache := strings.Split(strings.TrimSpace(string(caches)), "\n")
	checkout, err := filepath.Abs("../..")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			server, err := fakeprovider.Start()
			if err != nil {
				return err
			}
			server.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
				return fakeprovider.Text("AI changes how software is made.")
			})
			env.Defer(server.Close)
			env.Vars = append(env.Vars,
				"VERSION="+version, "PROVIDER="+server.URL(), "RELEASE="+filepath.Join(release, "repo"),
				"GOCACHE="+cache[0], "GOMODCACHE="+filepath.Join(release, "cache"), "GOBIN="+filepath.Join(env.WorkDir, "bin"),
				"GOPROXY=file://"+filepath.Join(release, "proxy")+",file://"+filepath.Join(cache[1], "cache", "download")+","+cache[2],
				"GOSUMDB=off", // it does not know unpublished releases
				"GOWORK=off", "GOTOOLCHAIN=local",
				"GOFLAGS=-trimpath -modcacherw", // with -trimpath, builds from other caches can be reused
				"TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"readme": func(ts *testscript.TestScript, neg bool, args []string) {
				text, err := os.ReadFile(filepath.Join(checkout, "README.md"))
				ts.Check(err)
				readmeCommand(ts, neg, string(text), args)
			},
			"accept": acceptCommand,
		},
	})
}

// readmeCommand uses the README literally. It writes the README's first test into FILE, after the text of the file HEAD
// unless the test has a package clause. Or it runs the README's command that begins with COMMAND.
//
//	readme test HEAD FILE
//	readme run COMMAND
func readmeCommand(ts *testscript.TestScript, neg bool, readme string, args []string) {
	switch {
	case len(args) == 3 && args[0] == "test" && !neg:
		block := regexp.MustCompile("(?s)```go\n([^`]*func Test.*?)```").FindStringSubmatch(readme)
		if block == nil {
			ts.Fatalf("the README has no test")
		}
		text := block[1]
		if !strings.HasPrefix(text, "package ") {
			text = ts.ReadFile(args[1]) + "\n" + text
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o666))
	case len(args) == 2 && args[0] == "run":
		for line := range strings.Lines(readme) {
			command := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
			if strings.HasPrefix(command, args[1]) {
				shell(ts, neg, command)
				return
			}
		}
		ts.Fatalf("the README has no command %q…", args[1])
	default:
		ts.Fatalf("usage: readme test HEAD FILE, or readme run COMMAND")
	}
}

// acceptCommand runs the command that the last go test printed to accept a change, as a shell runs it.
func acceptCommand(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(`(?m)^\s+accept: (.*)$`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("the output names no command that accepts")
	}
	shell(ts, neg, m[1])
}

func shell(ts *testscript.TestScript, neg bool, command string) {
	ts.Logf("$ %s", command)
	if err := ts.Exec("sh", "-c", command); (err != nil) != neg {
		ts.Fatalf("%s: %v", command, err)
	}
}

// newVersion is what TestVersions writes into the documents, if anything.
var newVersion = flag.String("version", "", "name this version in the documents")

// pinned are the places in our documents that name a version of ours.
var pinned = regexp.MustCompile(`(traceforge/traceforge-go[a-z/]*@|rev: )([A-Za-z0-9.-]+)`)

// nextVersion returns the version that the documents name: the one that is released next, or last. They all name the
// same.
func nextVersion(t *testing.T) (version string) {
	t.Helper()
	for _, file := range trackedDocuments(t) {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		for _, m := range pinned.FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, `^v\d+\.\d+\.\d+$`, m[2], "%s: %s names no version", file, m[0])
			if version == "" {
				version = m[2]
			}
			require.Equal(t, version, m[2], "%s: %s", file, m[0])
		}
	}
	require.NotEmpty(t, version)
	return version
}

// rename writes a version into the documents.
func rename(t *testing.T, version string) {
	t.Helper()
	for _, file := range trackedDocuments(t) {
		path := filepath.Join("../..", file)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if renamed := pinned.ReplaceAll(text, []byte("${1}"+version)); !bytes.Equal(text, renamed) {
			require.NoError(t, os.WriteFile(path, renamed, 0o666))
		}
	}
}

func trackedDocuments(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.md", "action.yml", ".pre-commit-hooks.yaml").Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// TestVersions holds that all lines that name a version of ours name the same, and that the changelog leads to it.
func TestVersions(t *testing.T) {
	if *newVersion != "" {
		rename(t, *newVersion)
	}
	version := nextVersion(t)
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	headings := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(changelog), -1)
	require.NotEmpty(t, headings)
	require.Equal(t, "Unreleased", headings[0][1], "what is not released comes first, also where it is nothing")
	for i, heading := range headings[1:] {
		require.Regexp(t, `^v\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$`, heading[1])
		require.True(t, i > 0 || strings.HasPrefix(heading[1], version+" "), "the documents name %s, and the last release is %s", version, heading[1])
	}
}

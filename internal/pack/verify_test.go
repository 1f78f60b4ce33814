package pack_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestVerifyValid(t *testing.T) {
	dir := t.TempDir()
	p := aPack(t)
	require.NoError(t, p.Write(dir))
	report, err := pack.Verify(dir)
	require.NoError(t, err)
	require.True(t, report.OK(), report)
	for file, schema := range map[string]string{pack.RunFile: "run", pack.SessionFile: "model_io"} {
		require.NoError(t, schematest.Validate(schema, []byte(readDir(t, dir)[file])))
	}
	hash := string(p.Run.ModelIOHash)
	path, err := json.Marshal(dir)
	require.NoError(t, err)
	require.Equal(t, `{"files_verified":["model_io.json","run.json"],"ok":true,"pack_path":`+string(path)+
		`,"reference_checks":[{"computed":"`+hash+`","expected":"`+hash+`","field":"model_io_hash","match":true,"source":"run.json","target":"model_io.json"}]}`,
		report.String())
}

func TestVerifyBroken(t *testing.T) {
	edit := func(name, old, new string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(data), old)
			require.NoError(t, os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(new), 1), 0o600))
		}
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	const other = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	run := aPack(t).Run
	hash, first, second := string(run.ModelIOHash), run.Snapshots[0].ID, run.Snapshots[1].ID

	tests := []struct {
		name, why string
		harm      func(t *testing.T, dir string)
		want      []string
	}{{
		name: "empty", why: "both files are required",
		harm: func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "run.json")))
			require.NoError(t, os.Remove(filepath.Join(dir, "model_io.json")))
		},
		want: []string{"model_io.json: PK1: required file missing: model_io.json", "run.json: PK1: required file missing: run.json"},
	}, {
		name: "unknown_files", why: "a pack has no other files, sorted as strings",
		harm: func(t *testing.T, dir string) {
			write("b.txt", "")(t, dir)
			write("a.txt", "")(t, dir)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "c"), 0o700))
		},
		want: []string{"c: PK12: not a regular file: c", "a.txt: PK2: unknown file in pack: a.txt", "b.txt: PK2: unknown file in pack: b.txt", "c: PK2: unknown file in pack: c"},
	}, {
		name: "link", why: "a link can lead anywhere, so it is not followed",
		harm: func(t *testing.T, dir string) {
			path := filepath.Join(dir, "model_io.json")
			target := filepath.Join(t.TempDir(), "elsewhere")
			require.NoError(t, os.Rename(path, target))
			if err := os.Symlink(target, path); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
		},
		want: []string{"model_io.json: PK1: required file missing: model_io.json", "model_io.json: PK6: file is a symbolic link: model_io.json"},
	}, {
		name: "other_session", why: "the session is valid, but not the one of the run",
		harm: edit("run.json", hash, other),
		want: []string{"model_io.json: PK5: hash mismatch: run.json references " + other + ", but model_io.json computes to " + hash},
	}, {
		name: "invalid_session", why: "MI1 to MI12 hold in a pack",
		harm: edit("model_io.json", `"mode":"record"`, `"mode":"RECORD"`),
		want: []string{"model_io.json: PK8: MI3: $.mode: mode must be one of [record, replay], got RECORD"},
	}, {
		name: "session_no_json", why: "what cannot be read is a violation, not an error",
		harm: write("model_io.json", "{"),
		want: []string{"model_io.json: PK8: failed to parse: top level: offset 1: invalid JSON: unexpected end, want a member name"},
	}, {
		name: "run_no_json", why: "the session is still judged",
		harm: func(t *testing.T, dir string) {
			write("run.json", `{"a":1,"a":2}`)(t, dir)
			edit("model_io.json", `"i":0`, `"i":7`)(t, dir)
		},
		want: []string{
			`run.json: PK3: failed to parse: /a: offset 7: duplicate member name "a"`,
			"model_io.json: PK8: MI5: $.interactions[0].i: index must be 0, got 7",
			"model_io.json: PK8: MI9: $.interactions[1]: interactions not sorted by i: 7 >= 1",
		},
	}, {
		name: "run_no_object", why: "PK3",
		harm: write("run.json", `[]`),
		want: []string{"run.json: PK3: top level: want an object"},
	}, {
		name: "run_null", why: "PK3",
		harm: write("run.json", `null`),
		want: []string{"run.json: PK3: top level: want an object"},
	}, {
		name: "run_empty_object", why: "all that is missing is named",
		harm: write("run.json", `{}`),
		want: []string{
			"run.json: PK3: /model_io_hash: required member is missing",
			"run.json: PK3: /package: required member is missing",
			"run.json: PK3: /run_schema_version: required member is missing",
			"run.json: PK3: /snapshots: required member is missing",
			"run.json: PK3: /test: required member is missing",
		},
	}, {
		name: "run_huge", why: "nobody can make us read a file of any size into memory",
		harm: func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "run.json"), 16<<20+1))
		},
		want: []string{"run.json: PK3: file size (16777217 bytes) exceeds limit (16777216)"},
	}, {
		name: "run_types", why: "all that is wrong is named",
		harm: write("run.json", `{"model_io_hash":"sha256:0","package":1,"run_schema_version":"2.0.0","snapshots":{},"test":"","x~/y":null}`),
		want: []string{
			"run.json: PK3: /model_io_hash: want sha256:<64 hex chars>, got sha256:0",
			"run.json: PK3: /package: want a non-empty string",
			"run.json: PK3: /run_schema_version: version 2.0.0 is not supported: want 1.0.0",
			"run.json: PK3: /snapshots: want a list",
			"run.json: PK3: /test: want a non-empty string",
			"run.json: PK3: /x~0~1y: unknown member",
		},
	}, {
		name: "run_null_members", why: "null is no value",
		harm: write("run.json", `{"model_io_hash":null,"package":null,"run_schema_version":null,"snapshots":null,"test":null}`),
		want: []string{
			"run.json: PK3: /model_io_hash: want a non-empty string",
			"run.json: PK3: /package: want a non-empty string",
			"run.json: PK3: /run_schema_version: want a non-empty string",
			"run.json: PK3: /snapshots: want a list",
			"run.json: PK3: /test: want a non-empty string",
		},
	}, {
		name: "snapshots_types", why: "each snapshot is judged",
		harm: edit("run.json", `"snapshots":[`, `"snapshots":[7,{"id":"`+first+`","x":1},`),
		want: []string{
			"run.json: PK3: /snapshots/0: want an object",
			"run.json: PK3: /snapshots/1/hash: required member is missing",
			"run.json: PK3: /snapshots/1/x: unknown member",
			"run.json: PK3: /snapshots/2/id: snapshot " + first + " is named twice",
			"run.json: PK5: 3 snapshots, but model_io.json has 2 interactions",
		},
	}, {
		name: "snapshot_twice", why: "each interaction comes from a snapshot of its own",
		harm: edit("run.json", second, first),
		want: []string{"run.json: PK3: /snapshots/1/id: snapshot " + first + " is named twice"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, aPack(t).Write(dir))
			tt.harm(t, dir)
			report, err := pack.Verify(dir)
			require.NoError(t, err)
			var got []string
			for _, v := range report.Findings {
				got = append(got, v.String())
			}
			require.Equal(t, tt.want, got, tt.why)
			require.True(t, strings.HasPrefix(report.String(), `{"ok":false,"pack_path":`))
		})
	}
}

func TestVerifyLinkedPack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, aPack(t).Write(dir))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for _, path := range []string{link, link + string(filepath.Separator)} { // as a shell completes it
		report, err := pack.Verify(path)
		require.NoError(t, err)
		require.Equal(t, []snapshot.Finding{{Rule: "PK6", File: path, Message: "pack path is a symbolic link"}}, report.Findings)
		require.EqualError(t, aPack(t).Write(path), "write pack: "+path+" is not a directory")
	}
}

func TestVerifyNoPack(t *testing.T) {
	_, err := pack.Verify(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = pack.Verify(file)
	require.ErrorContains(t, err, "verify pack: ")
}

// The model_io.json of every fixture of the reference gets the reference's verdict. Its other
// files are those of another kernel, so the fixtures are no packs of ours.
func TestVerifyFixtures(t *testing.T) {
	root := vectors(t, "model-io")
	data, err := os.ReadFile(filepath.Join(root, "pack_oracle.json"))
	require.NoError(t, err)
	var oracle map[string]struct {
		OK    bool     `json:"ok"`
		Files []string `json:"files_verified"`
	}
	require.NoError(t, json.Unmarshal(data, &oracle))
	require.Len(t, oracle, 9)
	sessions := 0
	for name, want := range oracle {
		dir := filepath.Join(root, "packs", name)
		report, err := pack.Verify(dir)
		require.NoError(t, err)
		require.False(t, report.OK(), name)

		f, err := os.Open(filepath.Join(dir, "model_io.json"))
		if os.IsNotExist(err) {
			require.NotContains(t, want.Files, "model_io.json")
			continue
		}
		require.NoError(t, err)
		is, err := session.VerifyReader(f, session.VerifyOptions{})
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, want.OK, is.OK(), name)
		for _, v := range report.Findings {
			require.NotEqual(t, "PK8", v.Rule, name)
		}
		sessions++
	}
	require.Equal(t, 1, sessions)
}

// vectors returns a directory of test vectors, and skips the test where there are none.
func vectors(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("TRACEFORGE_VECTORS")
	if root == "" {
		dir, err := os.Getwd()
		require.NoError(t, err)
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			require.NotEqual(t, filepath.Dir(dir), dir, "no go.mod above the working directory")
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(filepath.Dir(dir), "shared", "vectors")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no test vectors: %s does not exist; TRACEFORGE_VECTORS says where they are", path)
	}
	return path
}

package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	raw := func(answer string) string { return string(canon.Sum(fmt.Appendf(nil, "{\"answer\":%q}\n", answer))) }
	const rawPointer = "/snapshots/0/response/raw_output_ref"
	for _, c := range []struct {
		name, reason string
		change       func(t *testing.T, dir string)
		want         []snapshot.Finding
	}{
		{"raw-missing", "replay could not serve it",
			func(t *testing.T, dir string) { removeFile(t, dir, rawOf("TestX", 1)) },
			[]snapshot.Finding{{File: fileOf("TestX"), Pointer: rawPointer, Rule: "raw",
				Message: "names " + raw("one") + ", but " + rawOf("TestX", 1) + " is missing"}}},
		{"raw-altered", "replay serves what was recorded",
			func(t *testing.T, dir string) { writeFile(t, dir, rawOf("TestX", 1), "x") },
			[]snapshot.Finding{{File: rawOf("TestX", 1), Rule: "raw", Message: "has the hash " + string(canon.Sum([]byte("x"))) +
				", but " + nameOf("TestX") + ".json names " + raw("one") + " at " + rawPointer}}},
		{"raw-conflict", "a merge driver of the user's may have merged it",
			func(t *testing.T, dir string) {
				writeFile(t, dir, rawOf("TestX", 1), "a\n<<<<<<< x\n=======\n>>>>>>> y\n")
			},
			[]snapshot.Finding{{File: rawOf("TestX", 1), Rule: "conflict", Message: "line 2 is a conflict marker of a merge"}}},
		{"raw-without-record", "nobody reviews it",
			func(t *testing.T, dir string) { writeFile(t, dir, rawOf("TestX", 7), "x") },
			[]snapshot.Finding{{File: rawOf("TestX", 7), Rule: "stray", Message: "is named by no record: traceforge prune removes it"}}},
		{"raw-without-document", "nobody reviews it",
			func(t *testing.T, dir string) { removeFile(t, dir, fileOf("TestX")) },
			[]snapshot.Finding{{File: "openai/" + nameOf("TestX"), Rule: "stray", Message: "its document " + fileOf("TestX") +
				" is missing: put it back; traceforge prune --write removes the answers"}}},
		{"other-name", "the test would not find it",
			func(t *testing.T, dir string) {
				require.NoError(t, os.Rename(filepath.Join(dir, fileOf("TestY")), filepath.Join(dir, fileOf("TestZ"))))
				require.NoError(t, os.Rename(filepath.Join(dir, "openai", nameOf("TestY")), filepath.Join(dir, "openai", nameOf("TestZ"))))
			},
			[]snapshot.Finding{{File: fileOf("TestZ"), Pointer: "/snapshots/0/id", Rule: "name",
				Message: `is "` + nameOf("TestY") + `-1", must be ` + nameOf("TestZ") + "-<n>, as the file's name says"}}},
		{"two-providers", "a test has one document",
			func(t *testing.T, dir string) {
				require.NoError(t, os.CopyFS(filepath.Join(dir, "anthropic"), os.DirFS(filepath.Join(dir, "openai"))))
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "anthropic", nameOf("TestX"))))
				removeFile(t, dir, store.DocumentFile("anthropic", nameOf("TestX")))
			},
			[]snapshot.Finding{{File: fileOf("TestY"), Rule: "duplicate",
				Message: "is the document of the same test as " + store.DocumentFile("anthropic", nameOf("TestY")) + ": delete one"}}},
		{"strays", "what is in a store is reviewed",
			func(t *testing.T, dir string) {
				for _, file := range []string{"README", "openai/README", "openai/" + nameOf("TestX") + "/README", "openai/" + nameOf("TestX") + "/01.json",
					fileOf("TestX") + store.TempExt, "Upper/x", "openai/UPPER.json"} {
					writeFile(t, dir, file, "x")
				}
			},
			[]snapshot.Finding{
				{File: "README", Rule: "stray", Message: Stray},
				{File: "Upper", Rule: "stray", Message: Stray},
				{File: "openai/README", Rule: "stray", Message: Stray},
				{File: "openai/UPPER.json", Rule: "stray", Message: Stray},
				{File: fileOf("TestX") + store.TempExt, Rule: "stray", Message: "is left of a commit that was cut short: traceforge repair removes it"},
				{File: "openai/" + nameOf("TestX") + "/01.json", Rule: "stray", Message: Stray},
				{File: "openai/" + nameOf("TestX") + "/README", Rule: "stray", Message: Stray}}},
		{"links", "a link leads to what nobody reviews",
			func(t *testing.T, dir string) {
				removeFile(t, dir, fileOf("TestY"))
				require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "x"), filepath.Join(dir, fileOf("TestY"))))
				require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "anthropic")))
			},
			[]snapshot.Finding{
				{File: "anthropic", Rule: "stray", Message: "is a link, and a store holds files: put the file in its place"},
				{File: "openai/" + nameOf("TestY"), Rule: "stray", Message: "its document " + fileOf("TestY") +
					" is missing: put it back; traceforge prune --write removes the answers"},
				{File: fileOf("TestY"), Rule: "stray", Message: "is a link, and a store holds files: put the file in its place"}}},
		{"attributes", "git would change line ends, or track what it must not",
			func(t *testing.T, dir string) {
				removeFile(t, dir, store.AttributesName)
				writeFile(t, dir, store.IgnoreName, "")
			},
			[]snapshot.Finding{
				{File: ".gitattributes", Rule: "attributes", Message: "is missing, or differs from what traceforge writes: traceforge repair, or the next commit, writes it"},
				{File: ".gitignore", Rule: "attributes", Message: "is missing, or differs from what traceforge writes: traceforge repair, or the next commit, writes it"}}},
		{"users-own", "these are nobody else's",
			func(t *testing.T, dir string) {
				writeFile(t, dir, store.ConfigName, "{}")
				writeFile(t, dir, ".pending/openai/x.json", "{}")
			}, nil},
		{"submodule", "deleting it would cut the submodule off, or the linked work tree",
			func(t *testing.T, dir string) { writeFile(t, dir, ".git", "gitdir: ../.git/modules/snapshots\n") }, nil},
		{"own-repository", "deleting it would lose the history",
			func(t *testing.T, dir string) { writeFile(t, dir, ".git/HEAD", "ref: refs/heads/main\n") }, nil},
		{"link-elsewhere", "a repository is at the top of a store, if there is one",
			func(t *testing.T, dir string) { writeFile(t, dir, "openai/.git", "gitdir: x\n") },
			[]snapshot.Finding{{File: "openai/.git", Rule: "stray", Message: Stray}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestY", call{1, "y?", "y"}))
			removeFile(t, dir, store.ManifestName)
			c.change(t, dir)
			before := tree(t, dir)
			result, err := Verify(s)
			require.NoError(t, err)
			require.ElementsMatch(t, c.want, result.Findings, c.reason)
			require.Empty(t, result.Notes)
			require.Equal(t, before, tree(t, dir), "Verify changes nothing")
		})
	}
}

// TestVerifyFindsEveryAlteredByte checks that a change of any byte of any file gives a finding or a note that names the
// file.
func TestVerifyFindsEveryAlteredByte(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), mediaOf("TestY", []byte("image")))
	for file, content := range tree(t, dir) {
		for i := 0; i < len(content); i += sampled(7, 1) {
			altered := []byte(content)
			altered[i] ^= 1
			writeFile(t, dir, file, string(altered))
			result, err := Verify(s)
			require.NoError(t, err)
			named := false
			for _, f := range append(result.Findings, result.Notes...) {
				named = named || f.File == file
			}
			require.True(t, named, "byte %d of %s: %s", i, file, altered[max(0, i-20):min(len(altered), i+20)])
		}
		writeFile(t, dir, file, content)
	}
	requireWhole(t, s)
}

func TestVerifyChecks(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestY", call{1, "y?", "y"}))
	result, err := Verify(s, func(d *store.Doc) []snapshot.Violation {
		if raw, err := d.Raw(0); err != nil || !bytes.Contains(raw, []byte("one")) {
			return nil
		}
		return []snapshot.Violation{{Pointer: "/snapshots/0", Rule: "lint", Message: "says one"}}
	})
	require.NoError(t, err)
	require.Equal(t, []snapshot.Finding{{File: fileOf("TestX"), Pointer: "/snapshots/0", Rule: "lint", Message: "says one"}}, result.Findings)
	require.Equal(t, 2, result.Documents)
	require.Equal(t, 3, result.Calls)
}

// TestVerifyCounts: documents count that cannot be read, with their calls where only a hash is wrong.
func TestVerifyCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		edit  func(content string) string
		calls int
	}{
		"sealed":   {func(content string) string { return content }, 2},
		"altered":  {func(content string) string { return strings.Replace(content, "one?", "eins?", 1) }, 2},
		"unparsed": {func(string) string { return "{" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestY", call{1, "y?", "y"}))
			content, err := os.ReadFile(s.Path(fileOf("TestX")))
			require.NoError(t, err)
			writeFile(t, dir, fileOf("TestX"), tt.edit(string(content)))
			result, err := Verify(s)
			require.NoError(t, err)
			require.Equal(t, 2, result.Documents)
			require.Equal(t, 1+tt.calls, result.Calls)
			require.Equal(t, name == "sealed", len(result.Findings) == 0, "%v", result.Findings)
		})
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}), putOf("TestZ", call{1, "z?", "z"}))
	writeFile(t, dir, rawOf("TestX", 7), "x")
	removeFile(t, dir, fileOf("TestY"))
	writeFile(t, dir, fileOf("TestZ"), "broken")
	pruned, err := Prune(s)
	require.NoError(t, err)
	require.Equal(t, []string{rawOf("TestX", 7), rawOf("TestY", 1)}, pruned)
	require.Contains(t, tree(t, dir), rawOf("TestZ", 1), "what a broken document names is not known")
	require.NoDirExists(t, filepath.Join(dir, "openai", nameOf("TestY")))
}

// TestVerifyBeforeTheFirstCommitEnds checks that a store with only a new lock file, or with pending answers too, has no
// finding.
func TestVerifyBeforeTheFirstCommitEnds(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	require.NoError(t, os.MkdirAll(dir, 0o777))
	requireWhole(t, s)
	writeFile(t, dir, store.AttributesName, "")
	requireWhole(t, s)
	commit(t, s.Pending(), putOf("TestX", call{1, "one?", "one"}))
	requireWhole(t, s)
	some, err := VerifyFiles(s, nil)
	require.NoError(t, err)
	require.Empty(t, some.Findings)
}

// TestVerifyIrregular checks that what is in the place of a file that traceforge writes is to be removed, and that nothing
// is written before that.
func TestVerifyIrregular(t *testing.T) {
	t.Parallel()
	for _, file := range []string{store.AttributesName, store.IgnoreName, store.ManifestName} {
		for _, isLink := range []bool{false, true} {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}))
			removeFile(t, dir, file)
			if !isLink {
				writeFile(t, dir, file+"/x", "x")
			} else if err := os.Symlink("nowhere", filepath.Join(dir, file)); err != nil {
				t.Skip("no symbolic links: ", err)
			}
			before := tree(t, dir)
			result, err := Verify(s)
			require.NoError(t, err)
			require.Equal(t, snapshot.RuleStray, result.Findings[len(result.Findings)-1].Rule)
			if file != store.ManifestName {
				require.Len(t, result.Findings, 2)
				require.Equal(t, "is no regular file: remove it, and traceforge repair, or the next commit, writes it", result.Findings[0].Message)
			}
			_, err = Repair(s)
			switch {
			case !isLink:
				require.ErrorContains(t, err, ": remove it", file)
				if file != store.ManifestName {
					require.ErrorContains(t, s.Commit(store.Change{Put: []store.Put{putOf("TestY", call{1, "y?", "y"})}}), "is no regular file")
				}
			case file != store.ManifestName:
				require.ErrorIs(t, err, store.ErrLinked, file)
			default:
				require.NoError(t, err, "the link goes")
				continue
			}
			require.Equal(t, before, tree(t, dir), file)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, file)))
			_, err = Repair(s)
			require.NoError(t, err)
			requireVerified(t, s)
		}
	}
}

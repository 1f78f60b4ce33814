package audit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/commandline"
	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A gitScene is a git repository with a store in a user's configuration: no merge driver, and only a user name.
type gitScene struct {
	t     *testing.T
	dir   string
	store *store.Store
	clock int // seconds between two commands, by which git orders commits; a negative clock goes back
	now   int
}

// newRepository returns a repository with the given documents on branch main.
func newRepository(t *testing.T, puts ...store.Put) *gitScene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: ", err)
	}
	r := &gitScene{t: t, dir: t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.store = openAt(t, filepath.Join(r.dir, ".ai-snapshots"))
	r.commit(puts...)
	return r
}

func (r *gitScene) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	require.NoError(r.t, err, out)
	return out
}

func (r *gitScene) try(args ...string) (string, error) {
	r.now += r.clock
	return gittest.Try(r.dir, []string{fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", 1800000000+r.now)}, args...)
}

// commit commits documents to the store and to git.
func (r *gitScene) commit(puts ...store.Put) {
	r.t.Helper()
	commit(r.t, r.store, puts...)
	r.stage()
}

func (r *gitScene) stage() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "recorded")
}

// branches commits theirs on a branch and ours on main, and merges. It reports whether git could merge.
func (r *gitScene) branches(ours, theirs func()) bool {
	r.t.Helper()
	r.git("checkout", "-q", "-b", "theirs")
	theirs()
	r.git("checkout", "-q", "main")
	ours()
	_, err := r.try("merge", "-q", "--no-edit", "theirs")
	return err == nil
}

// conflicts returns the files that git could not merge.
func (r *gitScene) conflicts() []string {
	r.t.Helper()
	return strings.Fields(r.git("diff", "--name-only", "--diff-filter=U", "--relative=.ai-snapshots"))
}

// requireVerified checks that Verify finds nothing. A manifest that lags is allowed.
func requireVerified(t *testing.T, s *store.Store) {
	t.Helper()
	result, err := Verify(s)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
}

// heal repairs the store, runs the command in the report, and commits the merge.
func (r *gitScene) heal(theirs ...string) *Report {
	r.t.Helper()
	report, err := Repair(r.store, theirs...)
	require.NoError(r.t, err)
	require.Empty(r.t, report.Left)
	requireVerified(r.t, r.store)
	_, command, ok := strings.Cut(report.String(), "now: git ")
	require.True(r.t, ok, report.String())
	command, _, _ = strings.Cut(command, "\n")
	words, ok := commandline.Words(command)
	require.True(r.t, ok, command)
	r.git(words...)
	require.Empty(r.t, r.conflicts())
	r.git("commit", "-q", "-m", "merged")
	require.Empty(r.t, r.git("status", "--porcelain"))
	return report
}

// TestBranchesThatDoNotConflict checks that git merges recordings of different tests without a driver.
func TestBranchesThatDoNotConflict(t *testing.T) {
	t.Parallel()
	one := call{1, "one?", "one"}
	other := func(p store.Put, pkg string) store.Put {
		source := &p.Document.Snapshots[0].Source
		source.Package = pkg
		p.Name = snapshot.DocumentName(pkg, source.Test)
		p.Document.Snapshots[0].ID = snapshot.ID(p.Name, 1)
		return p
	}
	shared := func(system string, tests ...string) (puts []store.Put) {
		for _, test := range tests {
			puts = append(puts, putWith(test, system, call{1, "one?", "one of " + test}))
		}
		return puts
	}
	first, second := []string{"TestA1", "TestA2", "TestA3", "TestA4"}, []string{"TestB1", "TestB2", "TestB3", "TestB4"}
	for _, c := range []struct {
		name, reason       string
		base, ours, theirs []store.Put
	}{
		{"packages", "tests of different packages have documents of their own", nil,
			[]store.Put{other(putOf("TestX", one), "example.com/ours")}, []store.Put{other(putOf("TestX", one), "example.com/theirs")}},
		{"tests", "so have different tests of a package", []store.Put{putOf("TestX", one), putOf("TestY", one)},
			[]store.Put{putOf("TestX", call{1, "one?", "ours"}), putOf("TestNew", one)}, []store.Put{putOf("TestY", call{1, "one?", "theirs"}, call{2, "two?", "two"})}},
		{"prompts", "a prompt that four tests share is in four documents", append(shared(system, first...), shared(system, second...)...),
			shared("Ours.\n"+system, first...), shared("Theirs.\n"+system, second...)},
		{"answers", "the same answer of two tests is two files", nil,
			[]store.Put{putOf("TestX", one)}, []store.Put{putOf("TestY", one)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t, append(c.base, putOf("TestBase", one))...)
			merged := r.branches(func() { r.commit(c.ours...) }, func() { r.commit(c.theirs...) })
			require.True(t, merged, c.reason)
			requireVerified(t, r.store)
			require.NotContains(t, r.git("ls-files"), store.ManifestName)
			report, err := Repair(r.store)
			require.NoError(t, err)
			require.Empty(t, report.String())
			requireWhole(t, r.store)
		})
	}
}

// TestBothRecordedTheSameTest checks that Repair merges a document in conflict by its records.
func TestBothRecordedTheSameTest(t *testing.T) {
	t.Parallel()
	base := []call{{1, "one?", "one"}, {2, "two?", "two"}, {3, "three?", "three"}}
	id := nameOf("TestX") + "-"
	for _, c := range []struct {
		name, reason       string
		base, ours, theirs []call
		take               []string
		want               []call
		renumbered         []RenumberedRecord
		choices            []Choice
	}{
		{name: "changed-others", reason: "each record is that of the side that changed it", base: base,
			ours:   []call{{1, "one?", "ours"}, base[1], base[2]},
			theirs: []call{base[0], base[1], {3, "three?", "theirs"}},
			want:   []call{{1, "one?", "ours"}, base[1], {3, "three?", "theirs"}}},
		{name: "appended", reason: "theirs are behind ours, under new numbers", base: base,
			ours:       append(base[:3:3], call{4, "four?", "ours"}),
			theirs:     append(base[:3:3], call{4, "vier?", "theirs"}, call{5, "fünf?", "theirs too"}),
			want:       append(base[:3:3], call{4, "four?", "ours"}, call{6, "vier?", "theirs"}, call{5, "fünf?", "theirs too"}),
			renumbered: []RenumberedRecord{{id + "4", id + "6"}}},
		{name: "appended-two", reason: "each has a number of its own", base: base,
			ours:       append(base[:3:3], call{4, "four?", "ours"}, call{5, "five?", "ours"}),
			theirs:     append(base[:3:3], call{4, "vier?", "theirs"}, call{5, "fünf?", "theirs"}),
			want:       append(base[:3:3], call{4, "four?", "ours"}, call{5, "five?", "ours"}, call{6, "vier?", "theirs"}, call{7, "fünf?", "theirs"}),
			renumbered: []RenumberedRecord{{id + "4", id + "6"}, {id + "5", id + "7"}}},
		{name: "polled", reason: "calls that ask the same are compared in their order", base: base,
			ours:    append(base[:3:3], call{4, "done?", "no"}, call{5, "done?", "ours"}),
			theirs:  append(base[:3:3], call{4, "done?", "no"}, call{5, "done?", "theirs"}),
			want:    append(base[:3:3], call{4, "done?", "no"}, call{5, "done?", "ours"}),
			choices: []Choice{{id + "5", "both sides recorded this call, and the answers differ", "ours", nil}}},
		{name: "inserted", reason: "a new record follows its predecessor", base: base,
			ours:   []call{base[0], base[1], base[2], {4, "four?", "ours"}},
			theirs: []call{base[0], {5, "half?", "theirs"}, base[1], base[2]},
			want:   []call{base[0], {5, "half?", "theirs"}, base[1], base[2], {4, "four?", "ours"}}},
		{name: "same-number", reason: "a number is taken once", base: base,
			ours:       []call{base[0], base[1], base[2], {4, "four?", "ours"}},
			theirs:     []call{{4, "zero?", "theirs"}, base[0], base[1], base[2]},
			want:       []call{{5, "zero?", "theirs"}, base[0], base[1], base[2], {4, "four?", "ours"}},
			renumbered: []RenumberedRecord{{id + "4", id + "5"}}},
		{name: "appended-the-same", reason: "both recorded one call, and got one answer", base: base,
			ours:   []call{base[0], {2, "two?", "ours"}, base[2], {4, "four?", "four"}},
			theirs: append(base[:3:3], call{4, "four?", "four"}),
			want:   []call{base[0], {2, "two?", "ours"}, base[2], {4, "four?", "four"}}},
		{name: "both-changed", reason: "one must be chosen, and ours is where we are", base: base,
			ours:    []call{{1, "one?", "ours"}, base[1], base[2]},
			theirs:  []call{{1, "one?", "theirs"}, base[1], {3, "three?", "theirs"}},
			want:    []call{{1, "one?", "ours"}, base[1], {3, "three?", "theirs"}},
			choices: []Choice{{id + "1", "both sides changed it", "ours", nil}}},
		{name: "both-changed-theirs", reason: "the user chose", base: base, take: []string{id + "1"},
			ours:    []call{{1, "one?", "ours"}, base[1], base[2]},
			theirs:  []call{{1, "one?", "theirs"}, base[1], {3, "three?", "theirs"}},
			want:    []call{{1, "one?", "theirs"}, base[1], {3, "three?", "theirs"}},
			choices: []Choice{{id + "1", "both sides changed it", "theirs", nil}}},
		{name: "both-new", reason: "no common ancestor", take: nil,
			ours:       []call{{1, "one?", "one"}, {2, "two?", "ours"}, {3, "three?", "ours"}},
			theirs:     []call{{1, "one?", "one"}, {2, "zwei?", "theirs"}, {3, "three?", "theirs"}},
			want:       []call{{1, "one?", "one"}, {2, "two?", "ours"}, {4, "zwei?", "theirs"}, {3, "three?", "ours"}},
			choices:    []Choice{{id + "3", "both sides recorded this call, and the answers differ", "ours", nil}},
			renumbered: []RenumberedRecord{{id + "2", id + "4"}}},
		{name: "both-new-theirs", reason: "the user chose for the whole test", take: []string{nameOf("TestX")},
			ours:       []call{{1, "one?", "ours"}},
			theirs:     []call{{1, "zwei?", "zwei"}, {2, "one?", "theirs"}},
			want:       []call{{3, "zwei?", "zwei"}, {1, "one?", "theirs"}},
			choices:    []Choice{{id + "1", "both sides recorded this call, and the answers differ", "theirs", nil}},
			renumbered: []RenumberedRecord{{id + "1", id + "3"}}},
		{name: "removed-and-changed", reason: "nothing is lost", base: base,
			ours:    []call{base[1], {3, "three?", "ours"}},
			theirs:  []call{{1, "one?", "theirs"}, base[1]},
			want:    []call{{1, "one?", "theirs"}, base[1], {3, "three?", "ours"}},
			choices: []Choice{{id + "3", "ours changed it and theirs removed it", "ours", nil}, {id + "1", "ours removed it and theirs changed it", "theirs", nil}}},
		{name: "removed", reason: "what one side removed, and the other left alone, goes", base: base,
			ours:   []call{base[0], base[1]},
			theirs: []call{{2, "two?", "theirs"}, base[2]},
			want:   []call{{2, "two?", "theirs"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			puts := []store.Put{putOf("TestOther", base...)}
			if c.base != nil {
				puts = append(puts, putOf("TestX", c.base...))
			}
			r := newRepository(t, puts...)
			merged := r.branches(func() { r.commit(putOf("TestX", c.ours...)) }, func() { r.commit(putOf("TestX", c.theirs...)) })
			require.False(t, merged)
			for _, file := range r.conflicts() {
				require.True(t, file == fileOf("TestX") || strings.HasPrefix(file, "openai/"+nameOf("TestX")+"/"), file)
			}
			result, err := Verify(r.store)
			require.NoError(t, err)
			require.Equal(t, "conflict", result.Findings[0].Rule)
			require.Equal(t, fileOf("TestX"), result.Findings[0].File)

			report := r.heal(c.take...)
			require.Len(t, report.Merged, 1)
			require.Equal(t, c.choices, report.Merged[0].Choices)
			require.Equal(t, c.renumbered, report.Merged[0].Renumbered)
			requireCalls(t, r.store, "TestX", c.want...)
			requireCalls(t, r.store, "TestOther", base...)
			requireWhole(t, r.store)
			for i := range c.choices {
				if c.choices[i].Taken == "ours" {
					require.Contains(t, report.String(), "to take theirs instead: traceforge repair --theirs "+c.choices[i].ID+"\n")
				}
			}
		})
	}
}

// TestRepairOfSameAnswers checks that answers that differ in their bytes alone, as in the provider's ids, are not said to
// differ.
func TestRepairOfSameAnswers(t *testing.T) {
	t.Parallel()
	recorded := func(id string) store.Put {
		put, raw := putOf("TestX", call{1, "one?", "one"}), []byte(`{"id":"`+id+`"}`)
		put.Document.Snapshots[0].Response.RawOutputRef = canon.Sum(raw)
		put.Beside = map[canon.Hash][]byte{canon.Sum(raw): raw}
		return put
	}
	r := newRepository(t, putOf("TestOther", call{1, "one?", "one"}))
	require.False(t, r.branches(func() { r.commit(recorded("ours")) }, func() { r.commit(recorded("theirs")) }))
	reason := "both sides recorded this call, and only the bytes of the answers differ"
	require.Equal(t, []Choice{{nameOf("TestX") + "-1", reason, "ours", nil}}, r.heal().Merged[0].Choices)
}

// TestRepairAgain checks that before git add, another Repair may make other choices, and that it leaves whole documents
// alone.
func TestRepairAgain(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	require.False(t, r.branches(func() { r.commit(putOf("TestX", call{1, "one?", "ours"})) }, func() { r.commit(putOf("TestX", call{1, "one?", "theirs"})) }))
	_, err := Repair(r.store)
	require.NoError(t, err)
	requireCalls(t, r.store, "TestX", call{1, "one?", "ours"})
	report, err := Repair(r.store)
	require.NoError(t, err)
	require.Contains(t, report.String(), fileOf("TestX")+": whole, and left as it is\nnow: git add -A -- ")
	commit(t, r.store, putOf("TestX", call{1, "one?", "ours"}, call{2, "two?", "recorded after the merge"}))
	_, err = Repair(r.store)
	require.NoError(t, err)
	requireCalls(t, r.store, "TestX", call{1, "one?", "ours"}, call{2, "two?", "recorded after the merge"})
	_, err = Repair(r.store, nameOf("TestX")+"-1")
	require.NoError(t, err)
	requireCalls(t, r.store, "TestX", call{1, "one?", "theirs"})
	r.heal()
	requireCalls(t, r.store, "TestX", call{1, "one?", "theirs"})
}

// TestRepairOfProbe checks that a repair and a new manifest remove the files of a process that was killed while it
// probed whether the store is writable.
func TestRepairOfProbe(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir())
	commit(t, s, putOf("TestX", call{1, "x?", "x"}))
	leave := func() {
		writeFile(t, s.Path(""), ".traceforge-1234.tmp", "")
		result, err := Verify(s)
		require.NoError(t, err)
		require.Len(t, result.Findings, 1)
		require.Contains(t, result.Findings[0].Message, "traceforge repair removes it")
	}
	leave()
	report, err := Repair(s)
	require.NoError(t, err)
	require.Equal(t, []string{".traceforge-1234.tmp"}, report.Removed)
	requireWhole(t, s)

	leave()
	require.NoError(t, WriteManifest(s))
	requireWhole(t, s)
}

// TestRepairOfNothing checks that Repair merges nothing and reports an error if a named document is not in conflict.
func TestRepairOfNothing(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	require.False(t, r.branches(
		func() { r.commit(putOf("TestX", call{1, "one?", "ours"})) },
		func() { r.commit(putOf("TestX", call{1, "one?", "theirs"})) },
	))
	_, err := Repair(r.store, nameOf("TestX")+"-1", nameOf("TestY")+"-1")
	require.ErrorContains(t, err, `nothing in conflict is called "`+nameOf("TestY")+`-1"`)
	require.NotEmpty(t, r.conflicts())
	_, err = r.store.Load(nameOf("TestX"), "openai")
	require.ErrorIs(t, err, snapshot.ErrConflict)
	r.heal(nameOf("TestX") + "-1")
	requireCalls(t, r.store, "TestX", call{1, "one?", "theirs"})
}

// TestOneSideTaken checks that a side that the user took by hand is kept, with its raw answers.
func TestOneSideTaken(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	require.False(t, r.branches(func() { r.commit(putOf("TestX", call{1, "one?", "ours"})) }, func() { r.commit(putOf("TestX", call{1, "one?", "theirs"})) }))
	r.git("checkout", "--theirs", ".ai-snapshots/"+fileOf("TestX"))
	r.heal()
	requireCalls(t, r.store, "TestX", call{1, "one?", "theirs"})
}

// TestRepairOfLongAnswers: of ten documents with long raw answers in conflict, it reads what it needs.
func TestRepairOfLongAnswers(t *testing.T) { // not parallel: others would allocate at the same time
	const documents, size = 10, 1 << 20
	puts := func(said string) (all []store.Put) {
		for n := range documents {
			p := putOf(fmt.Sprint("Test", n), call{1, "one?", said})
			raw := []byte(said + fmt.Sprint(n) + strings.Repeat(" ", size))
			p.Document.Snapshots[0].Response.RawOutputRef = canon.Sum(raw)
			p.Beside = map[canon.Hash][]byte{canon.Sum(raw): raw}
			all = append(all, p)
		}
		return all
	}
	r := newRepository(t, puts("base")...)
	require.False(t, r.branches(func() { r.commit(puts("ours")...) }, func() { r.commit(puts("theirs")...) }))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := Repair(r.store)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, report.Merged, documents)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*documents*size))
}

// TestRawAnswerOfAnotherName checks that a side's raw answer, which git removed silently, is found in the commit that
// has it.
func TestRawAnswerOfAnotherName(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	streamed := func() {
		put := putOf("TestX", call{1, "one?", "ours"})
		put.Document.Snapshots[0].Response.Headers = map[string][]string{"content-type": {"text/event-stream"}}
		r.commit(put)
	}
	asked := func() { // equal bytes of another call
		put := putOf("TestX", call{1, "eins?", "one"})
		r.commit(put)
	}
	require.False(t, r.branches(streamed, asked))
	require.Equal(t, []string{fileOf("TestX")}, r.conflicts(), "git removed 1.json")
	r.heal(nameOf("TestX") + "-1")
	requireCalls(t, r.store, "TestX", call{1, "eins?", "one"})
}

// TestOnlyARawAnswerInConflict checks that a raw answer is restored by the hash in its document.
func TestOnlyARawAnswerInConflict(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	side := func(content string) func() {
		return func() {
			writeFile(t, r.dir, ".ai-snapshots/"+rawOf("TestX", 1), content)
			r.stage()
		}
	}
	require.False(t, r.branches(side("ours"), side("theirs")))
	require.Equal(t, []string{rawOf("TestX", 1)}, r.conflicts())
	report := r.heal()
	require.True(t, report.Merged[0].Whole)
	requireCalls(t, r.store, "TestX", call{1, "one?", "one"})
}

// TestRemovedAndChanged covers a test that one side removed and the other recorded again.
func TestRemovedAndChanged(t *testing.T) {
	t.Parallel()
	change := func(r *gitScene) func() { return func() { r.commit(putOf("TestX", call{1, "one?", "changed"})) } }
	removed := func(r *gitScene) func() {
		return func() {
			require.NoError(t, r.store.Commit(store.Change{Remove: []string{fileOf("TestX")}}))
			r.stage()
		}
	}
	for _, oursRemoves := range []bool{true, false} {
		r := newRepository(t, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}))
		reason := "theirs removed the document and ours changed it"
		if oursRemoves {
			require.False(t, r.branches(removed(r), change(r)))
			reason = "ours removed the document and theirs changed it"
		} else {
			require.False(t, r.branches(change(r), removed(r)))
		}
		report := r.heal()
		require.Equal(t, reason, report.Merged[0].Choices[0].Reason)
		requireCalls(t, r.store, "TestX", call{1, "one?", "changed"})
	}
}

// TestMovedAndChanged covers a document that one side moved to another provider.
func TestMovedAndChanged(t *testing.T) {
	t.Parallel()
	one, two := call{1, "one?", "one"}, call{2, "two?", "two"}
	r := newRepository(t, putOf("TestX", one, two))
	move := func() {
		put := putOf("TestX", call{1, "one?", "moved"}, two)
		put.Provider = "anthropic"
		put.Document.Snapshots[1].Provider = "openai"
		r.commit(put)
	}
	require.False(t, r.branches(move, func() { r.commit(putOf("TestX", one, call{2, "two?", "theirs"})) }))
	r.heal()
	requireWhole(t, r.store)
	requireCalls(t, r.store, "TestX", call{1, "one?", "moved"}, call{2, "two?", "theirs"})
	files, err := r.store.List()
	require.NoError(t, err)
	require.Equal(t, []string{store.DocumentFile("anthropic", nameOf("TestX"))}, files)
}

// TestMovedUnnoticed covers a document that one side moved to another provider, so changed that git sees two documents.
func TestMovedUnnoticed(t *testing.T) {
	t.Parallel()
	one, two := call{1, "one?", "one"}, call{2, "two?", "two"}
	r := newRepository(t, putOf("TestX", one, two))
	move := func() {
		put := putWith("TestX", strings.Repeat("Another prompt of many words, so that the documents are unlike. ", 200), one, two)
		put.Provider = "anthropic"
		r.commit(put)
	}
	require.False(t, r.branches(func() { r.commit(putOf("TestX", one, call{2, "two?", "ours"})) }, move))
	report := r.heal()
	require.Equal(t, []Choice{{nameOf("TestX") + "-2", "both sides changed what is asked", "merged", nil}}, report.Merged[0].Choices)
	requireCalls(t, r.store, "TestX", one, call{2, "two?", "ours"})
	files, err := r.store.List()
	require.NoError(t, err)
	require.Equal(t, []string{store.DocumentFile("anthropic", nameOf("TestX"))}, files)
}

// TestTrackedManifest checks that Repair writes the manifest of a repository that tracks it. The manifest has a
// conflict too.
func TestTrackedManifest(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	r.git("add", "-f", ".ai-snapshots/"+store.ManifestName)
	r.git("commit", "-q", "-m", "track the manifest")
	require.False(t, r.branches(func() { r.commit(putOf("TestY", call{1, "y?", "y"})) }, func() { r.commit(putOf("TestZ", call{1, "z?", "z"})) }))
	require.Equal(t, []string{store.ManifestName}, r.conflicts())
	report := r.heal()
	require.Empty(t, report.Merged)
	require.True(t, report.Add)
	requireWhole(t, r.store)
}

// TestContinuedRecords checks that their records continue each other under their new numbers.
func TestContinuedRecords(t *testing.T) {
	t.Parallel()
	agent := func(answers ...string) store.Put {
		var calls []call
		for i, answer := range answers {
			calls = append(calls, call{i + 1, "go on", answer})
		}
		put := putOf("TestX", calls...)
		for i := 1; i < len(answers); i++ {
			before := &put.Document.Snapshots[i-1]
			request := &put.Document.Snapshots[i].Request
			history := append(before.Request.Messages[:len(before.Request.Messages):len(before.Request.Messages)], before.Response.Candidates[0].Message)
			request.Messages = append(history, request.Messages[1])
		}
		return put
	}
	r := newRepository(t, agent("one"))
	require.False(t, r.branches(func() { r.commit(agent("one", "two", "three of ours")) }, func() { r.commit(agent("one", "zwei", "drei of theirs")) }))
	report := r.heal()
	require.NotEmpty(t, report.Merged)
	doc, err := r.store.Load(nameOf("TestX"), "openai")
	require.NoError(t, err)
	ids := map[string]*snapshot.Snapshot{}
	for i := range doc.Document.Snapshots {
		ids[doc.Document.Snapshots[i].ID] = &doc.Document.Snapshots[i]
	}
	// Both sides made the same second call and got different answers. Their third calls differ.
	require.Equal(t, []Choice{{nameOf("TestX") + "-2", "both sides recorded this call, and the answers differ", "ours", nil}}, report.Merged[0].Choices)
	theirs := ids[nameOf("TestX")+"-4"]
	require.NotNil(t, theirs)
	require.Equal(t, &snapshot.Continues{Call: 3, Messages: 4}, theirs.Continues, "it is ours that it continues")
	require.Equal(t, "zwei", *theirs.Request.Messages[4].Content[0].Text, "the request of theirs is whole")
	require.Equal(t, "drei of theirs", *theirs.Response.Candidates[0].Message.Content[0].Text)
}

func TestRepairWithoutGit(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	writeFile(t, dir, fileOf("TestX"), "{\n<<<<<<< a\n=======\n>>>>>>> b\n}\n")
	report, err := Repair(s)
	require.NoError(t, err)
	require.Contains(t, report.String(), fileOf("TestX")+": conflict: holds conflict markers, and git does not tell the sides (")
	require.Contains(t, report.String(), "): take one of them, and record again with -update what is missing\n")

	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}))
	writeFile(t, filepath.Join(r.dir, ".ai-snapshots"), fileOf("TestX"), "{\n<<<<<<< a\n=======\n>>>>>>> b\n}\n")
	report, err = Repair(r.store)
	require.NoError(t, err)
	require.Contains(t, report.String(), "git has no sides of it")
}

// TestRepairLeaves checks that Repair leaves documents that cannot be merged, with a reason, and merges the rest.
func TestRepairLeaves(t *testing.T) {
	t.Parallel()
	r := newRepository(t, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}))
	writeFile(t, r.dir, ".ai-snapshots/config.json", "{}\n")
	r.stage()
	side := func(name string, document string) func() {
		return func() {
			r.commit(putOf("TestX", call{1, "one?", name}), putOf("TestY", call{1, "y?", name}))
			writeFile(t, r.dir, ".ai-snapshots/config.json", `{"`+name+"\": 1}\n")
			writeFile(t, r.dir, ".ai-snapshots/"+fileOf("TestX"), document)
			r.stage()
		}
	}
	require.False(t, r.branches(side("ours", "{}"), side("theirs", "{\"x\": 1}")))
	report, err := Repair(r.store)
	require.NoError(t, err)
	require.Len(t, report.Merged, 1)
	require.Equal(t, fileOf("TestY"), report.Merged[0].File)
	require.Contains(t, report.String(), "config.json: conflict: is in conflict, and no document: merge it by hand\n")
	require.Contains(t, report.String(), nameOf("TestX")+".json: conflict: could not be merged: ours has it broken: ")
	require.Contains(t, report.String(), "take one side with git checkout --ours or --theirs -- "+gotest.Quote(r.store.Shown(fileOf("TestX")))+", and record again")
	require.Contains(t, report.String(), "now: git add -A -- ")
	require.Contains(t, report.String(), " ':!"+r.store.Shown(fileOf("TestX"))+"'")
}

// TestRenamedAndChanged covers a test that one side renamed, by itself or with its package, and the other recorded
// again. Git detects the renamed document, and has versions of it with the former name.
func TestRenamedAndChanged(t *testing.T) {
	t.Parallel()
	one, two := call{1, "one?", "one"}, call{2, "two?", "two"}
	changed := []call{one, {2, "two?", "changed"}, {3, "three?", "three"}}
	for _, to := range []store.Move{{Package: testPackage, Test: "TestY"}, {Package: "example.com/moved", Test: "TestX"}} {
		for _, oursRenames := range []bool{true, false} {
			for _, directories := range []string{"false", "true", "conflict"} {
				r := newRepository(t, putOf("TestX", one, two), putOf("TestZ", one))
				r.git("config", "merge.directoryRenames", directories)
				rename := func() {
					_, err := r.store.Move(store.Move{Name: nameOf("TestX"), Package: to.Package, Test: to.Test})
					require.NoError(t, err)
					r.stage()
				}
				change := func() { r.commit(putOf("TestX", changed...)) }
				if oursRenames {
					require.False(t, r.branches(rename, change))
				} else {
					require.False(t, r.branches(change, rename))
				}
				report := r.heal()
				name := snapshot.DocumentName(to.Package, to.Test)
				require.Equal(t, []Merge{{File: store.DocumentFile("openai", name), Records: 3}}, report.Merged)
				requireWhole(t, r.store)
				doc, err := r.store.Load(name, "openai")
				require.NoError(t, err)
				requireCallsOf(t, doc, changed...)
				require.Equal(t, to.Test, doc.Document.Snapshots[2].Source.Test)
				files, err := r.store.List()
				require.NoError(t, err)
				require.ElementsMatch(t, []string{doc.File(), fileOf("TestZ")}, files)
				require.NoDirExists(t, r.store.Path("openai/"+nameOf("TestX")))
			}
		}
	}
}

// TestBothRenamed covers a test that the sides renamed differently: each side's document is whole under its name.
func TestBothRenamed(t *testing.T) {
	t.Parallel()
	base := []call{{1, "one?", "one"}, {2, "two?", "two"}, {3, "three?", "three"}}
	for _, theirs := range [][]call{base, {base[0], {2, "two?", "theirs"}, base[2], {4, "four?", "four"}}} {
		for _, limit := range []string{"100", "1"} {
			r := newRepository(t, putOf("TestX", base...), putOf("TestZ", base[0]))
			r.git("config", "merge.renameLimit", limit)
			rename := func(to string) {
				_, err := r.store.Move(store.Move{Name: nameOf("TestX"), Package: testPackage, Test: to})
				require.NoError(t, err)
				r.stage()
			}
			merged := r.branches(func() { rename("TestOurs") }, func() {
				rename("TestTheirs")
				r.commit(putOf("TestTheirs", theirs...), putOf("TestNew", base[0]))
			})
			require.False(t, merged)
			for _, m := range r.heal().Merged {
				require.Empty(t, m.Choices)
			}
			requireWhole(t, r.store)
			requireCalls(t, r.store, "TestOurs", base...)
			requireCalls(t, r.store, "TestTheirs", theirs...)
			require.NoFileExists(t, r.store.Path(fileOf("TestX")))
			require.NoDirExists(t, r.store.Path("openai/"+nameOf("TestX")))
		}
	}
}

// TestRenamedUnnoticed covers a rename that git reports as a removal on one side and a change on the other. The new
// document that has the records is the renamed one.
func TestRenamedUnnoticed(t *testing.T) {
	t.Parallel()
	one, two, three := call{1, "one?", "one"}, call{2, "two?", "two"}, call{3, "three?", "three"}
	changed := []call{one, {2, "two?", "changed"}, three}
	for _, oursRenames := range []bool{true, false} {
		r := newRepository(t, putOf("TestX", one, two, three), putOf("TestZ", one))
		r.git("config", "merge.renameLimit", "1")
		rename := func() {
			_, err := r.store.Move(store.Move{Name: nameOf("TestX"), Package: testPackage, Test: "TestY"})
			require.NoError(t, err)
			r.commit(putOf("TestNew", one))
		}
		change := func() { r.commit(putOf("TestX", changed...)) }
		if oursRenames {
			require.False(t, r.branches(rename, change))
		} else {
			require.False(t, r.branches(change, rename))
		}
		report, err := Repair(r.store)
		require.NoError(t, err)
		require.Equal(t, []Merge{{File: fileOf("TestY"), Records: 3}}, report.Merged)
		require.Equal(t, []Merge{{File: fileOf("TestY"), Whole: true, Records: 3}}, r.heal().Merged, "it is repaired")
		requireWhole(t, r.store)
		requireCalls(t, r.store, "TestY", changed...)
		require.NoFileExists(t, r.store.Path(fileOf("TestX")))
		require.NoDirExists(t, r.store.Path("openai/"+nameOf("TestX")))
	}

	r := newRepository(t, putOf("TestX", one, two, three))
	r.git("config", "merge.renameLimit", "1")
	require.False(t, r.branches(func() {
		_, err := r.store.Move(store.Move{Name: nameOf("TestX"), Package: testPackage, Test: "TestY"})
		require.NoError(t, err)
		r.commit(putOf("TestY", one, call{2, "two?", "mine"}, three), putOf("TestNew", one))
	}, func() { r.commit(putOf("TestX", changed...)) }))
	report, err := Repair(r.store)
	require.NoError(t, err)
	choice := report.Merged[0].Choices[0]
	require.Equal(t, Choice{snapshot.ID(nameOf("TestX"), 2), "both sides changed it", "ours", nil}, choice)
	requireCalls(t, r.store, "TestY", one, call{2, "two?", "mine"}, three)
	r.heal(choice.ID)
	requireCalls(t, r.store, "TestY", changed...)

	r = newRepository(t, putOf("TestX", one, two, three))
	r.git("config", "merge.renameLimit", "1")
	split := func() {
		require.NoError(t, r.store.Commit(store.Change{Remove: []string{fileOf("TestX")}}))
		r.commit(putOf("TestX/a", one), putOf("TestX/b", call{1, "two?", "two"}), putOf("TestX/c", call{1, "three?", "three"}))
	}
	require.False(t, r.branches(split, func() { r.commit(putOf("TestX", changed...)) }))
	report, err = Repair(r.store)
	require.NoError(t, err)
	require.Equal(t, "ours removed the document and theirs changed it", report.Merged[0].Choices[0].Reason, "it was split, and has no successor")
}

// TestRenamedInSubmodule: the commits of a merge are the submodule's, whichever commit of it the repository around it has.
func TestRenamedInSubmodule(t *testing.T) {
	t.Parallel()
	one, two, three := call{1, "one?", "one"}, call{2, "two?", "two"}, call{3, "three?", "three"}
	r := newRepository(t, putOf("TestX", one, two, three), putOf("TestZ", one))
	top := t.TempDir()
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Run(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.dir, "module")
	gittest.Run(t, top, "commit", "-q", "-m", "module")
	r.dir = filepath.Join(top, "module")
	r.git("config", "merge.renameLimit", "1")
	r.store = openAt(t, filepath.Join(r.dir, ".ai-snapshots"))
	require.False(t, r.branches(func() {
		_, err := r.store.Move(store.Move{Name: nameOf("TestX"), Package: testPackage, Test: "TestY"})
		require.NoError(t, err)
		r.commit(putOf("TestNew", one))
	}, func() { r.commit(putOf("TestX", one, call{2, "two?", "changed"}, three)) }))
	report, err := Repair(r.store)
	require.NoError(t, err)
	require.Equal(t, []Merge{{File: fileOf("TestY"), Records: 3}}, report.Merged)
}

// TestSplitAndChanged covers a test that one side split. Git takes one of its answers for renamed, and moves the other
// side's answer next to the new document. Repair restores the answers that this document names, even after the merge
// was committed.
func TestSplitAndChanged(t *testing.T) {
	t.Parallel()
	one, two := call{1, "one?", "one"}, call{2, "two?", strings.Repeat("two\n", 100)}
	changed := call{2, "two?", two.answer + "changed"}
	for _, oursSplits := range []bool{true, false} {
		r := newRepository(t, putOf("TestX", one, two), putOf("TestZ", one))
		split := func() { r.commit(putOf("TestX", one), putOf("TestY", call{1, "two?", two.answer})) }
		change := func() { r.commit(putOf("TestX", one, changed)) }
		if oursSplits {
			require.False(t, r.branches(split, change))
		} else {
			require.False(t, r.branches(change, split))
		}
		require.Equal(t, []string{fileOf("TestX")}, r.conflicts(), "TestY is none")
		report := r.heal()
		require.Equal(t, []string{fileOf("TestY")}, report.Restored)
		require.Contains(t, report.String(), fileOf("TestY")+": what it names was missing or altered, and is put back\n")
		requireWhole(t, r.store)
		requireCalls(t, r.store, "TestX", one, changed)
		requireCalls(t, r.store, "TestY", call{1, "two?", two.answer})

		writeFile(t, r.dir, ".ai-snapshots/"+rawOf("TestY", 1), "other")
		removeFile(t, r.dir, ".ai-snapshots/"+rawOf("TestX", 1))
		r.stage()
		require.Equal(t, []string{fileOf("TestX"), fileOf("TestY")}, r.heal().Restored)
		requireWhole(t, r.store)
		writeFile(t, r.dir, ".ai-snapshots/"+rawOf("TestZ", 1), "other")
		removeFile(t, r.dir, ".git/HEAD")
		report, err := Repair(r.store)
		require.NoError(t, err)
		require.Empty(t, report.String(), "there is no other, which verify says")
	}
}

// TestAlteredFilesForGit checks that Repair writes .gitattributes and .gitignore whatever they contain.
func TestAlteredFilesForGit(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	for _, file := range []string{store.AttributesName, store.IgnoreName} {
		text := tree(t, dir)[file]
		writeFile(t, dir, file, strings.Replace(text, "manifest", "manifxst", 1))
		_, err := Repair(s)
		require.NoError(t, err)
		require.Equal(t, text, tree(t, dir)[file])
	}
}

// TestRestoredLongName checks that Repair restores answers of a document whose name is too long for a provider.
func TestRestoredLongName(t *testing.T) {
	t.Parallel()
	test := "TestX" + strings.Repeat("/long", 20)
	r := newRepository(t, putOf(test, call{1, "one?", "one"}))
	removeFile(t, r.dir, ".ai-snapshots/"+rawOf(test, 1))
	report, err := Repair(r.store)
	require.NoError(t, err)
	require.Equal(t, []string{fileOf(test)}, report.Restored)
	requireVerified(t, r.store)
}

// TestLinkedStore checks that prune and repair do not follow links. A pull request can make any directory look like a
// store, and git does not have ignored files.
func TestLinkedStore(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	made, err := store.Open(filepath.Join(top, "made"))
	require.NoError(t, err)
	require.NoError(t, made.Exclusively(func(store.Writer) error { return nil }))
	for _, name := range []string{".gitignore", ".gitattributes"} {
		data, err := os.ReadFile(filepath.Join(top, "made", name))
		require.NoError(t, err)
		writeFile(t, filepath.Join(top, "work"), name, string(data))
	}
	writeFile(t, filepath.Join(top, "work"), "data/other/1.json", "mine")
	writeFile(t, filepath.Join(top, "work"), "data/other/2.json.tmp", "mine")
	if err := os.Symlink("work", filepath.Join(top, ".ai-snapshots")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	before := tree(t, filepath.Join(top, "work"))
	linked, err := store.Open(filepath.Join(top, ".ai-snapshots"))
	require.NoError(t, err)
	_, err = Prune(linked)
	require.ErrorIs(t, err, store.ErrLinked)
	_, err = Repair(linked)
	require.ErrorIs(t, err, store.ErrLinked)
	require.ErrorIs(t, WriteManifest(linked), store.ErrLinked)
	require.Equal(t, before, tree(t, filepath.Join(top, "work")))

	named, err := store.Open(filepath.Join(top, "work"))
	require.NoError(t, err)
	_, err = Prune(named)
	require.NoError(t, err, "the user names it")
}

// TestMergedByGit checks that Repair computes the hash of a document again if git merged its records by lines, and left
// the hash of one side.
func TestMergedByGit(t *testing.T) {
	t.Parallel()
	base := []call{{1, "one?", "one"}, {2, "two?", "two"}, {3, "three?", "three"}}
	r := newRepository(t, putOf("TestX", base...))
	r.git("checkout", "-q", "-b", "theirs")
	r.commit(putOf("TestX", base[0], base[1], call{3, "three?", "theirs"}))
	r.git("checkout", "-q", "main")
	r.commit(putOf("TestX", call{1, "one?", "ours"}, base[1], base[2]))
	r.git("merge", "-q", "--no-edit", "-X", "ours", "theirs")

	found, err := Verify(r.store)
	require.NoError(t, err)
	require.Len(t, found.Findings, 1)
	require.Equal(t, snapshot.RuleHash, found.Findings[0].Rule)
	require.Contains(t, found.Findings[0].Message, "traceforge repair")
	_, err = r.store.Load(nameOf("TestX"), "openai")
	require.ErrorIs(t, err, snapshot.ErrSeal)
	require.NotContains(t, err.Error(), "way out", "the message has it")

	report := r.heal()
	require.Equal(t, fileOf("TestX")+": its records are whole, and its hash is computed again\n"+
		"now: git add -A -- "+gotest.Quote(filepath.ToSlash(r.store.Dir()))+"\n", report.String())
	requireCalls(t, r.store, "TestX", call{1, "one?", "ours"}, base[1], call{3, "three?", "theirs"})
}

// TestCommittedMarkers checks that both ways out work for a document that a merge committed with conflict markers.
func TestCommittedMarkers(t *testing.T) {
	t.Parallel()
	base := []call{{1, "one?", "one"}, {2, "two?", "two"}}
	r := newRepository(t, putOf("TestX", base...))
	ours, theirs := []call{{1, "one?", "ours"}, base[1], {3, "three?", "ours"}}, []call{base[0], {2, "two?", "theirs"}}
	merged := r.branches(func() { r.commit(putOf("TestX", ours...)) }, func() { r.commit(putOf("TestX", theirs...)) })
	require.False(t, merged)
	r.stage()
	r.commit(putOf("TestY", base[0]))
	report, err := Repair(r.store)
	require.NoError(t, err)
	require.Len(t, report.Left, 1)
	words := strings.Fields(report.Left[0].Message)
	first := words[slices.Index(words, "checkout")+1]
	second := strings.TrimSuffix(words[slices.Index(words, "or")+1], ",")
	for commit, want := range map[string][]call{first: ours, second: theirs} {
		r.git("checkout", commit, "--", ".ai-snapshots/"+fileOf("TestX"))
		report, err = Repair(r.store)
		require.NoError(t, err)
		require.Empty(t, report.Left)
		requireVerified(t, r.store)
		requireCalls(t, r.store, "TestX", want...)
	}
}

// TestHashOfBrokenDocument checks that Repair leaves the hash of a document that is not whole besides.
func TestHashOfBrokenDocument(t *testing.T) {
	t.Parallel()
	stale := func(data string) string {
		at := strings.LastIndex(data, "sha256:")
		return data[:at] + "sha256:" + strings.Repeat("0", 64) + data[at+71:]
	}
	for name, alter := range map[string]func(data string) string{
		"record": func(data string) string { return strings.Replace(data, "two?", "too?", 1) },
		"member": func(data string) string { return strings.Replace(data, "{\n", "{\n  \"more\": 1,\n", 1) },
		"answer": func(data string) string { return data },
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
			data := tree(t, dir)[fileOf("TestX")]
			writeFile(t, dir, fileOf("TestX"), alter(stale(data)))
			if name == "answer" {
				removeFile(t, dir, rawOf("TestX", 1))
			}
			before := tree(t, dir)
			report, err := Repair(s)
			require.NoError(t, err)
			require.Empty(t, report.Resealed)
			require.Equal(t, before, tree(t, dir))
			require.Equal(t, name == "answer", len(report.Left) > 0, "what verify promised is said not to work")
		})
	}
}

// TestHashOfADoubledDocument leaves a document alone whose test has another one, which a commit would remove.
func TestHashOfADoubledDocument(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	for name, text := range tree(t, dir) {
		if after, ok := strings.CutPrefix(name, "openai/"); ok {
			writeFile(t, dir, "other/"+after, text)
		}
	}
	text := tree(t, dir)[fileOf("TestX")]
	at := strings.LastIndex(text, "sha256:") + len("sha256:")
	writeFile(t, dir, fileOf("TestX"), text[:at]+strings.Repeat("0", 64)+text[at+64:])
	before := tree(t, dir)
	report, err := Repair(s)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, dir))
	require.Contains(t, report.String(), "the test has another document, of another provider")
}

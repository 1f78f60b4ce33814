package main

import (
	"io"
	"os"
	osexec "os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A rawCase is a raw answer that changed while its record said the same, and what is told of it.
type rawCase struct{ test, was, now, want string }

func streamed(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func rawCases() []rawCase {
	chunk := func(rest string) string {
		return `{"id":"c1","choices":[{"index":0,"delta":{"content":"a"}` + rest + `}]}`
	}
	whole := `{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"a"}}]}`
	named := func(name string) string {
		return "event: " + name + "\ndata: {\"type\":\"x\"}\n\nevent: end\ndata: {}\n\n"
	}
	return []rawCase{
		{"TestLogprobs", streamed(chunk(``), chunk(`,"logprobs":null`), "[DONE]"), streamed(chunk(``), chunk(`,"logprobs":{"content":[1]}`), "[DONE]"),
			"event 2: /choices/0/logprobs changed"},
		{"TestMember", whole, strings.Replace(whole, `"id"`, `"vendor\u001b[2J":{"x":1},"id"`, 1), `/vendor\u001b[2J added`},
		{"TestSpace", whole, whole[:1] + strings.Repeat(" ", 5<<20) + whole[1:], "white space, framing and spelling: 5,242,880 bytes, before 0"},
		{"TestLines", streamed(chunk(``)), streamed(chunk(``)) + strings.Repeat("\n", 5<<20), "white space, framing and spelling: 5,242,888 bytes, before 8"},
		{"TestName", named("delta"), named("DELTA"), "event 1: name changed"},
		{"TestEvent", streamed(chunk(``), "[DONE]"), streamed(chunk(``), `{"choices":[]}`, "[DONE]"), "event 2: added"},
		{"TestIDs", streamed(chunk(``), chunk(``)), strings.Replace(strings.ReplaceAll(streamed(chunk(``), chunk(``)), "c1", "c2"), `"a"`, `"b"`, 1),
			"event 1: /choices/0/delta/content changed\n    call 1, event 1, 2: /id changed"},
		{"TestMany", whole, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,` + whole[1:], "/e added\n    call 1, and 1 more"},
		{"TestNumbers", `[1` + strings.Repeat(",1", 1<<20) + `]`, `[2` + strings.Repeat(",2", 1<<20) + `]`, "these are among the first 10,000 places that differ\n    call 1, /0 changed"},
		{"TestTwice", streamed(chunk(``)), streamed(chunk(`,"index":1`)), "event 1: data changed"},
		{"TestDeep", streamed(chunk(``)), streamed(chunk(``), strings.Repeat("[", 999)+strings.Repeat("]", 999)), "all of it changed"},
		{"TestText", "no JSON", "NO JSON", "all of it changed"},
		{"TestSpelling", whole, strings.Replace(whole, `"id":"c1",`, ``, 1)[:len(whole)-11] + `,"id":"c1"}`, "white space, framing and spelling: 0 bytes, before 0"},
		{"TestSecret", whole, strings.Replace(whole, `"id"`, `"sk-proj-`+strings.Repeat("aB3dE5gH", 8)+`":1,"id"`, 1), "] added"},
	}
}

// keepRaw writes the document of a test whose call was answered with these bytes, whatever its record says.
func keepRaw(t *testing.T, dir, test, body string, change ...func(*snapshot.Snapshot)) {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	r := pagetest.Recordings()["plain"]
	record := r.Snapshot
	name := documentOf(test)
	record.ID, record.Source.Package, record.Source.Test = snapshot.ID(name, 1), reviewedPackage, test
	record.Response.RawOutputRef, record.Provider = canon.Sum([]byte(body)), r.Provider
	for _, f := range change {
		f(&record)
	}
	put := store.PutOf(name, []snapshot.Snapshot{record})
	put.Beside = map[canon.Hash][]byte{record.Response.RawOutputRef: []byte(body)}
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{put}}))
}

// TestRawAnswersThatChangedAlone: diff and review name the events and members that changed where records did not, of a
// revision of git and of a directory; megabytes of white space are a line.
func TestRawAnswersThatChangedAlone(t *testing.T) {
	t.Parallel()
	for _, tt := range rawCases() {
		t.Run(tt.test, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			top := filepath.Dir(dir)
			keepRaw(t, dir, tt.test, tt.was)
			commitAll(t, top)
			before := filepath.Join(top, "before")
			require.NoError(t, os.CopyFS(before, os.DirFS(dir)))
			keepRaw(t, dir, tt.test, tt.now)

			diff := osexec.Command("traceforge", "diff", "--dir", dir)
			printed, err := diff.Output()
			require.Equal(t, exitFindings, diff.ProcessState.ExitCode(), "%v", err)
			out := string(printed)
			require.Contains(t, out, "1 raw answer has other bytes: what records say of them is the same\n  "+tt.test+" in ")
			require.Contains(t, out, tt.want+"\n")
			require.Contains(t, out, "    call 1, ")
			require.Less(t, len(out), 1000)
			require.NotContains(t, out, "aB3dE5gH")
			_, between, _ := run("", "diff", before, dir)
			require.Equal(t, out, between)
			lines := strings.Split(tt.want, "\n    ")
			for _, form := range []string{"--markdown", "--html", "--json"} {
				_, out, _ := run("", "diff", "--dir", dir, form)
				require.NotContains(t, out, "aB3dE5gH", form)
				for _, line := range lines {
					if form == "--json" {
						line = strings.TrimPrefix(line, "call 1, ")
					}
					require.True(t, strings.Contains(out, line), "%s lacks %s", form, line)
				}
			}
			code, out, said := run("", "review", "--dir", dir)
			require.Equal(t, exitFindings, code, said)
			require.Contains(t, out, lines[0]+"\n")
			_, out, _ = run("", "review", "--dir", dir, "--json")
			require.Contains(t, out, `"bytes":["call 1, `)

			gitIn(t, top, "commit", "-q", "-a", "-m", "recorded again")
			require.NoError(t, os.RemoveAll(dir))
			_, gone, said := run("", "diff", "--dir", dir, "HEAD~1", "HEAD")
			require.Equal(t, between, gone, "of two revisions, without the store: %s", said)
		})
	}
}

// TestRecordsWithTheSameContent: diff, its Markdown and review say by one rule how records differ whose content is the same.
func TestRecordsWithTheSameContent(t *testing.T) {
	t.Parallel()
	later := func(s *snapshot.Snapshot) { s.Timestamp = s.Timestamp.Add(time.Hour) }
	for _, tt := range []struct {
		key, body, want string
		change          func(*snapshot.Snapshot)
	}{
		{"again", `{"a":1}`, "1 call recorded again: what was sent and answered is the same", later},
		{"form", `{"a":1}`, "1 record in another form: what was sent and answered, and when, is the same",
			func(s *snapshot.Snapshot) { s.Response.LatencyMS++ }},
		{"bytes", `{"a":2}`, "1 raw answer has other bytes: what records say of them is the same", later},
	} {
		t.Run(tt.key, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			keepRaw(t, dir, "TestSame", `{"a":1}`)
			commitAll(t, filepath.Dir(dir))
			keepRaw(t, dir, "TestSame", tt.body, tt.change)
			for _, command := range []string{"diff", "diff --markdown", "review"} {
				code, out, said := run("", append(strings.Fields(command), "--dir", dir)...)
				require.Equal(t, exitFindings, code, said)
				require.Contains(t, out, tt.want, command)
			}
			_, out, _ := run("", "review", "--dir", dir, "--json")
			require.Contains(t, out, `"key":"`+tt.key+`"`)
		})
	}
}

// TestAnswersAlteredAlone: diff tells of a raw answer that is another where its document is the same, as it is, staged or committed,
// and review does not call it half staged.
func TestAnswersAlteredAlone(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(file string) error{
		"altered": func(file string) error { return os.WriteFile(file, []byte(`{"a":2}`), 0o666) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			top := filepath.Dir(dir)
			keepRaw(t, dir, "TestAltered", `{"a":1}`)
			keepRaw(t, dir, "TestOther", `{"a":1}`)
			commitAll(t, top)
			require.NoError(t, alter(filepath.Join(dir, "openai", documentOf("TestAltered"), "1.json")))
			told := func(args ...string) {
				code, out, said := run("", append([]string{"diff", "--dir", dir}, args...)...)
				require.Equal(t, exitFindings, code, said)
				require.Contains(t, out, "altered or missing in one of the two, whose document is the same: traceforge verify tells", args)
				require.NotContains(t, out, "TestOther")
				require.NotContains(t, out, "other bytes", args)
				if !slices.Contains(args, "--json") {
					require.Contains(t, out, "1 raw answer altered or missing", args)
					require.Contains(t, out, "its record is the same, traceforge verify tells more", args)
				}
			}
			told()
			told("--json")
			told("--html")
			told("--markdown")
			code, out, said := run("", "review", "--dir", dir)
			require.Equal(t, exitFindings, code, out)
			require.Contains(t, said, documentOf("TestAltered")+": what is beside the document was altered or removed")
			require.NotContains(t, said, "staged")
			gitIn(t, top, "add", "-A")
			told()
			gitIn(t, top, "commit", "-q", "-m", "altered")
			told("HEAD~1")
			told("HEAD~1", "HEAD")
			code, out, said = run("", "diff", "--dir", dir)
			require.Zero(t, code, said)
			require.Empty(t, out)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "openai", documentOf("TestOther"), "2.json"), nil, 0o666))
			commitAll(t, top)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "openai", documentOf("TestOther"), "2.json"), []byte("{}"), 0o666))
			code, out, said = run("", "diff", "--dir", dir)
			require.Zero(t, code, said)
			require.Empty(t, out, "no record names the file")
			elsewhere := filepath.Join(t.TempDir(), ".ai-snapshots")
			require.NoError(t, os.CopyFS(elsewhere, os.DirFS(dir)))
			code, out, said = run("", "diff", "--dir", dir, "HEAD", elsewhere)
			require.Zero(t, code, said)
			require.Empty(t, out, "which objects another store has is not known")
			require.NoError(t, os.Rename(filepath.Join(dir, "openai"), filepath.Join(dir, "azure")))
			_, out, said = run("", "diff", "--dir", dir)
			require.NotContains(t, out, "altered or missing", said)
			require.Contains(t, out, "TestOther", "which has moved")
		})
	}
}

// TestHiddenDocuments: verify --changed notes that attributes of the repository hide documents from git diff, or fold them.
func TestHiddenDocuments(t *testing.T) {
	t.Parallel()
	for attributes, want := range map[string]bool{
		"": false, ".ai-snapshots/** -diff\n": true, "*.json binary\n": true, "* linguist-generated\n": true, "* linguist-generated=true\n": true,
		"* linguist-generated=1\n": true, "* gitlab-generated\n": true, "*.json filter=x -text\n": true, "* linguist-generated=false\n": false,
		"* diff\n": false, "* -linguist-generated\n": false, "*/1.json -diff\n": false,
	} {
		t.Run(attributes, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			top := filepath.Dir(dir)
			keepRaw(t, dir, "TestOne", `{}`)
			commitAll(t, top)
			require.NoError(t, os.WriteFile(filepath.Join(top, ".gitattributes"), []byte(attributes), 0o666))
			code, _, said := run("", "verify", "--changed", "HEAD", "--dir", dir)
			require.Zero(t, code, said)
			require.NotContains(t, said, "git diff", "nothing changed")
			keepRaw(t, dir, "TestTwo", `{}`)
			keepRaw(t, dir, "TestThree", `{}`)
			_, _, said = run("", "verify", "--changed", "HEAD", "--dir", dir)
			require.Equal(t, want, strings.Contains(said, "git diff does not show it, or hosts collapse it"), said)
			require.Equal(t, want, strings.Contains(said, "; the same of 1 more\n"), said)
		})
	}
}

// TestDirectoryNamedAsRevision: a directory that a branch names as the revision it is compared with does not stand for that.
func TestDirectoryNamedAsRevision(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, ".ai-snapshots")
	keepRaw(t, dir, "TestOne", `{}`)
	commitAll(t, top)
	gitIn(t, top, "branch", "origin/main")
	keepRaw(t, dir, "TestTwo", `{}`)
	for _, name := range []string{"HEAD", "origin/main"} {
		require.NoError(t, os.CopyFS(filepath.Join(top, name), os.DirFS(dir)))
	}
	t.Chdir(top)
	for _, args := range []string{"diff", "diff HEAD", "diff origin/main"} {
		code, out, said := run("", strings.Fields(args)...)
		require.Equal(t, exitFindings, code, "%s: %s", args, said)
		require.Contains(t, out, "TestTwo", args)
	}
	code, _, said := run("", "diff", "./origin/main", ".ai-snapshots")
	require.Zero(t, code, said)
	code, out, said := run("", "diff", "--dir", "origin/main", "./origin/main")
	require.Zero(t, code, "the store that --dir names is no revision: %s%s", out, said)

	code, _, said = run("", "diff", "HEAD...HEAD", "HEAD")
	require.Equal(t, exitTrouble, code, "a range is alone: %s", said)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openai", documentOf("TestOne")+".json"), nil, 0o666))
	code, _, said = run("", "diff", "./origin/main", ".ai-snapshots")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, documentOf("TestOne"))
	require.NotContains(t, said, "nothing differs")
}

// TestDiffOnTerminal: a page is for a browser, and a terminal shows none.
func TestDiffOnTerminal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, dir, "TestOne", `{}`)
	for _, tt := range []struct{ flag, said string }{
		{"", ""}, {"--html", "--html prints a page for a browser: send it into a file, as with > review.html"},
	} {
		con := newConsole(nil, io.Discard, io.Discard)
		con.terminal = true
		root := rootCommand(con)
		root.SetArgs(append([]string{"diff", dir, dir}, strings.Fields(tt.flag)...))
		if err := root.Execute(); tt.said == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, tt.said)
		}
	}
}

// TestDiffKeepsAnswers: the page has more of the answers of a cause than a terminal shows.
func TestDiffKeepsAnswers(t *testing.T) {
	t.Parallel()
	was, is := filepath.Join(t.TempDir(), "was"), filepath.Join(t.TempDir(), "is")
	for i := range 6 {
		test := "Test" + strconv.Itoa(i)
		keepRaw(t, was, test, `{}`)
		keepRaw(t, is, test, `{}`, func(s *snapshot.Snapshot) {
			s.Request.Messages[1] = pagetest.Said("user", "Why?")
			s.Response.Candidates[0].Message = pagetest.Said("model", "Because of "+test+".")
		})
	}
	_, page, said := run("", "diff", "--html", was, is)
	_, text, _ := run("", "diff", was, is)
	require.Equal(t, 12, strings.Count(page, "Because of Test"), "as changes and in conversations: %s", said)
	require.Less(t, strings.Count(text, "Because of Test"), 6)
}

// TestServedBesideAnswers: every view tells what a test is given besides the answer, which neither request nor answer says.
func TestServedBesideAnswers(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*snapshot.Snapshot){
		"x-verified: true":          func(s *snapshot.Snapshot) { s.Response.Headers = map[string][]string{"x-verified": {"true"}} },
		"now: 2020-01-01T00:00:00Z": func(s *snapshot.Snapshot) { s.Source.Now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		t.Run(want, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			top := filepath.Dir(dir)
			keepRaw(t, dir, "TestServed", `{}`)
			commitAll(t, top)
			keepRaw(t, dir, "TestServed", `{}`, change)
			for _, args := range []string{"diff", "diff --markdown", "diff --html", "diff --json", "review"} {
				code, out, said := run("", append(strings.Fields(args), "--dir", dir)...)
				require.Equal(t, exitFindings, code, "%s: %s", args, said)
				require.Contains(t, out, want, args)
			}
			_, value, _ := strings.Cut(want, ": ")
			_, out, _ := run("", "show", "--dir", dir, "TestServed")
			require.Contains(t, out, value)
		})
	}
}

// TestDiffSaysWhatItLeavesOut: where a part is shown, the command that shows the whole is named, and only there.
func TestDiffSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	was, is := filepath.Join(t.TempDir(), "was"), filepath.Join(t.TempDir(), "is")
	keepRaw(t, was, "TestLong", `{}`)
	for _, n := range []int{3, 3000} {
		text := strings.Repeat("a", n)
		keepRaw(t, is, "TestLong", `{}`, func(s *snapshot.Snapshot) { s.Response.Headers = map[string][]string{"x-text": {text}} })
		_, _, said := run("", "diff", was, is)
		require.Equal(t, n > 1000, strings.Contains(said, "all of it: traceforge diff "+gotest.Quote(was)+" "+gotest.Quote(is)+" --json\n"), said)
		_, out, _ := run("", "diff", was, is, "--json")
		require.Contains(t, out, text)
	}
	for i := range 26 {
		keepRaw(t, is, "TestNew"+strconv.Itoa(i), `{}`)
	}
	keepRaw(t, is, "TestLong", `{}`)
	_, out, said := run("", "diff", was, is)
	require.Contains(t, out, "\n  and 1 more\n")
	require.Contains(t, said, " --json\n", "more tests than it names")
}

// TestDiffShowsAddedTests: every form shows what an added test says, without secrets, and the command that shows all does.
func TestDiffShowsAddedTests(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, dir, "TestOld", `{}`)
	commitAll(t, filepath.Dir(dir))
	secret := "sk-proj-" + strings.Repeat("aB3dE5gH", 8)
	keepRaw(t, dir, "TestNew", `{}`, func(s *snapshot.Snapshot) {
		s.Request.Model = "M-model"
		s.Request.Messages[0] = pagetest.Said("system", strings.Repeat("line\n", 300)+"key "+secret+"\nM-end")
		s.Request.Messages[1] = pagetest.Said("user", "key "+secret+"\n")
	})
	for _, form := range []string{"text", "--markdown", "--html", "--json"} {
		args := []string{"diff", "--dir", dir, form}
		if form == "text" {
			args = args[:3]
		}
		_, out, said := run("", args...)
		require.Contains(t, out, "M-model", form)
		require.NotContains(t, out+said, "aB3dE5gH", form)
		all := "traceforge diff --dir " + gotest.Quote(dir) + " --json"
		whole := form == "--html" || form == "--json"
		require.Equal(t, whole, strings.Contains(out, "M-end"), form)
		require.Equal(t, !whole, strings.Contains(out, " more lines: "+all), form)
		require.Equal(t, form == "text", strings.Contains(said, "; all of it: "+all+"\n"), said)
		_, out, said = run("", append(args, dir, "HEAD")...)
		require.Contains(t, out, "TestNew", "which HEAD has not")
		require.NotContains(t, out+said, "aB3dE5gH", form)
	}
}

// TestMovedTestIsCompared: a test that moved hides nothing that replay serves, or that says how an answer came about.
func TestMovedTestIsCompared(t *testing.T) {
	t.Parallel()
	before := filepath.Join(t.TempDir(), "before")
	keepRaw(t, before, "TestOld", `{}`)
	const moved = "1 test moved\n  moved openai/"
	for name, tt := range map[string]struct {
		raw, told string
		change    func(*snapshot.Snapshot)
	}{
		"nothing": {`{}`, "", func(s *snapshot.Snapshot) {}},
		"latency": {`{}`, "", func(s *snapshot.Snapshot) { s.Response.LatencyMS++ }},
		"headers": {`{}`, "answer: headers added\n  + retry-after: 100\n", func(s *snapshot.Snapshot) { s.Response.Headers = map[string][]string{"retry-after": {"100"}} }},
		"status":  {`{}`, "answer: status\n  - 200\n  + 201\n", func(s *snapshot.Snapshot) { s.Response.Status = 201 }},
		"time":    {`{}`, "answer: source added\n  + now: 2020-01-01T00:00:00Z\n", func(s *snapshot.Snapshot) { s.Source.Now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"readings": {`{}`, "answer: readings added\n  + a call of rm({})\n", func(s *snapshot.Snapshot) {
			s.Response.Readings = []snapshot.Reading{{Kind: "added-call", Says: "rm({})"}}
		}},
		"ids":   {`{}`, "answer: source added\n  + resp_1\n", func(s *snapshot.Snapshot) { s.Source.IDs = []string{"resp_1"} }},
		"bytes": {`{"vendor":1}`, "/vendor added", func(s *snapshot.Snapshot) {}},
	} {
		dir := filepath.Join(t.TempDir(), "after")
		keepRaw(t, dir, "TestNew", tt.raw, tt.change)
		code, out, said := run("", "diff", before, dir)
		require.Equal(t, exitFindings, code, said)
		require.Contains(t, out, moved, name)
		require.Contains(t, out, tt.told, name)
		require.Equal(t, tt.told == "", strings.HasPrefix(out, moved) && strings.Count(out, "\n") == 3, "%s: %s", name, out)
	}
}

// TestReadingsInJSON: what programs get of a call says how other programs read its answer, and where the answer came from.
func TestReadingsInJSON(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	says := strings.Repeat("This is a sentence.\n", 20) // files have it in pieces
	keepRaw(t, dir, "TestRead", `{}`, func(s *snapshot.Snapshot) {
		s.Source.Origin = "go-vcr"
		s.Response.Readings = []snapshot.Reading{{Kind: "added-call", Says: "rm({})"}, {Event: 3, Kind: "text", Says: says}}
	})
	before := filepath.Join(t.TempDir(), "before")
	require.NoError(t, pagetest.MakeStore(before, "turn1"))
	for _, args := range [][]string{{"show", "--json", "--dir", dir, "TestRead"}, {"diff", "--json", before, dir}} {
		_, out, said := run("", args...)
		require.Contains(t, out, `"readings":[{"kind":"added-call","says":"rm({})"},{"event":3,"kind":"text","says":"This is a sentence.\nThis`, said)
		require.Contains(t, out, `"origin":"go-vcr"`)
	}
	_, out, said := run("", "show", "--sf", "--dir", dir, "TestRead")
	require.NotContains(t, out, "readings", said)
}

// TestDiffLeavesNoCopies: what diff copies of revisions is removed, also where one of them cannot be read.
func TestDiffLeavesNoCopies(t *testing.T) {
	dir, temp := filepath.Join(t.TempDir(), ".ai-snapshots"), t.TempDir()
	keepRaw(t, dir, "TestOne", `{}`)
	commitAll(t, filepath.Dir(dir))
	t.Setenv("TMPDIR", temp)
	for _, to := range []string{"HEAD", "none"} {
		code, _, said := run("", "diff", "--dir", dir, "HEAD", to)
		require.Equal(t, to == "HEAD", code == exitClean, said)
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestTwoDocumentsOfOneTest: no state is compared in which a test has two documents, as one could hide the other.
func TestTwoDocumentsOfOneTest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, dir, "TestTwice", `{}`)
	before := filepath.Join(t.TempDir(), "before")
	require.NoError(t, os.CopyFS(before, os.DirFS(dir)))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "zzz"), os.DirFS(filepath.Join(dir, "openai"))))
	file := documentOf("TestTwice") + ".json"
	code, out, said := run("", "diff", before, dir)
	require.Equal(t, exitFindings, code)
	require.Empty(t, out)
	require.Contains(t, said, "zzz/"+file+": duplicate: is the document of the same test as openai/"+file+": delete one\n")
	code, out, said = run("", "diff", dir, before)
	require.Equal(t, exitFindings, code)
	require.Empty(t, out)
	require.Contains(t, said, "zzz/"+file+": duplicate: ")
}

// TestDiffNamesFilesAsGit: what cannot be read at a revision has the name that git has for it, not that of a copy.
func TestDiffNamesFilesAsGit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, dir, "TestOne", `{}`)
	file := "openai/" + documentOf("TestOne") + ".json"
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	require.NoError(t, err)
	commitAll(t, filepath.Dir(dir))
	for _, tt := range []struct{ file, text, want string }{
		{file, "{", "HEAD:" + file + ": json: "},
		{"zzz/" + path.Base(file), string(text), "HEAD:zzz/" + path.Base(file) + ": duplicate: "},
	} {
		gittest.Write(t, dir, map[string]string{tt.file: tt.text})
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "-m", "broken")
		for _, args := range [][]string{{"HEAD~1", "HEAD"}, {"HEAD", "HEAD~1"}} {
			code, out, said := run("", append([]string{"diff", "--dir", dir}, args...)...)
			require.Equal(t, exitFindings, code, "%s%s", out, said)
			require.Contains(t, said, tt.want)
			require.NotContains(t, out+said, "traceforge-copy-")
		}
		gittest.Run(t, dir, "revert", "--no-edit", "HEAD")
	}
}

// TestDiffRefusesWhatGitReads: diff does not pass over altered raw answers where git's own files in the store are none.
func TestDiffRefusesWhatGitReads(t *testing.T) {
	for _, name := range []string{store.AttributesName, store.IgnoreName} {
		dir := filepath.Join(t.TempDir(), ".ai-snapshots")
		keepRaw(t, dir, "TestOne", `{}`)
		commitAll(t, filepath.Dir(dir))
		raw, err := filepath.Glob(filepath.Join(dir, "openai", "*", "1.json"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(raw[0], []byte(`{"a":1}`), 0o666))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		code, out, said := run("", "diff", "--dir", dir, "HEAD")
		require.NotEqual(t, exitClean, code, "%s: %s%s", name, out, said)
		require.Contains(t, out+said, name+": ", out)
	}
}

// TestRawAnswersThatWait: review names what changed of a pending answer too, and says what it cannot compare.
func TestRawAnswersThatWait(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, dir, "TestWait", `{"a":1}`)
	other := filepath.Join(t.TempDir(), ".ai-snapshots")
	keepRaw(t, other, "TestWait", `{"a":2}`)
	keepRaw(t, filepath.Join(dir, ".pending"), "TestWait", `{"a":2}`)
	_, out, said := run("", "review", "--dir", dir, "--pending")
	require.Contains(t, out, "\n  call 1, /a changed\n", said)
	raw, err := filepath.Glob(filepath.Join(other, "openai", "*", "1.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(raw[0], []byte("{}"), 0o666))
	keepRaw(t, dir, "TestWell", `{"b":1}`)
	keepRaw(t, other, "TestWell", `{"b":2}`)
	for _, args := range [][]string{{dir, other}, {other, dir}} {
		_, out, said = run("", append([]string{"diff"}, args...)...)
		require.Contains(t, out, "\n    call 1, cannot be compared: traceforge verify tells what cannot be read\n", said)
		require.Contains(t, out, "\n    call 1, /b changed\n", said)
	}
}

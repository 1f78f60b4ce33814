package store

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// pend puts a test's calls into the pending answers of dir, like a failed test.
func pend(t *testing.T, s *Store, at time.Time, test string, calls ...call) Put {
	t.Helper()
	p := putOf(test, calls...)
	for i := range p.Document.Snapshots {
		p.Document.Snapshots[i].Timestamp = at
	}
	commit(t, s.Pending(), p)
	return p
}

func idsOf(test string, numbers ...int) (ids []string) {
	for _, n := range numbers {
		ids = append(ids, snapshot.ID(nameOf(test), n))
	}
	return ids
}

func TestAccept(t *testing.T) {
	later := recordedAt.Add(time.Hour)
	before := []call{{1, "Where is it?", "On its way."}, {2, "When?", "Tomorrow."}, {3, "Why?", "Snow."}}
	for _, tt := range []struct {
		name, reason string
		pending      []call
		accept       []int
		as           []int // the numbers that they get
		want         []call
		left         []call
	}{
		{
			"replaces", "a record whose number the document has replaces that one, at its place",
			[]call{{2, "When exactly?", "At nine."}}, []int{2}, []int{2},
			[]call{before[0], {2, "When exactly?", "At nine."}, before[2]}, nil,
		},
		{
			"follows", "a new record follows the one that is in front of it in the pending document",
			[]call{{2, "When exactly?", "At nine."}, {4, "Sure?", "Yes."}}, []int{2, 4}, []int{2, 4},
			[]call{before[0], {2, "When exactly?", "At nine."}, {4, "Sure?", "Yes."}, before[2]}, nil,
		},
		{
			"follows_skipped", "also where that one is not accepted",
			[]call{{2, "When exactly?", "At nine."}, {4, "Sure?", "Yes."}}, []int{4}, []int{4},
			[]call{before[0], before[1], {4, "Sure?", "Yes."}, before[2]}, []call{{2, "When exactly?", "At nine."}},
		},
		{
			"precedes", "where it is the first one, it is in front of the one that follows it",
			[]call{{4, "Hello?", "Hello."}, {3, "Why not?", "Ice."}}, []int{4, 3}, []int{4, 3},
			[]call{before[0], before[1], {4, "Hello?", "Hello."}, {3, "Why not?", "Ice."}}, nil,
		},
		{
			"ends", "alone it is the last one",
			[]call{{4, "Hello?", "Hello."}}, []int{4}, []int{4},
			[]call{before[0], before[1], before[2], {4, "Hello?", "Hello."}}, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestIt", before...), putOf("TestOther", call{1, "a", "b"}))
			pend(t, s, later, "TestIt", tt.pending...)
			accepted, err := Audit.Accept(s, idsOf("TestIt", tt.accept...))
			require.NoError(t, err, tt.reason)
			var as []string
			for _, a := range accepted {
				as = append(as, a.As)
			}
			require.Equal(t, idsOf("TestIt", tt.as...), as)
			requireCalls(t, s, "TestIt", tt.want...)
			requireCalls(t, s, "TestOther", call{1, "a", "b"})
			requireWhole(t, s)
			if tt.left == nil {
				tbtest.NoPending(t, dir)
				return
			}
			requireCalls(t, s.Pending(), "TestIt", tt.left...)
			requireWhole(t, s.Pending())
		})
	}
}

// TestAcceptNew checks that Accept creates a document if there is none, and that other documents stay pending.
func TestAcceptNew(t *testing.T) {
	s, _ := newStore(t)
	pend(t, s, recordedAt, "TestIt", call{1, "Where?", "There."}, call{2, "When?", "Now."})
	pend(t, s, recordedAt, "TestOther", call{1, "a", "b"})
	_, err := Audit.Accept(s, []string{nameOf("TestIt")})
	require.NoError(t, err)
	requireCalls(t, s, "TestIt", call{1, "Where?", "There."}, call{2, "When?", "Now."})
	requireCalls(t, s.Pending(), "TestOther", call{1, "a", "b"})
	files, err := s.Pending().List()
	require.NoError(t, err)
	require.Equal(t, []string{fileOf("TestOther")}, files)
	requireWhole(t, s)
	requireWhole(t, s.Pending())
	require.Equal(t, "*\n", tree(t, s.Pending().Dir())[IgnoreName], "git ignores it also where the store has no .gitignore yet")
}

// TestAcceptNumberTaken accepts a new record whose number another call has got since. The record gets the next number,
// once: accepting again after a kill between the commit and the removal adds nothing.
func TestAcceptNumberTaken(t *testing.T) {
	s, _ := newStore(t)
	meanwhile := putOf("TestIt", call{1, "Where?", "There."}, call{2, "When?", "Now."})
	meanwhile.Document.Snapshots[1].Timestamp = recordedAt.Add(2 * time.Hour)
	commit(t, s, meanwhile)
	for range 2 {
		pend(t, s, recordedAt.Add(time.Hour), "TestIt", call{2, "Why?", "Snow."}, call{3, "Sure?", "Yes."})
		accepted, err := Audit.Accept(s, []string{nameOf("TestIt")})
		require.NoError(t, err)
		require.Equal(t, idsOf("TestIt", 4, 3), []string{accepted[0].As, accepted[1].As})
		requireCalls(t, s, "TestIt", call{1, "Where?", "There."}, call{2, "When?", "Now."}, call{4, "Why?", "Snow."}, call{3, "Sure?", "Yes."})
		requireWhole(t, s)
	}
}

// TestAcceptKeepsAnswer checks that an answer with the same content keeps its bytes and times, even if the request
// changed (design R4).
func TestAcceptKeepsAnswer(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestIt", call{1, "Where?", "There."}))
	raw := tree(t, dir)[rawOf("TestIt", 1)]
	p := putOf("TestIt", call{1, "Where is it?", "There."})
	record := &p.Document.Snapshots[0]
	record.Timestamp, record.Source.Line, record.Response.LatencyMS = recordedAt.Add(time.Hour), 99, 500
	commit(t, s.Pending(), p)
	_, err := Audit.Accept(s, idsOf("TestIt", 1))
	require.NoError(t, err)
	requireCalls(t, s, "TestIt", call{1, "Where is it?", "There."})
	doc, err := s.Load(nameOf("TestIt"), "openai")
	require.NoError(t, err)
	got := doc.Document.Snapshots[0]
	require.Equal(t, recordedAt, got.Timestamp)
	require.Zero(t, got.Response.LatencyMS)
	require.Equal(t, 31, got.Source.Line, "the line stays while file and function do")
	require.Equal(t, raw, tree(t, dir)[rawOf("TestIt", 1)])
	requireWhole(t, s)
}

// TestAcceptOtherForm checks that an answer with the same content replaces the recorded one if the request asks for another
// form: a program that reads a stream could not read the old bytes.
func TestAcceptOtherForm(t *testing.T) {
	for _, tt := range []struct {
		name, reason, option, contentType string
	}{
		{"stream", "the answer is now a stream", "stream", "text/event-stream"},
		{"option", "an option may ask for more than a record shows", "logprobs", "application/json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newStore(t)
			commit(t, s, putOf("TestIt", call{1, "Where?", "There."}))
			p := putOf("TestIt", call{1, "Where?", "There."})
			record := &p.Document.Snapshots[0]
			record.Timestamp = recordedAt.Add(time.Hour)
			record.Request.Options = modelio.Object{tt.option: json.RawMessage("true")}
			record.Response.Headers = map[string][]string{"content-type": {tt.contentType}}
			raw := []byte("data: There.\n\n")
			answered(p, raw)
			commit(t, s.Pending(), p)
			_, err := Audit.Accept(s, idsOf("TestIt", 1))
			require.NoError(t, err)
			doc, err := s.Load(nameOf("TestIt"), "openai")
			require.NoError(t, err)
			got, err := doc.Raw(0)
			require.NoError(t, err)
			require.Equal(t, string(raw), string(got), tt.reason)
			require.Equal(t, recordedAt.Add(time.Hour), doc.Document.Snapshots[0].Timestamp)
			requireWhole(t, s)
		})
	}
}

// TestAcceptReplacesAnswer checks that an answer with the same content replaces one that is missing or fails a check.
func TestAcceptReplacesAnswer(t *testing.T) {
	forged := func(d *Doc) []snapshot.Violation {
		if d.Log != "" {
			return nil
		}
		return []snapshot.Violation{{Pointer: "/snapshots/0/response", Rule: snapshot.RuleAnswer, Message: "is forged"}}
	}
	for _, checks := range [][]Check{nil, {forged}} {
		s, dir := newStore(t)
		commit(t, s, putOf("TestIt", call{1, "Where?", "There."}))
		pend(t, s, recordedAt.Add(time.Hour), "TestIt", call{1, "Where?", "There."})
		if checks == nil {
			removeFile(t, dir, rawOf("TestIt", 1))
		}
		_, err := Audit.Accept(s, idsOf("TestIt", 1), checks...)
		require.NoError(t, err)
		requireWhole(t, s)
		doc, err := s.Load(nameOf("TestIt"), "openai")
		require.NoError(t, err)
		require.Equal(t, recordedAt.Add(time.Hour), doc.Document.Snapshots[0].Timestamp)
	}
}

// TestAcceptContinues checks that continued records stay right when a record before them is replaced.
func TestAcceptContinues(t *testing.T) {
	s, dir := newStore(t)
	p := putOf("TestIt", call{1, "Where?", "There."}, call{2, "", "Tomorrow."})
	first := &p.Document.Snapshots[0]
	p.Document.Snapshots[1].Request.Messages = append(first.Request.Messages[:2:2],
		first.Response.Candidates[0].Message, text("user", "When?"))
	commit(t, s, p)
	require.Contains(t, tree(t, dir)[fileOf("TestIt")], `"continues"`)
	pend(t, s, recordedAt.Add(time.Hour), "TestIt", call{1, "Where is it?", "Here."})
	_, err := Audit.Accept(s, idsOf("TestIt", 1))
	require.NoError(t, err)
	requireCalls(t, s, "TestIt", call{1, "Where is it?", "Here."}, call{2, "When?", "Tomorrow."})
	requireWhole(t, s)
}

// TestAcceptRefuses checks that Accept refuses altered or invalid answers, and changes nothing.
func TestAcceptRefuses(t *testing.T) {
	unproven := func(d *Doc) []snapshot.Violation {
		if _, err := d.Raw(0); err != nil {
			return nil
		}
		return []snapshot.Violation{{Pointer: "/snapshots/0/response", Rule: snapshot.RuleAnswer, Message: "says another thing"}}
	}
	for _, tt := range []struct {
		name, want string
		alter      func(t *testing.T, log string)
		check      Check
	}{
		{"raw", "has an answer of the hash ", func(t *testing.T, log string) { replacing(`{"answer":"Here."}`, `{"answer":"There"}`)(t, log) }, nil},
		{"missing", "is missing", func(t *testing.T, log string) {
			text := readFile(t, log)
			_, rest, _ := strings.Cut(text, "\nanswer ")
			require.NoError(t, os.WriteFile(log, []byte(logHead+"openai\n"+rest[strings.Index(rest, "\nrecord ")+1:]), 0o666))
		}, nil},
		{"head", "is no file of pending answers", replacing(logHead, "{"), nil},
		{"check", "says another thing", func(*testing.T, string) {}, unproven},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestIt", call{1, "Where?", "There."}), putOf("TestOther", call{1, "a", "b"}))
			pend(t, s, recordedAt, "TestIt", call{1, "Where is it?", "Here."})
			pend(t, s, recordedAt, "TestOther", call{1, "a", "c"})
			logs, err := logDir{s.Pending()}.logsOf(nameOf("TestIt"))
			require.NoError(t, err)
			tt.alter(t, filepath.Join(dir, PendingName, logs[0]))
			before := tree(t, dir)
			_, err = Audit.Accept(s, []string{nameOf("TestOther"), nameOf("TestIt")}, func(d *Doc) []snapshot.Violation {
				if tt.check == nil || d.Name != nameOf("TestIt") {
					return nil
				}
				return tt.check(d)
			})
			var broken *snapshot.Error
			require.ErrorAs(t, err, &broken)
			require.Contains(t, broken.File, ".pending/")
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, before, tree(t, dir))

			require.NoError(t, Audit.Reject(s, nameOf("TestIt")), "what is broken can be rejected")
			_, err = Audit.Accept(s, []string{nameOf("TestOther")})
			require.NoError(t, err)
			tbtest.NoPending(t, dir)
		})
	}
}

func TestReject(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestIt", call{1, "Where?", "There."}))
	before := tree(t, dir)
	pend(t, s, recordedAt, "TestIt", call{1, "Where is it?", "Here."}, call{2, "When?", "Now."})
	require.NoError(t, Audit.Reject(s, idsOf("TestIt", 1)...))
	requireCalls(t, s.Pending(), "TestIt", call{2, "When?", "Now."})
	requireWhole(t, s.Pending())
	require.NoError(t, Audit.Reject(s, idsOf("TestIt", 2)...))
	tbtest.NoPending(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".pending")))
	require.Equal(t, before, tree(t, dir))
	require.NoError(t, Audit.Reject(s), "nothing is asked")
}

// TestNotPending checks that an id that is not pending gives an error, in any form, and changes nothing.
func TestNotPending(t *testing.T) {
	for _, id := range []string{"", "-1", "../../etc", "..", nameOf("TestIt") + "-2", nameOf("TestNo") + "-1", "\x1b[2J-1",
		nameOf("TestIt") + "-01", nameOf("TestIt") + "-18446744073709551617"} {
		s, dir := newStore(t)
		_, err := Audit.Accept(s, []string{id})
		require.ErrorIs(t, err, fs.ErrNotExist, "%q in no store", id)
		require.NoDirExists(t, dir)
		pend(t, s, recordedAt, "TestIt", call{1, "Where?", "There."})
		before := tree(t, dir)
		_, err = Audit.Accept(s, []string{nameOf("TestIt") + "-1", id})
		require.ErrorIs(t, err, fs.ErrNotExist, "%q", id)
		err = Audit.Reject(s, nameOf("TestIt")+"-1", id)
		require.ErrorIs(t, err, fs.ErrNotExist, "%q", id)
		delete(before, "commit.pending")
		after := tree(t, dir)
		for _, own := range []string{AttributesName, IgnoreName} { // the store creates them
			delete(after, own)
		}
		require.Equal(t, before, after)
	}
}

// TestAcceptTwice checks that accepting again after a kill between the two commits gives the same result.
func TestAcceptTwice(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestIt", call{1, "Where?", "There."}))
	pend(t, s, recordedAt.Add(time.Hour), "TestIt", call{1, "Where is it?", "Here."}, call{2, "When?", "Now."})
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, ".pending"))))
	_, err := Audit.Accept(s, []string{nameOf("TestIt")})
	require.NoError(t, err)
	tbtest.NoPending(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".pending")))
	want := tree(t, dir)
	require.NoError(t, os.CopyFS(filepath.Join(dir, ".pending"), os.DirFS(copied)))
	_, err = Audit.Accept(s, []string{nameOf("TestIt")})
	require.NoError(t, err)
	tbtest.NoPending(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".pending")))
	require.Equal(t, want, tree(t, dir))
}

// TestAcceptAgain accepts answers that a killed Accept already committed and was removing from the pending answers. The
// second Accept must report the same as the first.
func TestAcceptAgain(t *testing.T) {
	_, dir := newStore(t)
	undecided(t, dir)
	s := openAt(t, dir)
	ids := []string{nameOf("TestX"), nameOf("TestNew")}
	before := tree(t, filepath.Join(dir, PendingName))
	want, err := Audit.Accept(s, ids)
	require.NoError(t, err)
	require.Len(t, want, 3)

	for file, text := range before {
		path := filepath.Join(dir, PendingName, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	p := s.Pending()
	root, err := os.OpenRoot(p.dir)
	require.NoError(t, err)
	defer root.Close()
	cut := &Transaction{Writer: Writer{Root: root, limit: s.maxBytes}, store: p}
	logs := logsIn(t, s)
	for _, file := range logs {
		require.NoError(t, cut.Remove(file))
	}
	require.NoError(t, root.WriteFile(JournalName, []byte(cut.journal()+journalReady+"\n"), 0o666))
	got, err := Audit.Accept(openAt(t, dir), ids)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got)
	require.Empty(t, logsIn(t, s))
	_, err = Audit.Accept(openAt(t, dir), ids)
	require.ErrorContains(t, err, "is not pending")
}

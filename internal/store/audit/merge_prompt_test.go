package audit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

const sharedPrompt = "You are a helper.\nBe kind.\nUse no lists.\nName your sources.\nNever guess.\nBe brief."

// sharing returns documents of tests with one system prompt. Their second call continues the first.
func sharing(system, said string, tests int) (puts []store.Put) {
	for n := range tests {
		test := fmt.Sprintf("Test%02d", n)
		p := putWith(test, system, call{1, "one?", said}, call{2, "two?", "two"})
		first, second := &p.Document.Snapshots[0], &p.Document.Snapshots[1]
		messages := append(first.Request.Messages[:2:2], text(modelio.RoleModel, said), text(modelio.RoleUser, "two?"))
		second.Request.Messages, second.Continues = messages, &snapshot.Continues{Call: 1, Messages: 3}
		puts = append(puts, p)
	}
	return puts
}

// TestSharedPrompt changes the prompt of 52 tests on both branches. git merges the prompt's file, and Repair merges the
// requests.
func TestSharedPrompt(t *testing.T) {
	t.Parallel()
	put := func(old, new string) string { return strings.Replace(sharedPrompt, old, new, 1) }
	kind, ask := put("Be kind.", "Be kind and calm."), put("Never guess.", "Never guess, ask.")
	both := strings.Replace(kind, "Never guess.", "Never guess, ask.", 1)
	for _, c := range []struct {
		name, reason       string
		ours, theirs       []store.Put
		with               []string // the git command that joins the branches
		take               string
		system, said, left string
		stale              bool
	}{
		{"two lines", "the request is that of both", sharing(kind, "one", 52), sharing(ask, "one", 52),
			[]string{"merge", "-q", "--no-edit", "theirs"}, "", both, "one", "", true},
		{"two lines and answers", "the answer is ours", sharing(kind, "ours", 8), sharing(ask, "theirs", 8),
			[]string{"merge", "-q", "--no-edit", "theirs"}, "", both, "ours", "", true},
		{"rebased", "a rebase calls the branch that it goes to ours", sharing(kind, "ours", 8), sharing(ask, "theirs", 8),
			[]string{"rebase", "-q", "theirs"}, "", both, "theirs", "", true},
		{"squashed", "a squash has no second parent", sharing(kind, "ours", 8), sharing(ask, "theirs", 8),
			[]string{"merge", "-q", "--squash", "theirs"}, "", both, "ours", "", true},
		{"squashed with one answer changed", "git merged the raw answers to theirs, and says nowhere where ours is",
			sharing(kind, "one", 8), sharing(ask, "theirs", 8), []string{"merge", "-q", "--squash", "theirs"}, "", both, "one", "", true},
		{"squashed, theirs", "git merged the raw answers to ours, and theirs is that of the base",
			sharing(kind, "ours", 8), sharing(ask, "one", 8), []string{"merge", "-q", "--squash", "theirs"}, AllTheirs, ask, "one", "", false},
		{"same line", "ours stays, and it is said", sharing(kind, "ours", 8), sharing(put("Be kind.", "Be polite."), "theirs", 8),
			[]string{"merge", "-q", "--no-edit", "theirs"}, "", kind, "ours", "both changed system: that is ours", false},
		{"theirs", "the user chose", sharing(kind, "ours", 8), sharing(ask, "theirs", 8),
			[]string{"merge", "-q", "--no-edit", "theirs"}, AllTheirs, ask, "theirs", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t, sharing(sharedPrompt, "one", len(c.ours))...)
			r.git("checkout", "-q", "-b", "theirs")
			r.commit(c.theirs...)
			r.git("checkout", "-q", "-b", "ours", "main")
			r.commit(c.ours...)
			_, err := r.try(c.with...)
			require.Error(t, err, "plain git cannot")
			var take []string
			if c.take != "" {
				take = []string{c.take}
			}
			report, err := Repair(r.store, take...)
			require.NoError(t, err)
			said := report.String()
			require.LessOrEqual(t, strings.Count(said, "\n"), 12, said)
			require.Contains(t, said, "\nnow: git add -A -- "+gotest.Quote(filepath.ToSlash(r.store.Dir()))+"\n")
			require.Contains(t, said, c.left)
			require.Equal(t, c.stale, strings.Contains(said, fmt.Sprintf("\nthen: traceforge update, which buys %d answers again; ", 2*len(c.ours))), said)
			requireVerified(t, r.store)
			for _, p := range c.ours {
				doc, err := r.store.Load(p.Name, "openai")
				require.NoError(t, err)
				for i, s := range doc.Document.Snapshots {
					require.Equal(t, c.system, *s.Request.Messages[0].Content[0].Text, c.reason)
					require.Equal(t, c.stale, s.Response.Stale != "", c.reason)
					if i == 0 {
						require.Equal(t, c.said, *s.Response.Candidates[0].Message.Content[0].Text, c.reason)
					}
				}
				require.NotNil(t, doc.Document.Snapshots[1].Continues)
			}
			if c.name == "two lines" {
				core, err := snapshot.RequestCore(&c.ours[0].Document.Snapshots[0].Request, nil)
				require.NoError(t, err)
				doc, err := r.store.Load(c.ours[0].Name, "openai")
				require.NoError(t, err)
				require.Equal(t, canon.Sum(core), doc.Document.Snapshots[0].Response.Stale, "it names the request that it answers")
			}
			r.git("add", "-A", "--", ".ai-snapshots")
			require.Empty(t, r.conflicts())
		})
	}
}

// TestSharedPromptWithoutAnswers checks that one line reports all documents whose answer git lost, eight of ten.
func TestSharedPromptWithoutAnswers(t *testing.T) {
	t.Parallel()
	with := func(prompt, said string) []store.Put {
		return append(sharing(prompt, said, 8), sharing(prompt, "kept", 18)[8:]...)
	}
	r := newRepository(t, with(sharedPrompt, "lost")...)
	r.git("checkout", "-q", "-b", "theirs")
	r.commit(with(strings.Replace(sharedPrompt, "Be kind.", "Be calm.", 1), "found")...)
	r.git("checkout", "-q", "-b", "ours", "main")
	r.commit(with(strings.Replace(sharedPrompt, "Never guess.", "Never guess, ask.", 1), "lost")...)
	_, err := r.try("merge", "-q", "--squash", "theirs")
	require.Error(t, err)
	lost := strings.TrimSpace(r.git("rev-parse", "HEAD:.ai-snapshots/"+rawOf("Test00", 1)))
	removeFile(t, r.dir, ".git/objects/"+lost[:2]+"/"+lost[2:])

	report, err := Repair(r.store)
	require.NoError(t, err)
	said := report.String()
	require.LessOrEqual(t, strings.Count(said, "\n"), 12, said)
	require.Contains(t, said, "and 5 more: conflict: could not be merged: neither git nor the store has an answer that it names\n"+
		"take one side with git checkout --ours or --theirs -- FILE, and record again with -update what is missing\n"+
		"now: take a side of each that is left, then git add -A -- ")
}

// TestSharedPromptAfterOtherMerges covers a criss-cross, whose two common ancestors git merges into one with markers,
// and the revert of a merge, which names an answer that only the merge had.
func TestSharedPromptAfterOtherMerges(t *testing.T) {
	t.Parallel()
	for _, clock := range []int{-1, 0, 1} { // git names the younger ancestor first
		t.Run(strconv.Itoa(clock), func(t *testing.T) { t.Parallel(); mergeAfterOthers(t, clock) })
	}
}

func mergeAfterOthers(t *testing.T, clock int) {
	prompt := func(changes ...string) string { return strings.NewReplacer(changes...).Replace(sharedPrompt) }
	kind, ask := []string{"Be kind.", "Be calm."}, []string{"Be brief.", "Be short."}
	both := append(kind, ask...)
	r := newRepository(t, sharing(sharedPrompt, "one", 1)...)
	r.clock = clock
	r.git("checkout", "-q", "-b", "theirs")
	r.commit(sharing(prompt(ask...), "theirs", 1)...)
	r.git("checkout", "-q", "main")
	r.commit(sharing(prompt(kind...), "ours", 1)...)
	_, err := r.try("merge", "-q", "theirs")
	require.Error(t, err)
	r.heal()
	r.git("checkout", "-q", "theirs")
	_, err = r.try("merge", "-q", "main^")
	require.Error(t, err)
	r.heal()
	r.commit(sharing(prompt(append(both, "lists", "tables")...), "side", 1)...)
	r.git("checkout", "-q", "main")
	commit(t, r.store, sharing(prompt(both...), "merged", 1)...)
	r.git("add", "-A")
	r.git("commit", "-q", "--amend", "--no-edit")
	r.git("branch", "merged")
	r.commit(sharing(prompt(append(both, "helper", "clerk")...), "more", 1)...)
	_, err = r.try("merge", "-q", "theirs")
	require.Error(t, err)
	r.heal()
	record := func() *snapshot.Snapshot {
		doc, err := r.store.Load(nameOf("Test00"), "openai")
		require.NoError(t, err)
		return &doc.Document.Snapshots[0]
	}
	require.Equal(t, prompt(append(both, "helper", "clerk", "lists", "tables")...), *record().Request.Messages[0].Content[0].Text)

	r.git("reset", "-q", "--hard", "merged")
	r.commit(sharing(prompt(append(both, "helper", "clerk")...), "merged", 1)...)
	_, err = r.try("revert", "--no-edit", "-m", "1", "merged")
	require.Error(t, err)
	r.heal()
	require.Equal(t, prompt(append(kind, "helper", "clerk")...), *record().Request.Messages[0].Content[0].Text)
	require.Equal(t, "merged", *record().Response.Candidates[0].Message.Content[0].Text)
}

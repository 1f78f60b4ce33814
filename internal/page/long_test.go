package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// chain returns a document of so many calls, each of which continues the one before it.
func chain(calls int, system, question, answer string) *snapshot.Document {
	doc := &snapshot.Document{Version: snapshot.Version}
	messages := []modelio.Message{pagetest.Said("system", system)}
	for i := range calls {
		s := pagetest.Document("plain").Snapshots[0]
		s.ID = snapshot.ID("testlong-5f0c3a9b1e77", i+1)
		messages = append(messages, pagetest.Said("user", fmt.Sprintf("%s %d?", question, i)))
		s.Request.Messages = messages[:len(messages):len(messages)]
		if i > 0 {
			s.Continues = &snapshot.Continues{Call: i, Messages: 2*i + 1}
		}
		said := pagetest.Said("model", fmt.Sprintf("%s %d.", answer, i))
		s.Response.Candidates[0].Message = said
		messages = append(messages, said)
		s.Hash = canon.Sum([]byte(system + question + answer + fmt.Sprint(i)))
		doc.Snapshots = append(doc.Snapshots, s)
	}
	return doc
}

var longChanges = map[string][3]string{
	"system":   {"Be good.", "what is", "it is"},
	"question": {"Be kind.", "what was", "it is"},
	"answer":   {"Be kind.", "what is", "it was"},
	"all":      {"Be good.", "what was", "it was"},
}

// marked returns a document whose calls begin with a message that has metadata, like a developer's message of OpenAI.
func marked(doc *snapshot.Document) *snapshot.Document {
	for i := range doc.Snapshots {
		doc.Snapshots[i].Request.Messages[0].Metadata = modelio.Object{"role": json.RawMessage(`"developer"`)}
	}
	return doc
}

// TestLongConversation: what is allocated to compare the calls of a conversation, and to unfold them, grows with their
// number, not with its square, whatever they repeat of the calls before them.
func TestLongConversation(t *testing.T) {
	for name, said := range longChanges {
		unmarked := func(doc *snapshot.Document) *snapshot.Document { return doc }
		require.Less(t, growth(t, said, unmarked), 2.4, name)
	}
	require.Less(t, growth(t, longChanges["all"], marked), 2.4, "messages have metadata")
}

// growth returns how much more is allocated to compare and to unfold twice as many calls.
func growth(t *testing.T, said [3]string, as func(*snapshot.Document) *snapshot.Document) float64 {
	const calls = 400
	var allocated [2]uint64
	for i := range allocated {
		n := calls << i
		from, to := as(chain(n, "Be kind.", "what is", "it is")), as(chain(n, said[0], said[1], said[2]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		compareLong(t, from, to)
		(&page.Page{Out: io.Discard, Width: 100}).Unfold("openai", from, to)
		runtime.ReadMemStats(&after)
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	return float64(allocated[1]) / float64(allocated[0])
}

// TestUnfoldWithoutACall: a call that continues one which only repeats an earlier change says so too.
func TestUnfoldWithoutACall(t *testing.T) {
	from, to := marked(chain(5, "Be kind.", "what is", "it is")), marked(chain(5, "Be good.", "what is", "it is"))
	to.Snapshots = slices.Delete(to.Snapshots, 2, 3)
	to.Snapshots[2].Continues = &snapshot.Continues{Call: 2, Messages: 5}
	var out strings.Builder
	(&page.Page{Out: &out, Width: 100}).Unfold("openai", from, to)
	for _, call := range []int{2, 4, 5} {
		_, of, _ := strings.Cut(out.String(), fmt.Sprintf("call %d, ", call))
		of, _, _ = strings.Cut(of, "\n\n")
		require.Contains(t, of, "system: as in call 1", "call %d", call)
	}
}

// TestOnlyOfByNumber: the numbers of calls need not be their places, as in a hostile document. Each is found once.
func TestOnlyOfByNumber(t *testing.T) {
	const calls = 5
	var doc snapshot.Document
	for n := range calls {
		doc.Snapshots = append(doc.Snapshots, snapshot.Snapshot{ID: snapshot.ID("x", calls-n)})
	}
	added := page.OnlyOf(page.Calls{"added": {1, 5, 6}}, nil, &doc)["added"]
	require.Len(t, added, 2)
	require.Contains(t, string(added[0]), `"x-1"`)
	require.Contains(t, string(added[1]), `"x-5"`)
}

// TestManyChangesHTML: what is allocated to show the changes of a call as a page grows with their number.
func TestManyChangesHTML(t *testing.T) {
	documents := func(n int, text string) *snapshot.Document {
		doc := chain(1, "Be kind.", text, text)
		for i := range n {
			messages := &doc.Snapshots[0].Request.Messages
			*messages = append(*messages, pagetest.Said("user", fmt.Sprintf("%s %d?", text, i)))
		}
		return doc
	}
	var allocated [2]uint64
	for i := range allocated {
		n := 1000 << i
		c := compareLong(t, documents(n, "what was"), documents(n, "what is"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.HTML(about)
		runtime.ReadMemStats(&after)
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, float64(allocated[1])/float64(allocated[0]), 2.4, "%v bytes", allocated)
}

// TestLongConversationIsWhole: the causes of a conversation are those of its calls, each compared whole.
func TestLongConversationIsWhole(t *testing.T) {
	const calls = 12
	for name, said := range longChanges {
		from, to := chain(calls, "Be kind.", "what is", "it is"), chain(calls, said[0], said[1], said[2])
		requireWhole(t, name, from, to)
		requireWhole(t, name+", with metadata", marked(from), marked(to))
	}
}

func requireWhole(t *testing.T, name string, from, to *snapshot.Document) {
	t.Helper()
	want := compareLong(t, whole(from), whole(to))
	got := compareLong(t, from, to)
	require.Len(t, got.Causes, len(want.Causes), name)
	for i, cause := range got.Causes {
		require.Equal(t, want.Causes[i].Change, cause.Change, name)
		require.Equal(t, want.Causes[i].Calls, cause.Calls, name)
		require.Len(t, cause.Answers, len(want.Causes[i].Answers), name)
		for j, answered := range cause.Answers {
			require.Equal(t, want.Causes[i].Answers[j].Place, answered.Place)
			require.True(t, j >= 3 || answered.Changes != nil, "%s: %d", name, j)
		}
	}
	require.Equal(t, want.Markdown("x"), got.Markdown("x"), name)
}

// whole returns a document whose calls continue none.
func whole(doc *snapshot.Document) *snapshot.Document {
	alone := *doc
	alone.Snapshots = slices.Clone(doc.Snapshots)
	for i := range alone.Snapshots {
		alone.Snapshots[i].Continues = nil
	}
	return &alone
}

func compareLong(t *testing.T, from, to *snapshot.Document) *page.Comparison {
	t.Helper()
	return comparison(t, false, from, to)
}

func comparison(t *testing.T, whole bool, from, to *snapshot.Document) *page.Comparison {
	t.Helper()
	all := []int{}
	for i := range to.Snapshots {
		all = append(all, i+1)
	}
	c := &page.Comparison{Conversations: !whole, Whole: whole}
	change := page.Change{Fate: "changed", File: "openai/testlong-5f0c3a9b1e77.json", Calls: page.Calls{"changed": all},
		Test: page.Test{Package: agents, Name: "TestLong"}}
	require.NoError(t, c.Add(change, from, to))
	c.Close()
	return c
}

// TestLongConversationForPrograms: what a program is told of a conversation grows with the number of its calls: a call that an
// earlier cause has listed is counted.
func TestLongConversationForPrograms(t *testing.T) {
	const calls = 100
	for name, said := range longChanges {
		var size [2]int
		for i := range size {
			n := calls << i
			c := comparison(t, true, chain(n, "Be kind.", "what is", "it is"), chain(n, said[0], said[1], said[2]))
			text, err := json.Marshal(c)
			require.NoError(t, err)
			size[i] = len(text)
			all := compareLong(t, chain(n, "Be kind.", "what is", "it is"), chain(n, said[0], said[1], said[2]))
			listed := map[page.Place]bool{}
			for j, cause := range all.Causes {
				require.Len(t, cause.Calls, len(c.Causes[j].Calls)+c.Causes[j].MoreCalls)
				require.Len(t, cause.Answers, len(c.Causes[j].Answers)+c.Causes[j].MoreAnswers)
				for _, call := range c.Causes[j].Calls {
					listed[call] = true
				}
				for _, call := range cause.Calls {
					require.True(t, listed[call], "%s: cause %d", name, j)
				}
			}
		}
		require.Less(t, float64(size[1])/float64(size[0]), 2.4, "%s: %v bytes", name, size)
	}
}

// TestManyRenamed: what is allocated to find tests that were renamed and changed grows with their number: not each that was
// removed is compared with each that was added.
func TestManyRenamed(t *testing.T) {
	tests := func(n int, edited bool) (docs []*snapshot.Document) {
		for i := range n {
			var text strings.Builder
			for word := range 500 {
				if edited && word%10 == 0 {
					word = -1
				}
				fmt.Fprintf(&text, "w%d ", word*word*(i+7)%1009)
			}
			docs = append(docs, chain(1, "Be kind.", text.String(), "it is"))
		}
		return docs
	}
	var allocated [2]uint64
	for i := range allocated {
		n := 20 << i
		removed, added := tests(n, false), tests(n, true)
		var c page.Comparison
		for j := range n {
			require.NoError(t, c.Add(page.Change{Fate: "removed", File: fmt.Sprint("openai/old", j), Calls: page.Calls{}}, removed[j], nil))
			require.NoError(t, c.Add(page.Change{Fate: "added", File: fmt.Sprint("openai/new", j), Calls: page.Calls{}}, nil, added[n-1-j]))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.Close()
		runtime.ReadMemStats(&after)
		allocated[i] = after.TotalAlloc - before.TotalAlloc
		require.Len(t, c.Differences, n)
		for _, d := range c.Differences {
			var was, now int
			_, err := fmt.Sscanf(d.Was+" "+d.File, "openai/old%d openai/new%d", &was, &now)
			require.NoError(t, err)
			require.Equal(t, n-1, was+now, "each was renamed")
		}
	}
	require.Less(t, float64(allocated[1])/float64(allocated[0]), 2.4, "%v bytes", allocated)
}

package traceforgetest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestPairing records a test of 20 calls, changes it, records again, and says what a pull
// request shows: which records are edited in place, added and removed.
func TestPairing(t *testing.T) {
	prompts := func(edit func([]string) []string) []chat {
		var texts []string
		for i := range 20 {
			texts = append(texts, fmt.Sprintf("question %d: %s", i+1, strings.Repeat(string(rune('a'+i)), 40)))
		}
		if edit != nil {
			texts = edit(texts)
		}
		var chats []chat
		for _, text := range texts {
			chats = append(chats, newChat(text))
		}
		return chats
	}
	withSystem := func(system string) []chat {
		chats := prompts(nil)
		for i, c := range chats {
			chats[i] = c.with("messages", append([]any{map[string]any{"role": "system", "content": system}}, c["messages"].([]any)...))
		}
		return chats
	}
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	cases := []struct {
		name, why              string
		before, after          []chat
		edited, added, removed []int // numbers of records
	}{
		{"same", "nothing changed", prompts(nil), prompts(nil), nil, nil, nil},
		{"insert", "a call in the middle is one new record with the next number",
			prompts(nil), prompts(func(p []string) []string { return slices.Insert(p, 10, "inserted") }), nil, []int{21}, nil},
		{"delete", "one record goes", prompts(nil), prompts(func(p []string) []string { return slices.Delete(p, 10, 11) }), nil, nil, []int{11}},
		{"swap", "kept records keep their place", prompts(nil), prompts(func(p []string) []string { p[3], p[7] = p[7], p[3]; return p }), nil, nil, nil},
		{"change", "an edit in place", prompts(nil), prompts(func(p []string) []string { p[4] += "!"; return p }), []int{5}, nil, nil},
		{"change two", "in order", prompts(nil), prompts(func(p []string) []string { p[4] += "!"; p[9] += "?"; return p }), []int{5, 10}, nil, nil},
		{"delete and change", "the changed one keeps its own record", prompts(nil),
			prompts(func(p []string) []string { p[14] += "!"; return slices.Delete(p, 2, 3) }), []int{15}, nil, []int{3}},
		{"insert and change", "so here", prompts(nil),
			prompts(func(p []string) []string { p[14] += "!"; return slices.Insert(p, 2, "inserted") }), []int{15}, []int{21}, nil},
		{"system prompt", "it is said once", withSystem("Be brief."), withSystem("Be kind."), []int{1}, nil, nil},
		{"system prompt added", "all are edited in place", prompts(nil), withSystem("Be kind."), all, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(c.before...))
			before, order := s.byNumber()
			s.record("TestIt", asks(c.after...))
			after, now := s.byNumber()
			var edited, added, removed []int
			for _, n := range now {
				switch hash, known := before[n]; {
				case !known:
					added = append(added, n)
				case hash != after[n]:
					edited = append(edited, n)
				}
			}
			for _, n := range order {
				if _, stays := after[n]; !stays {
					removed = append(removed, n)
				}
			}
			slices.Sort(edited)
			require.Equal(t, c.edited, edited, "edited: %s", c.why)
			require.Equal(t, c.added, added, "added: %s", c.why)
			require.Equal(t, c.removed, removed, "removed: %s", c.why)
			kept := slices.DeleteFunc(order, func(n int) bool { return slices.Contains(removed, n) })
			require.Equal(t, kept, slices.DeleteFunc(now, func(n int) bool { return slices.Contains(added, n) }), "kept records keep their place")
			requirePass(t, s.replay("TestIt", asks(c.after...)))
			s.requireWhole()
		})
	}
}

// TestPairingOfConcurrentCalls: a line that all calls share is edited in their records, in whatever order they are made.
func TestPairingOfConcurrentCalls(t *testing.T) {
	const calls = 30
	atOnce := func(system string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			var group sync.WaitGroup
			for i := range calls {
				chat := newChat("").with("messages", []any{
					map[string]any{"role": "system", "content": system},
					map[string]any{"role": "user", "content": fmt.Sprintf("call %d", i)},
				})
				group.Go(func() { _, _ = send(tf.Client(), chat) })
			}
			group.Wait()
		}
	}
	s := newScene(t)
	s.record("TestIt", atOnce("Be brief."))
	asked := func() (texts map[int]string) {
		texts = map[int]string{}
		for _, record := range s.records("openai") {
			texts[record.Number()] = *record.Request.Messages[1].Content[0].Text
		}
		return texts
	}
	before := asked()
	require.Len(t, before, calls)
	for _, system := range []string{"Be kind.", "Be precise."} {
		s.record("TestIt", atOnce(system))
		require.Equal(t, before, asked())
	}
	requirePass(t, s.replay("TestIt", atOnce("Be precise.")))
	s.requireWhole()
}

// byNumber returns the hashes of the records by their numbers, and the numbers in the order of the
// document.
func (s *scene) byNumber() (hashes map[int]canon.Hash, order []int) {
	hashes = map[int]canon.Hash{}
	for _, record := range s.records("openai") {
		hashes[record.Number()] = record.Hash
		order = append(order, record.Number())
	}
	return hashes, order
}

// TestRenamedTest says what renaming a test does: its records move to a document of the new name
// with the first -update, and those of the old name are for traceforge prune.
func TestRenamedTest(t *testing.T) {
	s := newScene(t)
	s.record("TestOld", asks(newChat("a")))
	s.record("TestNew", asks(newChat("a")))
	require.Len(t, s.records("openai"), 2)
	s.requireWhole()
}

// TestStreamInOtherPieces records a stream again that says the same in other pieces: the bytes of
// the first recording stay.
func TestStreamInOtherPieces(t *testing.T) {
	s := newScene(t)
	stream := newChat("a").with("stream", true)
	s.provider.Reply(fakeprovider.Fragments("Good ", "morning"), fakeprovider.Fragments("Go", "od mor", "ning"), fakeprovider.Fragments("Good", "bye"))
	s.record("TestIt", asks(stream))
	before := s.files()
	s.recordAll("TestIt", asks(stream))
	s.requireFiles(before)
	s.recordAll("TestIt", asks(stream))
	require.NotEqual(t, before, s.files())
	s.requireWhole()
}

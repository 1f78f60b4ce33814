package page_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A test is unfolded with all that became of its calls, each change once.
func TestUnfold(t *testing.T) {
	agent := func(system string) *snapshot.Document {
		doc := pagetest.Document("turn1", "turn2")
		for i := range doc.Snapshots {
			request := &doc.Snapshots[i].Request
			request.Messages = append([]modelio.Message{pagetest.Said("system", system)}, request.Messages...)
		}
		return doc
	}
	for _, tt := range []struct {
		name, why string
		from, to  *snapshot.Document
	}{
		{"changed", "one call says something else, one is new", pagetest.Document("plain"), pagetest.Document("bought", "another")},
		{"removed", "the other way round a call is gone", pagetest.Document("bought", "another"), pagetest.Document("plain")},
		{"shared", "both calls have the change", agent("Never guess."), agent("Do not guess.")},
		{"added", "there is nothing to compare with", nil, pagetest.Document("plain")},
		{"same", "nothing is shown of what is alike", pagetest.Document("plain"), pagetest.Document("plain")},
		{"hostile", "nothing drives a terminal", pagetest.Document("hostile"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var text strings.Builder
			p := page.Page{Out: &text, Width: 72}
			p.Unfold("openai", tt.from, tt.to)
			goldie.New(t, goldie.WithFixtureDir("testdata/unfold")).Assert(t, tt.name, []byte(text.String()))
		})
	}
}

// A call that was added to a conversation is shown with what it adds.
func TestUnfoldContinued(t *testing.T) {
	from, to := pagetest.Document("turn1"), pagetest.Document("turn1", "turn2")
	known := to.Snapshots[0].Request.Messages
	to.Snapshots[1].Continues = &snapshot.Continues{Call: 1, Messages: len(known)}
	var text strings.Builder
	p := page.Page{Out: &text, Width: 72}
	p.Unfold("openai", from, to)
	require.Contains(t, text.String(), "call 2 added\n  goes on from call 1\n")
	for _, said := range known {
		require.NotContains(t, text.String(), *said.Content[0].Text)
	}
	added := to.Snapshots[1].Request.Messages[len(known):]
	require.NotEmpty(t, added)
	p.Unfold("openai", to, from)
	require.Contains(t, text.String(), "call 2 removed\n  goes on from call 1\n")
}

// A page has room for the margin and the signs of the lines that changed.
func TestWholeFits(t *testing.T) {
	words := func(word string) *snapshot.Document {
		doc := pagetest.Document("plain")
		doc.Snapshots[0].Request.Messages[0] = pagetest.Said("system", strings.Repeat("and so on, ", 40)+word)
		return doc
	}
	c := compare(t, false, pair{"TestWords", "example.com/shop", words("never"), words("always")})
	for _, width := range []int{30, 50, 80, 120} {
		var text strings.Builder
		p := page.Page{Out: &text, Width: width}
		p.Whole(page.Blocks(c.Causes)[0])
		for line := range strings.Lines(text.String()) {
			if !strings.Contains(line, "bytes more)") && !strings.HasPrefix(line, "  first: ") {
				require.LessOrEqual(t, utf8.RuneCountInString(line)-1, width, line)
			}
		}
	}
}

// A cause is shown whole, however long it is.
func TestWhole(t *testing.T) {
	long := func(word string) *snapshot.Document {
		doc := pagetest.Document("plain")
		doc.Snapshots[0].Request.Messages[0] = pagetest.Said("system", strings.Repeat(word+"\n", 100))
		return doc
	}
	c := compare(t, false, pair{"TestLong", "example.com/shop", long("never"), long("always")})
	var text strings.Builder
	p := page.Page{Out: &text, Width: 72}
	p.Whole(page.Blocks(c.Causes)[0])
	require.Equal(t, 100, strings.Count(text.String(), "- never\n"))
	require.Equal(t, 100, strings.Count(text.String(), "+ always\n"))
}

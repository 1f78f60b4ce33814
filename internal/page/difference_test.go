package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A pair is a test's document in two states; nil: one has none.
type pair struct {
	test, pkg string
	from, to  *snapshot.Document
}

// compare compares documents, as the command does.
func compare(t *testing.T, whole bool, pairs ...pair) *page.Comparison {
	t.Helper()
	c := &page.Comparison{Whole: whole}
	before, after := map[string]page.Seal{}, map[string]page.Seal{}
	docs := map[string]pair{}
	for _, p := range pairs {
		name := p.pkg + p.test
		docs[name] = p
		for _, side := range []struct {
			doc   *snapshot.Document
			seals map[string]page.Seal
		}{{p.from, before}, {p.to, after}} {
			if side.doc == nil {
				continue
			}
			side.doc.Snapshots[0].Source.Package, side.doc.Snapshots[0].Source.Test = p.pkg, p.test
			for i := range side.doc.Snapshots {
				s := &side.doc.Snapshots[i]
				text, err := json.Marshal([]any{s.Request, s.Response})
				require.NoError(t, err)
				s.Hash = canon.Sum(text)
				side.doc.Hash = canon.Sum([]byte(string(side.doc.Hash) + string(s.Hash)))
			}
			side.seals[name] = page.SealOf("openai/"+p.test+".json", side.doc)
		}
	}
	for _, change := range page.Changes(before, after) {
		require.NoError(t, c.Add(change, docs[change.Name].from, docs[change.Name].to))
	}
	c.Close()
	return c
}

func edited(edit func(s *snapshot.Snapshot), names ...string) *snapshot.Document {
	doc := pagetest.Document(append([]string{"plain"}, names...)...)
	edit(&doc.Snapshots[0])
	return doc
}

func prompted(prompt string) *snapshot.Document {
	return edited(func(s *snapshot.Snapshot) { s.Request.Messages[0] = pagetest.Said("system", prompt) })
}

const agents = "example.com/shop/agents"

// hundred are 100 calls of 27 tests in 4 packages whose system prompt has another line; three answers
// changed.
func hundred() (pairs []pair) {
	const prompt = "You are the agent of the shop for %s.\nAnswer in a word.\nNever guess.\nBe kind."
	for n := range 27 {
		p := pair{test: fmt.Sprintf("TestAgent%02d", n), pkg: fmt.Sprintf("example.com/shop/%s", []string{"agents", "chat", "mail", "search"}[n/7])}
		p.from, p.to = &snapshot.Document{}, &snapshot.Document{}
		for i := range 3 + (46-n)/28 {
			for _, side := range []struct {
				doc  *snapshot.Document
				line string
			}{{p.from, "Never guess."}, {p.to, "Do not guess."}} {
				s := pagetest.Document("plain").Snapshots[0]
				s.ID = snapshot.ID("testagent-000000000000", i+1)
				system := strings.Replace(fmt.Sprintf(prompt, p.test), "Never guess.", side.line, 1)
				s.Request.Messages[0] = pagetest.Said("system", system)
				if i == 0 && n%10 == 0 && side.doc == p.to {
					s.Response.Candidates[0].Message = pagetest.Said("model", "AI is changing software development through automation.")
				}
				side.doc.Snapshots = append(side.doc.Snapshots, s)
			}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func comparisons(t *testing.T) map[string]*page.Comparison {
	hostile := "a ```` fence\n@octocat #1 <b>x</b> [l](http://x)\n::error::x \x1b[2J"
	return map[string]*page.Comparison{
		"hundred": compare(t, false, hundred()...),
		"several": compare(t, false,
			pair{"TestA", agents, prompted("Be kind.\nNever guess."), edited(func(s *snapshot.Snapshot) {
				s.Request.Messages[0] = pagetest.Said("system", "Be kind.\nDo not guess.")
				s.Request.Model = "gpt-5"
				s.Response.Candidates[0].Message = pagetest.Said("model", "Well.")
			})},
			pair{"TestAnswer", agents, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) {
				s.Response.Candidates[0].Message = pagetest.Said("model", "AI is changing software development through automation.")
				s.Response.Model = "gpt-5"
			})},
			pair{"TestAgain", agents, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { s.Response.LatencyMS = 1 })},
			pair{"TestBytes", agents, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { s.Response.RawOutputRef = s.Hash })},
			pair{"TestCall", agents, pagetest.Document("turn1"), pagetest.Document("turn1", "turn2")},
			pair{"TestGone", agents, pagetest.Document("stream"), nil},
			pair{"TestNew", agents, nil, pagetest.Document("turn1", "turn2")},
			pair{"TestNewName", agents, nil, pagetest.Document("subtest")},
			pair{"TestOldName", agents, pagetest.Document("subtest"), nil},
			pair{"TestOrder", agents, pagetest.Document("turn1", "turn2"), pagetest.Document("turn2", "turn1")},
		),
		"hostile": compare(t, false,
			pair{"TestX/`@octocat`|::x::", "<img>", prompted("a"), prompted(hostile)},
			pair{"TestNew/#1", "<img>", nil, edited(func(s *snapshot.Snapshot) { s.Request.Messages[1] = pagetest.Said("user", hostile) })},
		),
		"nothing": compare(t, false, pair{"TestA", agents, pagetest.Document("plain"), pagetest.Document("plain")}),
	}
}

func TestComparison(t *testing.T) {
	for name, c := range comparisons(t) {
		t.Run(name, func(t *testing.T) {
			g := goldie.New(t, goldie.WithFixtureDir("testdata/comparison"))
			var out bytes.Buffer
			(&page.Page{Out: &out, Width: 100}).Comparison(c)
			g.Assert(t, name, out.Bytes())
			if name == "hundred" {
				require.LessOrEqual(t, strings.Count(out.String(), "\n"), 25, "one cause, one screen")
			}
			g.Assert(t, name+".markdown", []byte(c.Markdown("traceforge diff main")))
			require.Equal(t, name == "nothing", c.Empty())
		})
	}
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 80, Color: true}).Comparison(comparisons(t)["hundred"])
	goldie.New(t, goldie.WithFixtureDir("testdata/comparison")).Assert(t, "color", out.Bytes())
}

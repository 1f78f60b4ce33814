package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
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
	c := &page.Comparison{Whole: whole, Conversations: true}
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
				own := s.Request
				if s.Continues != nil { // as in files
					own.Messages = own.Messages[s.Continues.Messages:]
				}
				text, err := json.Marshal([]any{own, s.Response})
				require.NoError(t, err)
				s.Hash = canon.Sum(text)
				side.doc.Hash = canon.Sum([]byte(string(side.doc.Hash) + string(s.Hash)))
			}
			side.seals[name] = page.SealOf("openai/"+p.test+".json", side.doc)
		}
	}
	for _, change := range page.Changes(before, after) {
		require.NoError(t, c.Add(change, docs[change.Document].from, docs[change.Document].to))
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

// agent is a test of three calls, of which each continues the one before it. The model asks for the weather of
// a city, and in the end says something.
func agent(line, city string) *snapshot.Document {
	ask := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "weather", Ref: "call_1", Input: []byte(`{"city":"` + city + `"}`)}}
	told := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "weather", Ref: "call_1", Output: []byte(`"sunny in ` + city + `"`)}}
	turns := []modelio.Message{
		pagetest.Said("system", "You are an agent.\n"+line), pagetest.Said("user", "Where is the sun?"),
		{Role: "model", Content: []modelio.Part{ask}}, {Role: "tool", Content: []modelio.Part{told}},
		pagetest.Said("model", "The sun is there."), pagetest.Said("user", "Thanks."),
		pagetest.Said("model", "You are welcome."),
	}
	doc := &snapshot.Document{}
	for i := range 3 {
		s := pagetest.Document("plain").Snapshots[0]
		s.ID = snapshot.ID("testagent-000000000000", i+1)
		s.Request.Messages = turns[:2+2*i]
		s.Response.Candidates[0].Message = turns[2+2*i]
		if i > 0 {
			s.Continues = &snapshot.Continues{Call: i, Messages: 1 + 2*i}
		}
		doc.Snapshots = append(doc.Snapshots, s)
	}
	return doc
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
		"rules":   rules(compare(t, false, pair{"TestA", agents, prompted("Never guess."), prompted("Do not guess.")})),
		"agent":   compare(t, false, pair{"TestAgent", agents, agent("Never guess.", "Rome"), agent("Do not guess.", "Oslo")}),
		"nothing": compare(t, false, pair{"TestA", agents, pagetest.Document("plain"), pagetest.Document("plain")}),
	}
}

// rules adds to a comparison a rule of each kind of change, and a change of what is no rule.
func rules(c *page.Comparison) *page.Comparison {
	text := func(s string) *string { return &s }
	rule := func(name string, before, after *string, takes page.Takes) *page.Setting {
		return &page.Setting{Takes: &takes,
			Change: drift.Change{Component: "rule " + name, Kind: "scrub", Pointer: "/scrub", Before: before, After: after}}
	}
	c.Config = []*page.Setting{
		rule("order", nil, text(`ORD-[0-9]+`), page.Takes{Texts: 12, Calls: 30, Sample: "where is ORD-1 <b>`now`</b>?", Others: 2,
			New: []page.NewText{{File: "openai/testa.json", Call: 1, Pointer: "/request/messages/0/content/0/text", Bytes: 1200}}}),
		rule("host", text(`h[0-9]`), text(`h[0-9]+`), page.Takes{Partly: true}),
		rule("date", text(`2026-[0-9-]+`), nil, page.Takes{Texts: 1, Calls: 1, Sample: "today is 2026-11-23"}),
		{Change: drift.Change{Component: "nondeterministic", Kind: "nondeterministic", Pointer: "/nondeterministic", After: text(`"why"`)}},
	}
	return c
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

// What the answers took is told where both sides are known and not the same.
func TestComparisonOfCosts(t *testing.T) {
	taking := func(tokens int64) *snapshot.Document {
		return edited(func(s *snapshot.Snapshot) {
			s.Request.Model = fmt.Sprint("gpt-", tokens)
			s.Response.TokensUsed = &tokens
		})
	}
	c := &page.Comparison{Cost: func(s *snapshot.Snapshot) (float64, bool) { return float64(*s.Response.TokensUsed) / 1000, true }}
	change := page.Change{Fate: "changed", Calls: page.Calls{"changed": {1}}, Test: page.Test{Package: agents, Name: "TestA"}}
	from, to := taking(1200), taking(800)
	to.Snapshots[0].Hash = "other"
	require.NoError(t, c.Add(change, from, to))
	c.Cost = nil
	unknown := func(s *snapshot.Snapshot) { s.Response.TokensUsed = nil }
	for _, docs := range [][2]*snapshot.Document{{edited(unknown), taking(800)}, {taking(1200), edited(unknown)}} {
		docs[1].Snapshots[0].Hash = "other"
		require.NoError(t, c.Add(change, docs[0], docs[1]), "one side is not known")
	}
	c.Close()
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(c)
	require.Contains(t, out.String(), "\n  tokens: 1,200, now 800; cost: 1.20, now 0.8000\n")
	require.Contains(t, c.Markdown("x"), "\ntokens: 1,200, now 800; cost: 1.20, now 0.8000\n")
}

// Whom a call asked is told where it is another, and not where the directory of its document is.
func TestComparisonOfProviders(t *testing.T) {
	asking := func(provider string) *snapshot.Document {
		doc := edited(func(s *snapshot.Snapshot) { s.Provider = provider })
		doc.Hash = canon.Hash(provider)
		doc.Snapshots[0].Hash = doc.Hash
		return doc
	}
	for _, x := range []struct{ dir, was, dirNow, now, want string }{
		{"openai", "", "openai", "groq", "+ provider: groq"},
		{"openai", "groq", "openai", "", "- provider: groq"},
		{"openai", "", "groq", "openai", ""},
		{"openai", "", "groq", "", "- provider: openai\n  + provider: groq"},
	} {
		from, to := asking(x.was), asking(x.now)
		to.Hash, to.Snapshots[0].Hash = "other", "other"
		seals := func(dir string, doc *snapshot.Document) map[string]page.Seal {
			return map[string]page.Seal{"x": page.SealOf(dir+"/x.json", doc)}
		}
		var c page.Comparison
		for _, change := range page.Changes(seals(x.dir, from), seals(x.dirNow, to)) {
			require.NoError(t, c.Add(change, from, to))
		}
		c.Close()
		var out bytes.Buffer
		p := &page.Page{Out: &out, Width: 100}
		p.Comparison(&c)
		require.Equal(t, x.want != "", strings.Contains(out.String(), "provider: "), "%v: %s", x, out.String())
		require.Contains(t, out.String(), x.want)
		if x.dir == x.dirNow {
			p.Unfold(x.dir, from, to)
			require.Equal(t, 2, strings.Count(out.String(), x.want), out.String())
		}
	}
}

// TestComparisonOfAdopted: an answer that was adopted for a changed request did not change, nor did it when the request
// is as before again. The mark of an answer to the same request is a change.
func TestComparisonOfAdopted(t *testing.T) {
	adopted := func(prompt string) *snapshot.Document {
		doc := prompted(prompt)
		doc.Snapshots[0].Response.Stale = "sha256:1"
		return doc
	}
	turns := func(line string, stale canon.Hash) *snapshot.Document {
		doc := agent(line, "Rome")
		for i := range doc.Snapshots {
			doc.Snapshots[i].Response.Stale = stale
		}
		return doc
	}
	const changed = "system prompt changed in 1 package: 1 call of 1 test, 1 line"
	for _, tt := range []struct {
		name, want string
		from, to   *snapshot.Document
		marked     bool
	}{
		{"adopted", changed + "; 1 answer adopted\n", prompted("a"), adopted("b"), false},
		{"back", changed + "\n", adopted("b"), prompted("a"), false},
		{"conversation", "3 calls of 1 test, 1 line; 3 answers adopted\n", turns("Be kind.", ""), turns("Be brief.", "sha256:1"), false},
		{"mark", "answers changed in 1 package: 1 call of 1 test, and nothing of what was sent\n", prompted("a"), adopted("a"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &page.Page{Out: &out, Width: 100}
			p.Comparison(compare(t, false, pair{"TestA", agents, tt.from, tt.to}))
			require.Contains(t, out.String(), tt.want)
			require.Equal(t, tt.marked, strings.Contains(out.String(), "stale: sha256:1"), out.String())
			out.Reset()
			p.Unfold("openai", tt.from, tt.to)
			require.Equal(t, tt.marked, strings.Contains(out.String(), "stale: sha256:1"), out.String())
		})
	}
}

// For programs each call is told by pointer, also what replay serves beside the core of the answer.
func TestComparisonWhole(t *testing.T) {
	c := compare(t, true, pair{"TestA", agents, prompted("a"), edited(func(s *snapshot.Snapshot) {
		s.Request.Messages[0] = pagetest.Said("system", "b")
		s.Response.LatencyMS, s.Response.Model, s.Response.Status = 9, "gpt-5", 203
		s.Response.Headers = map[string][]string{"x-request-id": {"1"}, "x-verified": {"true"}, "content-type": {"text/html"}}
		s.Source.Now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	})})
	text, err := json.Marshal(c.Differences[0].Differences)
	require.NoError(t, err)
	require.JSONEq(t, `[{"call":1,"causes":["system"],
		"request":[{"pointer":"/messages/0/content","recorded":"a","got":"b"}],
		"response":[{"pointer":"/model","recorded":"gpt-4o-mini-2024-07-18","got":"gpt-5"},{"pointer":"/status","recorded":"200","got":"203"},
			{"pointer":"/headers/content-type","recorded":"application/json","got":"text/html"},{"pointer":"/headers","got":"x-request-id: 1\nx-verified: true"},
			{"pointer":"/source","got":"now: 2020-01-01T00:00:00Z"}]}]`, string(text))
}

// A record of which the time alone changed is as old as it says, and says when that was before.
func TestComparisonOfTimes(t *testing.T) {
	change := func(s *snapshot.Snapshot) { s.Timestamp = s.Timestamp.AddDate(0, 0, 7) }
	seal := func(s *snapshot.Snapshot) { s.Response.LatencyMS++ } // the sealed text of compare has no time
	both := func(whole bool) *page.Comparison {
		return compare(t, whole, pair{"TestA", agents, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { change(s); seal(s) })})
	}
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(both(false))
	require.Contains(t, out.String(), "1 call recorded again: what was sent and answered is the same\n  TestA in "+agents+"\n")
	require.Regexp(t, `\n    call 1: \d{4}-\d\d-\d\dT.*Z, before \d{4}-.*Z\n`, out.String())
	require.Regexp(t, "call 1: .*, before ", both(false).Markdown("x"))
	text, err := json.Marshal(both(true).Differences[0].Differences)
	require.NoError(t, err)
	require.Regexp(t, `^\[{"call":1,"response":\[{"pointer":"/timestamp","recorded":"\d{4}-.*Z","got":"\d{4}-.*Z"}\]}\]$`, string(text))
}

// An answer of another model is no changed answer if the request asked for that model.
func TestComparisonOfModels(t *testing.T) {
	document := func(asked, answered string) *snapshot.Document {
		return edited(func(s *snapshot.Snapshot) { s.Request.Model, s.Response.Model = asked, answered })
	}
	for answered, want := range map[string]string{
		"gpt-5-mini-2025-08-07": "model changed in 1 package: 1 call of 1 test",
		"gpt-4-turbo":           "model changed in 1 package: 1 call of 1 test; 1 answer changed",
	} {
		c := compare(t, false, pair{"TestA", agents, document("gpt-4o", "gpt-4o-2024-08-06"), document("gpt-5-mini", answered)})
		require.Equal(t, want, page.Blocks(c.Causes)[0].Headline())
	}
	c := compare(t, false, pair{"TestA", agents, document("gpt-4o", "gpt-4o-2024-08-06"), document("", "gpt-4-turbo")})
	require.Equal(t, "model changed in 1 package: 1 call of 1 test; 1 answer changed", page.Blocks(c.Causes)[0].Headline(),
		"a request without a model asks for none")
	c = compare(t, false, pair{"TestA", agents, document("gpt-4o", "gpt-4o-2024-05-13"), document("gpt-4o", "gpt-4o-2024-08-06")})
	require.Equal(t, "answers changed in 1 package: 1 call of 1 test, and nothing of what was sent", page.Blocks(c.Causes)[0].Headline())
}

// Two changed words of a long prompt are shown in full.
func TestComparisonOfTwoWords(t *testing.T) {
	prompt := func(words ...string) *snapshot.Document {
		lines := strings.Split(strings.Repeat("Be kind and brief, as the manual says.\n", 200), "\n")
		lines[56], lines[129] = "Rule 57: "+words[0]+" the chapter.", "Rule 130: a "+words[1]+" may ask again."
		return edited(func(s *snapshot.Snapshot) {
			s.Request.Messages[0] = pagetest.Said("system", strings.Join(lines, "\n"))
		})
	}
	c := compare(t, false, pair{"TestA", agents, prompt("read", "customer"), prompt("see", "client")})
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(c)
	for _, line := range []string{"system, line 57", "+ Rule 57: see the chapter.", "line 130", "+ Rule 130: a client may ask again."} {
		require.Contains(t, out.String(), line+"\n")
	}
	require.NotContains(t, out.String(), "and more of it")
}

// A record may change its form alone, as after a call before it was inserted. Then nothing was recorded again.
func TestComparisonOfForm(t *testing.T) {
	was, is := pagetest.Document("turn1", "turn2"), pagetest.Document("turn1", "turn2")
	is.Snapshots[1].Continues = &snapshot.Continues{Call: 1, Messages: 1}
	c := compare(t, false, pair{"TestA", agents, was, is})
	require.Empty(t, c.Again)
	require.Len(t, c.Form, 1)
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(c)
	require.Contains(t, out.String(), "1 record in another form: what was sent and answered, and when, is the same\n  TestA in "+agents+"\n")
}

// A long text does not hide that an answer also calls a tool.
func TestComparisonNamesWhatIsCut(t *testing.T) {
	is := edited(func(s *snapshot.Snapshot) {
		s.Response.Candidates[0].Message.Content = []modelio.Part{modelio.TextPart(strings.Repeat("Other words.\n", 60)),
			{ToolRequest: &modelio.ToolRequest{Name: "rm", Ref: "call_1", Input: []byte(`{"path":"/etc"}`)}}}
	})
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(compare(t, false, pair{"TestA", agents, pagetest.Document("plain"), is}))
	require.Contains(t, out.String(), "… and more of it: answer: tool calls added\n")
}

// Replay answers calls with one request in the order of their records, so another order is told beside all else.
func TestComparisonOfOrder(t *testing.T) {
	was, is := pagetest.Document("turn1", "turn2"), pagetest.Document("turn1", "turn2")
	slices.Reverse(is.Snapshots)
	is.Snapshots[0].Source.Line++
	c := compare(t, false, pair{"TestA", agents, was, is})
	require.Equal(t, []int{2, 1}, c.Differences[0].Order)
	var out bytes.Buffer
	shown := &page.Page{Out: &out, Width: 100}
	shown.Comparison(c)
	require.Contains(t, out.String(), "1 test makes other calls\n")
	require.Contains(t, out.String(), "    the calls are in another order: 2, 1\n")
	out.Reset()
	shown.Unfold("openai", was, is)
	require.Equal(t, "  the calls are in another order: 2, 1\n", out.String())
}

// Replay tells calls with one request apart by the ids that they name. Those of calls that were made again are new.
func TestComparisonOfIDs(t *testing.T) {
	latency := int64(0) // the sealed text of compare has no ids
	naming := func(first, second []string, days int) *snapshot.Document {
		doc := pagetest.Document("turn1", "turn2")
		latency++
		for i, ids := range [][]string{first, second} {
			s := &doc.Snapshots[i]
			s.Source.IDs, s.Response.LatencyMS, s.Timestamp = ids, latency, s.Timestamp.AddDate(0, 0, days)
		}
		return doc
	}
	a, b, none := []string{"resp_a"}, []string{"resp_b", "conv_1"}, []string(nil)
	for name, tt := range map[string]struct {
		is   *snapshot.Document
		told []string
	}{
		"swapped": {naming([]string{"resp_b"}, []string{"resp_a", "conv_1"}, 0), []string{"- resp_a", "+ resp_b"}},
		"dated":   {naming([]string{"resp_b"}, []string{"resp_a", "conv_1"}, 1), []string{"- resp_a", "+ resp_b"}},
		"removed": {naming(a, none, 1), []string{"- resp_b", "- conv_1"}},
		"other":   {naming([]string{"resp_c"}, b, 0), []string{"- resp_a", "+ resp_c"}},
		"again":   {naming([]string{"resp_c"}, []string{"resp_d", "conv_1"}, 1), nil},
	} {
		var out bytes.Buffer
		shown := &page.Page{Out: &out, Width: 100}
		shown.Comparison(compare(t, false, pair{"TestA", agents, naming(a, b, 0), tt.is}))
		require.Equal(t, tt.told == nil, !strings.Contains(out.String(), "answer: source"), "%s: %s", name, &out)
		shown.Unfold("openai", naming(a, b, 0), tt.is)
		for _, line := range tt.told {
			require.Equal(t, 2, strings.Count(out.String(), line+"\n"), "%s: %s", name, &out)
		}
	}
}

// A header whose value differs with each call has another value only if the call was recorded again.
func TestComparisonOfHeaders(t *testing.T) {
	linked := func(to string, days int) *snapshot.Document {
		return edited(func(s *snapshot.Snapshot) {
			s.Response.Headers = map[string][]string{"x-file-url": {to}}
			s.Timestamp = s.Timestamp.AddDate(0, 0, days)
		})
	}
	for days, want := range map[int]bool{0: true, 1: false} {
		var out bytes.Buffer
		(&page.Page{Out: &out, Width: 100}).Comparison(
			compare(t, false, pair{"TestA", agents, linked("https://a.example/1", 0), linked("https://b.example/1", days)}))
		require.Equal(t, want, strings.Contains(out.String(), "+ x-file-url: https://b.example/1\n"), &out)
	}
}

// A call has the tools of the call that it continues: where these change, its record is the same, and what it sends is not.
func TestComparisonOfInheritedTools(t *testing.T) {
	conversation := func(description string) *snapshot.Document {
		doc := agent("Never guess.", "Rome")
		for i := range doc.Snapshots {
			s := &doc.Snapshots[i]
			s.Request.Tools = []modelio.ToolDefinition{{Name: "weather", Description: description}}
			s.Hash = canon.Sum([]byte{byte(i)})
		}
		doc.Snapshots[0].Hash = canon.Sum([]byte(description)) // as in files, where only this record has the tools
		return doc
	}
	change := page.Change{Fate: "changed", File: "openai/x.json", Calls: page.Calls{"changed": {1}}}
	var c page.Comparison
	require.NoError(t, c.Add(change, conversation("Says the weather."), conversation("Says where the sun is.")))
	c.Close()
	require.Len(t, c.Causes, 1)
	require.Len(t, c.Causes[0].Calls, 3)
}

// Records that hold no JSON are an error that names them.
func TestComparisonOfBroken(t *testing.T) {
	broken := func() *snapshot.Document {
		return edited(func(s *snapshot.Snapshot) {
			s.Request.Tools = []modelio.ToolDefinition{{Name: "x", InputSchema: []byte("{")}}
			s.Hash = "other"
		})
	}
	change := page.Change{Fate: "changed", File: "openai/x.json", Calls: page.Calls{"changed": {1}}}
	var c page.Comparison
	require.ErrorContains(t, c.Add(change, pagetest.Document("plain"), broken()), "openai/x.json: call 1: ")
	require.ErrorContains(t, c.Add(change, broken(), pagetest.Document("plain")), "openai/x.json: call 1: ")
	require.Error(t, c.Add(page.Change{Fate: "added"}, nil, broken()))
}

// One cause is no more than a screen, whatever its texts: a prompt of one long line with many changed words, an
// answer of many lines, a hundred tests.
func TestComparisonIsBounded(t *testing.T) {
	long := func(word string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "In case %d of the many there are the agent says %s and goes on as it would have done in any case. ", i, word)
		}
		return b.String()
	}
	var pairs []pair
	for n := range 100 {
		answered := func(word string) *snapshot.Document {
			doc := prompted(long(word))
			doc.Snapshots[0].Response.Candidates[0].Message = pagetest.Said("model", strings.ReplaceAll(long(word), ". ", ".\n"))
			return doc
		}
		pkg := fmt.Sprintf("example.com/shop/internal/services/number%02d", n)
		pairs = append(pairs, pair{fmt.Sprintf("TestWithALongName%03d", n), pkg, answered("yes"), answered("no")})
	}
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 80}).Comparison(compare(t, false, pairs...))
	require.LessOrEqual(t, strings.Count(out.String(), "\n"), 25, out.String())
	require.Contains(t, out.String(), "system prompt changed in 100 packages: 100 calls of 100 tests, 1 line; 100 answers changed")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len([]rune(line)), 125, "a line that no terminal would break twice")
	}
}

// Markdown keeps to the limit of its host, and says what it left out and what shows it.
func TestMarkdownIsBounded(t *testing.T) {
	long := func(n int, word string) *snapshot.Document {
		var lines []string
		for i := range 40 {
			lines = append(lines, fmt.Sprintf("%d %s %s", i*n, word, strings.Repeat("lorem ipsum ", 40)))
		}
		return prompted(strings.Join(lines, "\n"))
	}
	var pairs []pair
	for n := range 150 {
		pairs = append(pairs, pair{fmt.Sprintf("TestLong%d", n), agents, long(n, "a"), long(n, "b")})
	}
	for n := range 150 {
		pairs = append(pairs, pair{fmt.Sprintf("TestNew%d", n), agents, nil, pagetest.Document("plain")})
	}
	c := compare(t, false, pairs...)
	text := c.Markdown("traceforge diff main")
	require.LessOrEqual(t, len(text), page.MarkdownLimit)
	require.Regexp(t, `\n\d+ parts are left out or cut; all of it: `+"`traceforge diff main`\n$", text[len(text)-100:])
	require.True(t, strings.Contains(text, "**150 tests added**"), "what is shown in full leaves room")
	require.True(t, strings.Contains(text, "+ 1 b lorem"))
	require.NotContains(t, c.Markdown("x")[:100], "left out")
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(c)
	require.Less(t, strings.Count(out.String(), "\n"), 250)
	require.Contains(t, out.String(), "and 124 more causes")
	require.Len(t, regexp.MustCompile(`(?m)^system prompt .*, first TestLong\d+$`).FindAllString(out.String(), -1), 20, "a headline alone tells no causes apart")
	brief, _ := page.CausesMarkdown(nil, c.Causes, page.MarkdownLimit)
	require.Len(t, regexp.MustCompile("(?m)^first: `TestLong").FindAllString(brief, -1), 26)
}

// TestMarkdownOfALongLine names the command that shows a line whose end is cut: readers of a comment see nothing else.
func TestMarkdownOfALongLine(t *testing.T) {
	was, is := prompted("Be kind."), prompted("Be kind. "+strings.Repeat("lorem ipsum ", 100)+"EVIL")
	text := compare(t, false, pair{"TestX", agents, was, is}).Markdown("traceforge diff main --json")
	require.NotContains(t, text, "EVIL")
	require.Contains(t, text, " bytes more)")
	require.True(t, strings.HasSuffix(text, "\nAll of it: `traceforge diff main --json`\n"), text)
	text = compare(t, false, pair{"TestX", agents, was, prompted("Be brief.")}).Markdown("traceforge diff main --json")
	require.NotContains(t, text, "All of it")
}

// FuzzMarkdown proves that nothing of a store is Markdown: what is outside of code is ours.
func FuzzMarkdown(t *testing.F) {
	f := mutation.New(t)
	f.Add("TestX/@octocat", "a ``` b\n````\n#1 <b>", "`")
	f.Add("|", "\r\n\x1b[2J", "``\n")
	f.Fuzz(func(t *testing.T, name, text, other string) {
		const mark = "Zq9"
		clean := func(s string) string { return mark + strings.ToValidUTF8(s, "\uFFFD") }
		name, text, other = clean(name), clean(text), clean(other)
		c := compare(t, false,
			pair{name, name, prompted(text), prompted(other)}, pair{other, text, nil, prompted(name)},
			pair{"a" + name, text, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) {
				s.Response.Candidates[0].Message = pagetest.Said("model", text)
				s.Request.Tools = []modelio.ToolDefinition{{Name: other, InputSchema: []byte("{}")}}
			})})
		fence := ""
		for line := range strings.Lines(c.Markdown(text)) {
			trimmed := strings.TrimSpace(line)
			ticks := len(trimmed) - len(strings.TrimLeft(trimmed, "`"))
			switch {
			case fence != "":
				if trimmed == fence {
					fence = ""
				}
			case ticks >= 3 && !strings.Contains(trimmed[ticks:], "`"):
				fence = trimmed[:ticks]
			default:
				outside, ends := pagetest.OutsideCode(line)
				require.NotContains(t, outside, mark)
				require.True(t, ends, "a span of code ends in its line: %q", line)
			}
		}
		require.Empty(t, fence, "a block of code ends")
	})
}

// A test that was renamed and changed has moved, and its change is a cause.
func TestComparisonRenamed(t *testing.T) {
	prompt := func(line string) *snapshot.Document {
		return edited(func(s *snapshot.Snapshot) {
			s.Request.Messages[0] = pagetest.Said("system", "You help.\n"+line+"\nBe kind.")
		})
	}
	other := func(doc *snapshot.Document) *snapshot.Document {
		doc.Snapshots[0].Request.Messages[1] = pagetest.Said("user", "What costs a red shoe, and is it there in my size?")
		return doc
	}
	c := compare(t, false,
		pair{test: "TestOld", pkg: agents, from: prompt("Never guess.")}, pair{test: "TestNew", pkg: agents, to: prompt("Do not guess.")},
		pair{test: "TestPrice", pkg: agents, from: other(prompt("Never guess."))}, pair{test: "TestCost", pkg: agents, to: other(prompt("Do not guess."))},
		pair{test: "TestElsewhere", pkg: "example.com/other", to: prompt("Do not guess.")},
		pair{test: "TestWas", pkg: "example.com/third", from: prompt("Be brief.")}, pair{test: "TestIs", pkg: "example.com/third", to: prompt("Be brief.")},
		pair{test: "TestNext", pkg: "example.com/third", to: prompt("Be as brief.")}) // like TestWas, which has become TestIs
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Comparison(c)
	require.Contains(t, out.String(), "system prompt changed in 1 package: 2 calls of 2 tests, 1 line")
	require.Contains(t, out.String(), "\n2 tests added\n")
	require.Contains(t, out.String(), "\n3 tests moved\n")
	require.Contains(t, out.String(), "  moved openai/TestCost.json  TestCost in example.com/shop/agents\n    from openai/TestPrice.json\n")
	require.NotContains(t, out.String(), "removed")
}

// Comparisons fit 40 and 80 columns: no line that changed is cut.
func TestComparisonWidths(t *testing.T) {
	g := goldie.New(t, goldie.WithFixtureDir("testdata/comparison"))
	for _, width := range []int{40, 80} {
		var out bytes.Buffer
		(&page.Page{Out: &out, Width: width}).Comparison(comparisons(t)["several"])
		g.Assert(t, fmt.Sprint("several.", width), out.Bytes())
	}
}

package page_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

const showsAll = "traceforge diff main --json"

// added compares documents of which each is new, as diff does for one of its forms.
func added(t *testing.T, form string, docs ...*snapshot.Document) *page.Comparison {
	t.Helper()
	c := &page.Comparison{Whole: form == "json", Conversations: form == "html", All: showsAll}
	for i, doc := range docs {
		calls := page.Calls{}
		for n := range doc.Snapshots {
			calls["added"] = append(calls["added"], n+1)
		}
		test := page.Test{Package: agents, Name: fmt.Sprintf("TestNew%d", i)}
		change := page.Change{Fate: "added", File: fmt.Sprintf("openai/new%d.json", i), Calls: calls, Test: test}
		require.NoError(t, c.Add(change, nil, doc))
	}
	c.Close()
	return c
}

// shownAs returns a comparison in a form.
func shownAs(t *testing.T, form string, c *page.Comparison) string {
	t.Helper()
	var out strings.Builder
	switch form {
	case "text":
		(&page.Page{Out: &out, Width: 100}).Comparison(c)
	case "markdown":
		return c.Markdown(showsAll)
	case "html":
		text := c.HTML(page.About{All: showsAll})
		require.NoError(t, wellFormed(text))
		return text
	case "json":
		require.NoError(t, json.NewEncoder(&out).Encode(c))
	}
	return out.String()
}

var forms = []string{"text", "markdown", "html", "json"}

// hidden is a call that looks harmless at a glance.
func hidden() *snapshot.Document {
	return edited(func(s *snapshot.Snapshot) {
		long := strings.Repeat("fine, ", 40)
		s.Request.Messages = []modelio.Message{
			pagetest.Said("system", "Be kind.\nM-system"), pagetest.Said("user", "M-earlier"), pagetest.Said("model", "M-turn"),
			pagetest.Said("user", long+"M-question"),
		}
		s.Request.Model = "M-model"
		s.Request.Options = modelio.Object{"user": []byte(`"M-option"`)}
		s.Request.Tools = []modelio.ToolDefinition{{Name: "M-tool", Description: "M-described", InputSchema: []byte("{}")}}
		s.Response.Headers["location"] = []string{"M-header"}
		s.Response.Candidates[0].Message = pagetest.Said("model", long+"M-answer")
		s.Response.Stale = "sha256:1"
	})
}

// TestAddedIsShown: each form shows all of an added call, and of a call that was added to a test.
func TestAddedIsShown(t *testing.T) {
	marks := []string{"M-system", "M-earlier", "M-turn", "M-question", "M-model", "M-option", "M-tool", "M-described", "M-header", "M-answer"}
	for _, form := range forms {
		text := shownAs(t, form, added(t, form, hidden()))
		from, to := pagetest.Document("plain"), pagetest.Document("plain")
		more := hidden().Snapshots[0]
		more.ID = strings.TrimSuffix(more.ID, "1") + "2"
		to.Snapshots = append(to.Snapshots, more)
		c := &page.Comparison{Whole: form == "json", Conversations: form == "html", All: showsAll}
		change := page.Change{Fate: "changed", File: "openai/x.json", Calls: page.Calls{"added": {2}}, Test: page.Test{Name: "TestX"}}
		require.NoError(t, c.Add(change, from, to))
		c.Close()
		for _, text := range []string{text, shownAs(t, form, c)} {
			for _, mark := range marks {
				require.Contains(t, text, mark, form)
			}
			if form != "json" {
				require.Contains(t, text, "adopted for this one")
				require.NotContains(t, text, "more line")
			}
		}
	}
}

// TestAddedProgram: the command of an added program is shown.
func TestAddedProgram(t *testing.T) {
	doc := edited(func(s *snapshot.Snapshot) {
		s.Source.Package, s.Source.Function = snapshot.ProgramPackage, "sh -c M-command"
	})
	for _, form := range forms {
		require.Contains(t, shownAs(t, form, added(t, form, doc)), "M-command", form)
	}
}

// TestAddedSaysWhatIsCut: where lines, calls or tests are left out, their number and the command that shows all are said.
func TestAddedSaysWhatIsCut(t *testing.T) {
	long := prompted(strings.Repeat("line\n", 1000) + "the end")
	word := prompted(strings.Repeat("w", 10_000))
	many := chain(60, "Be kind.", "what is", "it is")
	var tests []*snapshot.Document
	for range 30 {
		tests = append(tests, pagetest.Document("plain"))
	}
	for _, tt := range []struct {
		name string
		docs []*snapshot.Document
		want map[string]string
	}{
		{"lines", []*snapshot.Document{long}, map[string]string{"text": "… and 976 more lines: ", "markdown": "… and 976 more lines: ", "html": "… and 606 more lines: "}},
		{"bytes", []*snapshot.Document{word}, map[string]string{"text": "… (9802 bytes more: ", "markdown": "… (9802 bytes more: ", "html": "… (6002 bytes more: "}},
		{"calls", []*snapshot.Document{many}, map[string]string{"text": "and 58 more calls: ", "markdown": "and 58 more calls: ", "html": "and 20 more calls: "}},
		{"tests", tests, map[string]string{"text": "… and what 25 more tests say: ", "markdown": "… and what 25 more tests say: "}},
	} {
		for form, want := range tt.want {
			text := shownAs(t, form, added(t, form, tt.docs...))
			require.Contains(t, text, want+showsAll, "%s: %s", tt.name, form)
			require.True(t, form != "text" || page.LeavesOut(text))
		}
	}
	var size [2]int
	for i := range size {
		text := shownAs(t, "json", added(t, "json", chain(100<<i, "Be kind.", "what is", "it is")))
		require.Equal(t, 1, strings.Count(text, `"what is 3?"`))
		size[i] = len(text)
	}
	require.Less(t, float64(size[1])/float64(size[0]), 2.4, "a conversation is told once")
}

// TestAddedTellsOnceWhatIsUsual: a field that calls of the earlier state have is not repeated, and a call that a glance
// shows completely has no more lines.
func TestAddedTellsOnceWhatIsUsual(t *testing.T) {
	for _, model := range []string{"gpt-4o-mini", "gpt-5"} {
		c := &page.Comparison{All: showsAll}
		usual := pagetest.Document("plain")
		usual.Snapshots[0].Response.Candidates[0].Message = pagetest.Said("model", "Yes.")
		fresh := edited(func(s *snapshot.Snapshot) {
			s.Request.Model, s.Request.Messages = model, []modelio.Message{pagetest.Said("user", "Is it?")}
		})
		fresh.Snapshots[0].Response.Candidates[0].Message = pagetest.Said("model", "Yes.")
		for i, state := range [][2]*snapshot.Document{{nil, fresh}, {usual, nil}} {
			fate := []string{"added", "removed"}[i]
			require.NoError(t, c.Add(page.Change{Fate: fate, File: "openai/x.json", Calls: page.Calls{fate: {1}}, Test: page.Test{Package: fate}}, state[0], state[1]))
		}
		c.Close()
		text := shownAs(t, "text", c)
		require.Contains(t, text, "\n      sent     Is it?\n      answered Yes.\n")
		require.Equal(t, model == "gpt-5", strings.Contains(text, "model     gpt-5, answered by"), text)
		require.NotContains(t, text, "with ")
	}
}

// TestAddedToRenamed: a call that was added to a test which was renamed is shown.
func TestAddedToRenamed(t *testing.T) {
	for _, form := range forms {
		c := &page.Comparison{Whole: form == "json", Conversations: form == "html", All: showsAll}
		was, now := pagetest.Document("plain"), pagetest.Document("plain")
		more := hidden().Snapshots[0]
		more.ID = strings.TrimSuffix(more.ID, "1") + "2"
		now.Snapshots = append(now.Snapshots, more)
		require.NoError(t, c.Add(page.Change{Fate: "added", File: "openai/new.json", Calls: page.Calls{"added": {1, 2}}}, nil, now))
		require.NoError(t, c.Add(page.Change{Fate: "removed", File: "openai/old.json", Calls: page.Calls{"removed": {1}}}, was, nil))
		c.Close()
		text := shownAs(t, form, c)
		require.Contains(t, text, "moved", form)
		require.Contains(t, text, "M-system", form)
		require.Contains(t, text, "M-model", form)
	}
}

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// many writes the page of a changed rule and of 200 causes, whose answers have readings.
func many(t *testing.T) (file string) {
	t.Helper()
	long := strings.Repeat("unbroken", 40)
	rule := `{"name":"order","pattern":"ORD-[0-9]{8}` + long + `"}`
	found := &page.Comparison{Conversations: true, Config: []*page.Setting{{
		Change: drift.Change{Component: "rule order of scrub", Kind: "rule", After: &rule},
		Takes: &page.Takes{Texts: 12, Calls: 200, Sample: "ORD-12345678" + long,
			New: []page.NewText{{File: "openai/" + long + ".json", Call: 1, Pointer: "/request/messages/0/content", Bytes: 4000}}, Others: 7},
	}}}
	document := func(n int, text string) *snapshot.Document {
		doc := pagetest.Document("plain")
		s := &doc.Snapshots[0]
		s.Source.Test = fmt.Sprintf("TestCase%03d/%s", n, long)
		s.Request.Messages[len(s.Request.Messages)-1] = pagetest.Said("user", text)
		s.Response.Readings = []snapshot.Reading{{Event: n, Kind: "unlisted-call", Says: fmt.Sprintf(`rm({"path":"/%d/%s"})`, n, text+long)}}
		s.Hash = canon.Sum([]byte(text))
		return doc
	}
	for n := range 200 {
		from, to := document(n, fmt.Sprintf("What of %d?", n)), document(n, fmt.Sprintf("And what of %d and %s?", n, long))
		change := page.Change{Fate: "changed", File: fmt.Sprintf("openai/agents-testcase%03d-0123456789ab.json", n), Calls: page.Calls{"changed": {1}},
			Test: page.Test{Package: "example.com/agents", Name: to.Snapshots[0].Source.Test}}
		require.NoError(t, found.Add(change, from, to))
	}
	found.Close()
	require.Len(t, found.Causes, 200)
	text := found.HTML(page.About{Command: "traceforge diff", From: "main", To: "HEAD", All: "traceforge diff main --json"})
	file = filepath.Join(t.TempDir(), "many.html")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// TestManyCauses checks that a page with rules, readings and 200 causes fits a phone and a desktop, in light and dark
// mode, with and without its script.
func TestManyCauses(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a browser")
	}
	browser, file := startChromium(t), many(t)
	for name, v := range map[string]view{
		"phone": phone, "phone by night": {width: 360, height: 780, scheme: "dark"},
		"desktop": {width: 1280, height: 900, scheme: "light"}, "desktop by night": {width: 1280, height: 900, scheme: "dark"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, browser, file, v)
			tab.screenshot("many-" + strings.ReplaceAll(name, " ", "-"))
			require.Equal(t, 200, value[int](tab, `document.querySelectorAll(".cause").length`))
			text := value[string](tab, `document.body.innerText`)
			require.Less(t, strings.Index(text, "rule order of scrub"), strings.Index(text, "user message changed"), "rules come first")
			require.Contains(t, value[string](tab, `document.body.textContent`), `rm({"path":"/199/`)
			requireReadable(t, tab)
			requireQuiet(t, tab)
		})
	}
	t.Run("keys", func(t *testing.T) {
		tab := open(t, browser, file, view{width: 1280, height: 900, scheme: "light"})
		for range 30 {
			tab.press("j")
		}
		require.NotEmpty(t, value[string](tab, focused))
		require.True(t, value[bool](tab, `(() => { const r = document.activeElement.getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight })()`), "the focus is seen")
	})
	t.Run("without a script", func(t *testing.T) {
		tab := open(t, browser, file, view{width: 360, height: 780, scheme: "light", noScript: true})
		require.True(t, value[bool](tab, `document.querySelector(".cause .diff").checkVisibility()`))
		requireQuiet(t, tab)
	})
}

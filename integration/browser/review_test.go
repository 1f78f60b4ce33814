package browser

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/stretchr/testify/require"
)

var images = flag.String("images", "", "write the image of the README into `DIR`")

var (
	desktop = view{width: 1200, height: 900, scheme: "light"}
	night   = view{width: 1200, height: 900, scheme: "dark"}
	phone   = view{width: 360, height: 780, scheme: "light"}
)

// TestReview checks pages of real changes. A module's tests record the changes, and the command shows them.
func TestReview(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test and a browser")
	}
	browser := startChromium(t)
	s := newShop(t)
	pages := []struct{ name, file, headline string }{
		{"prompt", s.review("prompt", edit{"model/model.go", "say that a colleague will call.", "ask one question back."}),
			"system prompt changed in 4 packages: 101 calls of 101 tests, 1 line; 3 answers changed"},
		{"agent", s.review("agent", edit{"agent/agent.go", "no more than 40", "no more than 60"}),
			"system prompt changed in 1 package: 101 calls of 1 test, 1 line; 1 answer changed"},
		{"tool", s.review("tool",
			edit{"agent/agent.go", "a lamp there are.", "a lamp are left, and how many are on order."},
			edit{"agent/agent.go", `{"lamp": `, `{"shop": map[string]any{"type": "string"}, "lamp": `}),
			"tool stock: description, tool stock: input schema changed in 1 package: 101 calls of 1 test, 4 lines"},
		{"tests", s.review("tests",
			edit{"orders/orders_test.go", "TestRefund", "TestExchange" + strings.Repeat("OfALamp", 20)},
			edit{"orders/orders_test.go", "my money back for", "another lamp for"},
			edit{"mail/mail_test.go", "the invoice", "the invoice https://example.com/" + strings.Repeat("0", 300)}),
			"user message changed in 1 package: 1 call of 1 test"},
	}
	t.Run("image", func(t *testing.T) {
		dir := *images
		if dir == "" {
			dir = t.TempDir()
		}
		image := filepath.Join(dir, "review.png")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		open(t, browser, pages[0].file, view{width: 1000, height: 860, scheme: "light"}).capture(image)
		info, err := os.Stat(image)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(200_000), "the README loads fast")
	})
	for _, p := range pages {
		keep(t, p.file)
		t.Run(p.name, func(t *testing.T) {
			for name, v := range map[string]view{"light": desktop, "dark": night, "phone": phone} {
				tab := open(t, browser, p.file, v)
				tab.screenshot(p.name + "-" + name)
				require.Equal(t, p.headline, value[string](tab, `document.querySelector(".cause h3").textContent`))
				requireReadable(t, tab)
				tab.screenshot(p.name + "-" + name + "-unfolded")
				requireQuiet(t, tab)
			}
		})
	}
	t.Run("keys", func(t *testing.T) { testKeys(t, open(t, browser, pages[0].file, desktop)) })
	t.Run("search", func(t *testing.T) { testSearch(t, open(t, browser, pages[0].file, desktop)) })
	t.Run("fold", func(t *testing.T) { testFold(t, open(t, browser, pages[0].file, desktop)) })
	t.Run("without a script", func(t *testing.T) {
		v := desktop
		v.noScript = true
		testWithoutScript(t, open(t, browser, pages[0].file, v))
	})
	t.Run("accessible", func(t *testing.T) { testAccessible(t, open(t, browser, pages[0].file, desktop)) })
	t.Run("forged", func(t *testing.T) { testForged(t, browser, pages[0].file) })
}

// requireQuiet checks that the page requested only itself, and that the browser has no messages.
func requireQuiet(t *testing.T, tab *tab) {
	t.Helper()
	said, requests := tab.heard()
	require.Empty(t, said, "no errors, and nothing blocked")
	require.Len(t, requests, 1, "nothing is loaded but the page")
	require.True(t, strings.HasPrefix(requests[0], "file://"))
}

//go:embed testdata/readable.js
var readable string

// requireReadable unfolds the whole page. It checks that nothing is wider than the window and that each text has the
// contrast that WCAG 2 AA requires.
func requireReadable(t *testing.T, tab *tab) {
	t.Helper()
	found := value[struct {
		Texts int      // number of checked texts
		Wide  []string // elements
		Faint []string // texts
		Least float64  // contrast
	}](tab, readable)
	require.Greater(t, found.Texts, 20)
	require.Empty(t, found.Wide, "it fits the width of the window")
	require.Empty(t, found.Faint, "the contrast is at least 4.5:1")
	t.Logf("%d texts, contrast at least %.1f:1", found.Texts, found.Least)
}

// focused is the heading of the item that has the focus.
const focused = `(document.activeElement.closest(".item")?.querySelector("h3").textContent ?? document.activeElement.id)`

func testKeys(t *testing.T, tab *tab) {
	const first = "system prompt changed"
	tab.press("j")
	require.Contains(t, value[string](tab, focused), first)
	tab.press("j")
	require.Contains(t, value[string](tab, focused), "TestChat/case_02", "the first test")
	was := value[string](tab, focused)
	tab.press("j")
	require.NotEqual(t, was, value[string](tab, focused))
	tab.press("k")
	require.Equal(t, was, value[string](tab, focused))
	isOpen := `document.activeElement.closest("details").open`
	require.False(t, value[bool](tab, isOpen))
	tab.press("o")
	require.True(t, value[bool](tab, isOpen))
	tab.press("o")
	require.False(t, value[bool](tab, isOpen))
	tab.press("k")
	tab.press("k")
	require.Contains(t, value[string](tab, focused), first, "nothing is before it")

	all := `[...document.querySelectorAll(".item")].filter((item) => item.open).length`
	tab.press("O")
	require.Equal(t, value[int](tab, `document.querySelectorAll(".item").length`), value[int](tab, all))
	tab.press("O")
	require.Zero(t, value[int](tab, all))

	tab.press("?")
	require.True(t, value[bool](tab, `document.getElementById("help").open`))
	tab.screenshot("help")
	tab.escape()
	require.False(t, value[bool](tab, `document.getElementById("help").open`))
	outline := `getComputedStyle(document.activeElement).outlineStyle`
	tab.press("j")
	require.Equal(t, "solid", value[string](tab, outline), "the focus is seen")
	requireQuiet(t, tab)
}

const shown = `[...document.querySelectorAll(".item:not([hidden])")].length`

func testSearch(t *testing.T, tab *tab) {
	all := value[int](tab, shown)
	require.Greater(t, all, 100)
	tab.press("/")
	require.Equal(t, "search", value[string](tab, `document.activeElement.id`))
	require.Equal(t, "", value[string](tab, `document.getElementById("search").value`))
	tab.press("BRASS desk")
	const found = `document.getElementById("found").textContent`
	require.Equal(t, fmt.Sprintf("2 of %d", all), value[string](tab, found), "the cause, and the test that asks so")
	require.Equal(t, 2, value[int](tab, shown))
	require.True(t, value[bool](tab, `document.getElementById("nothing").hidden`))
	tab.screenshot("search")
	tab.press("o")
	typed := value[string](tab, `document.getElementById("search").value`)
	require.Equal(t, "BRASS desko", typed, "letters are no keys here")
	require.Zero(t, value[int](tab, shown))
	require.False(t, value[bool](tab, `document.getElementById("nothing").hidden`))
	tab.escape()
	require.Equal(t, all, value[int](tab, shown))
	require.Equal(t, "", value[string](tab, found))
	requireQuiet(t, tab)
}

func testFold(t *testing.T, tab *tab) {
	// Folded content is invisible until a click.
	seen := `document.querySelector(".cause .diff .fold .row").checkVisibility()`
	require.False(t, value[bool](tab, seen), "equal lines are folded")
	tab.click(".cause .diff .fold summary")
	require.True(t, value[bool](tab, seen))
	tab.click(".cause > summary")
	require.False(t, value[bool](tab, `document.querySelector(".cause").open`))

	// A link to a test opens it.
	tab.click(".cause > summary")
	tab.click(".cause .tests > summary")
	tab.click(".cause .tests a")
	tab.requireSoon(`document.querySelector(location.hash || "main")?.open === true`)
	require.True(t, value[bool](tab, `document.querySelector(location.hash).contains(document.activeElement)`))
	requireQuiet(t, tab)
}

func testWithoutScript(t *testing.T, tab *tab) {
	seen := func(selector string) bool {
		return value[bool](tab, `document.querySelector("`+selector+`").checkVisibility()`)
	}
	require.True(t, seen(".cause .diff mark"))
	require.False(t, seen("#find"), "what needs the script is not shown")
	require.False(t, seen(".test .diff"))
	tab.click(".test > summary")
	require.True(t, seen(".test .diff"), "folding needs none")
	requireQuiet(t, tab)
}

func testAccessible(t *testing.T, tab *tab) {
	require.Empty(t, value[[]string](tab, `(() => {
		let last = 0;
		return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((h) => !h.closest("dialog")).filter((h) => {
			const level = Number(h.tagName[1]), skips = level > last + 1;
			last = level;
			return skips;
		}).map((h) => h.outerHTML);
	})()`), "no level of headings is skipped")
	require.Equal(t, 1, value[int](tab, `document.querySelectorAll("h1").length`))
	require.Empty(t, value[[]string](tab, `(() => {
		const seen = new Set();
		return [...document.querySelectorAll("[id]")].map((e) => e.id).filter((id) => seen.has(id) || !seen.add(id));
	})()`), "ids are different")

	nodes := command(tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	roles, unnamed := map[string]int{}, []string{}
	for _, node := range nodes {
		role := strings.Trim(string(node.Role.Value), `"`)
		roles[role]++
		name := ""
		if node.Name != nil {
			name = strings.Trim(string(node.Name.Value), `"`)
		}
		switch role {
		case "button", "link", "searchbox", "DisclosureTriangle", "heading", "navigation", "dialog":
			if !node.Ignored && name == "" {
				unnamed = append(unnamed, role)
			}
		}
	}
	require.Empty(t, unnamed, "all that can be used has a name")
	items := value[int](tab, `document.querySelectorAll(".item").length`)
	require.Greater(t, roles["heading"], items, "one can go from change to change by headings")
	require.Greater(t, roles["DisclosureTriangle"], items, "%v", roles)
	for _, landmark := range []string{"banner", "main", "navigation", "search", "contentinfo"} {
		require.Equal(t, 1, roles[landmark], landmark)
	}
	require.Positive(t, roles["deletion"])
	require.Positive(t, roles["insertion"])
}

// testForged adds content to a page that the policy of the page forbids.
func testForged(t *testing.T, browser context.Context, file string) {
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	forged := filepath.Join(t.TempDir(), "forged.html")
	text := strings.Replace(string(page), "</footer>", `</footer><script>document.title = "ran"</script>`+
		`<img src="http://192.0.2.1/x.png" alt="x" onerror="document.title = 'ran'"><style>h1 { display: none }</style>`, 1)
	require.NoError(t, os.WriteFile(forged, []byte(text), 0o644))
	tab := open(t, browser, forged, desktop)
	require.NotEqual(t, "ran", value[string](tab, `document.title`))
	require.Positive(t, value[float64](tab, `document.querySelector("h1").getBoundingClientRect().height`))
	said, _ := tab.heard()
	require.Len(t, said, 4, "the script, the image, its handler and the style are blocked: %q", said)
	for _, what := range []string{"inline script", "inline event handler", "http://192.0.2.1/x.png", "inline style"} {
		require.Contains(t, strings.Join(said, "\n"), what)
	}
}

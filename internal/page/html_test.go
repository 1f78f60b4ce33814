package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/snapshot"
)

var about = page.About{Command: "traceforge diff", From: "main", To: "HEAD", All: "traceforge diff main --json"}

func htmlOf(t *testing.T, c *page.Comparison) string {
	t.Helper()
	return c.HTML(about)
}

// sources are the style and the script of a page, hashes those in its policy.
var (
	sources = regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)
	hashes  = regexp.MustCompile(`sha256-[^&]*(&#43;[^&]*)*`)
)

func TestHTML(t *testing.T) {
	g := goldie.New(t, goldie.WithFixtureDir("testdata/comparison"))
	for name, c := range comparisons(t) {
		text := htmlOf(t, c)
		require.NoError(t, wellFormed(text), name)
		if name == "several" || name == "rules" {
			text = hashes.ReplaceAllString(sources.ReplaceAllString(text, "<$1>…</$1>"), "sha256-…")
			g.Assert(t, name+".html", []byte(text))
		}
	}
}

// TestHTMLPolicy: the page's own style and script work, and nothing else.
func TestHTMLPolicy(t *testing.T) {
	text := htmlOf(t, comparisons(t)["several"])
	found := sources.FindAllStringSubmatch(text, -1)
	require.Len(t, found, 2)
	for _, source := range found {
		sum := sha256.Sum256([]byte(source[2]))
		hash := template(base64.StdEncoding.EncodeToString(sum[:]))
		require.Contains(t, text, source[1]+"-src &#39;sha256-"+hash+"&#39;", "the policy has the hash of the %s", source[1])
	}
	require.Contains(t, text, `content="default-src &#39;none&#39;;`)
	require.Less(t, strings.Index(text, "Content-Security-Policy"), strings.Index(text, "<style"), "it holds for what follows it")
	for _, source := range found {
		require.NotRegexp(t, `https?:|url\(|@import|innerHTML|eval\(`, source[2])
	}
}

// template spells a text as html/template does in an attribute.
func template(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

var (
	tags   = regexp.MustCompile(`<(/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	active = regexp.MustCompile(` (on[a-z]+|style|src|srcset)=`)
	link   = regexp.MustCompile(` href="([^"]*)"`)
)

// wellFormed reports a tag or an attribute that the page has none of, and elements that are not closed.
func wellFormed(text string) error {
	text = sources.ReplaceAllString(text, "")
	rest := tags.ReplaceAllString(strings.TrimPrefix(text, "<!doctype html>"), "")
	if i := strings.IndexAny(rest, "<>"); i >= 0 {
		return fmt.Errorf("markup that the page has not: %q", rest[max(i-20, 0):min(i+60, len(rest))])
	}
	var open []string
	for _, tag := range tags.FindAllStringSubmatch(text, -1) {
		name := tag[2]
		if active.MatchString(tag[3]) {
			return fmt.Errorf("an attribute that loads or runs: %s", tag[0])
		}
		switch href := link.FindStringSubmatch(tag[3]); {
		case href != nil && !strings.HasPrefix(href[1], "#"):
			return fmt.Errorf("a link that leaves the page: %s", tag[0])
		case slices.Contains([]string{"meta", "input"}, name):
		case tag[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return fmt.Errorf("%s closes %v", tag[0], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("not closed: %v", open)
	}
	return nil
}

// TestHTMLIsInert: what a store says is text.
func TestHTMLIsInert(t *testing.T) {
	for _, said := range []string{
		`<script>alert(1)</script>`, `</style><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{.Policy}}`,
		`javascript:alert(1)`, `<!--`, `</details></main>`, `&lt;b&gt;`, "\u202egnp.exe", "\x1b[2J", `]]>`, "`${alert(1)}`",
	} {
		c := compare(t, false,
			pair{"Test/" + said, "p/" + said, prompted("a"), edited(func(s *snapshot.Snapshot) {
				s.Request.Messages[0], s.Request.Messages[1] = pagetest.Said("system", "a\n"+said), pagetest.Said("user", said)
				s.Response.Candidates[0].Message = pagetest.Said("model", said)
				s.Source.File, s.Request.Model = said, said
			})},
			pair{"TestNew/" + said, "p", nil, edited(func(s *snapshot.Snapshot) {
				s.Request.Messages[1] = pagetest.Said("user", said)
			})},
		)
		text := htmlOf(t, c)
		require.NoError(t, wellFormed(text), said)
		body := sources.ReplaceAllString(text, "")
		require.NotRegexp(t, "<script>alert|<img|\u202e|\x1b", body)
		require.Equal(t, 1, strings.Count(text, "<script>"), said)
	}
}

// TestHTMLOfALongLine shows every change of a line that is too long for the page, as the text form does, also the last of many.
func TestHTMLOfALongLine(t *testing.T) {
	rows := func(value, last string, changed ...int) string {
		var b strings.Builder
		for i := range 2000 {
			name := "a"
			if slices.Contains(changed, i) {
				name = value
			}
			if i == 1900 {
				name = last
			}
			fmt.Fprintf(&b, `{"id":%d,"name":"%s"},`, i, name)
		}
		return b.String()
	}
	for _, changed := range [][]int{{2}, {2, 300, 600, 900, 1200, 1500}, {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}} {
		was, is := prompted(rows("a", "a")), prompted(rows("b", "SEND IT TO EVE", changed...))
		text := htmlOf(t, compare(t, false, pair{"TestX", agents, was, is}))
		require.NoError(t, wellFormed(text))
		require.Contains(t, text, `<mark>SEND IT TO EVE</mark>`, changed)
		require.Contains(t, text, `&#34;name&#34;:&#34;<mark>b</mark>`)
		require.Zero(t, strings.Count(text, `<mark>b</mark>`)%len(changed), changed)
		require.Regexp(t, `… \([0-9]+ equal bytes\) …`, text)
		require.Less(t, len(text), 60_000)
	}
}

var leftOut = regexp.MustCompile(`>(\d+) (cause|test)s are left out, since the page would be larger than 4 MB\. ` +
	`All of it: <code>traceforge diff main --json<`)

// TestHTMLLimit: thousands of changes are cut, and counted.
func TestHTMLLimit(t *testing.T) {
	var pairs []pair
	const tests, causes = 1200, 400
	for i := range tests {
		prompt := strings.Repeat(fmt.Sprintf("rule %d is long enough to need room on the page\n", i), 60)
		now := prompted(prompt + fmt.Sprint(i%causes))
		pairs = append(pairs, pair{fmt.Sprintf("Test%04d", i), agents, prompted(prompt + "a"), now})
	}
	for i := range tests {
		pairs = append(pairs, pair{fmt.Sprintf("TestNew%04d", i), agents, nil, prompted(strings.Repeat("x", i))})
	}
	c := compare(t, false, pairs...)
	text := htmlOf(t, c)
	require.LessOrEqual(t, len(text), page.HTMLLimit)
	require.NoError(t, wellFormed(text))
	all := map[string]int{"cause": causes, "test": 2 * tests}
	left := map[string]int{}
	for _, m := range leftOut.FindAllStringSubmatch(text, -1) {
		var n int
		_, err := fmt.Sscan(m[1], &n)
		require.NoError(t, err)
		left[m[2]] += n
	}
	require.Equal(t, all["cause"], strings.Count(text, `class="item cause"`)+left["cause"])
	shown := strings.Count(text, `class="item test"`) + strings.Count(text, `class="item document"`)
	require.Equal(t, all["test"], shown+left["test"])
	require.Greater(t, shown, 500)
	require.Positive(t, left["test"])
}

// TestHTMLOfCauses: a run of tests has causes alone, and the commands that accept them.
func TestHTMLOfCauses(t *testing.T) {
	c := &page.Comparison{Causes: comparisons(t)["hundred"].Causes}
	text := c.HTML(page.About{Command: "traceforge report", Accept: true})
	require.NoError(t, wellFormed(text))
	require.Contains(t, text, "accept: <code>go test example.com/shop/agents ")
	require.Contains(t, text, `<span class="subject">system prompt changed</span>`+
		`<span class="extent"> in 4 packages: 100 calls of 27 tests, 1 line; 3 answers changed</span>`)
	require.NotContains(t, text, `id="tests"`)
}

// TestHTMLAnswersFirst: tests whose answers changed are to be judged, and come before the others.
func TestHTMLAnswersFirst(t *testing.T) {
	var hits []string
	text := htmlOf(t, comparisons(t)["hundred"])
	for _, m := range regexp.MustCompile(`<span class="hits">([^<]*)</span>`).FindAllStringSubmatch(text, -1) {
		hits = append(hits, m[1])
	}
	require.Len(t, hits, 27)
	for i, text := range hits {
		require.Equal(t, i < 3, strings.HasSuffix(text, "; 1 answer changed"), "%d: %s", i, text)
	}
}

func TestHTMLOfNothing(t *testing.T) {
	text := htmlOf(t, comparisons(t)["nothing"])
	require.Contains(t, text, "<h1>no document changed</h1>")
	require.NotContains(t, text, `class="item`)
}

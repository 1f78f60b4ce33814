package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

var cachePrefix = Rule{
	Name: "cache-prefix",
	Fix:  "put them in one order, such as that of their names",
	each: func(l *Linter, d *document, c *call, add adder) {
		if c.base != nil || !c.generated() || !c.cached() {
			return
		}
		l.noteTools(d, c)
		l.noteSystem(d, c)
	},
	end: func(l *Linter, add adder) {
		compareTools(l.tools, add)
		compareSystems(l.systems, add)
	},
}

// Providers that cache prefixes of requests: automatically, or only parts that the request marks.
var (
	cachesAll    = []string{"azure", "deepseek", "google", "moonshot", "openai", "openrouter", "vertex", "xai"}
	cachesMarked = []string{"anthropic", "bedrock", "vertex"}
	mark         = regexp.MustCompile(`cache_?[cC]ontrol|cachePoint`)
)

// leastCached is the length of the shortest prefix that caches keep: 1,024 tokens of about 4 bytes each.
const leastCached = 4096

// cached reports whether the provider caches the prefix of the request.
func (c *call) cached() bool {
	return slices.Contains(cachesAll, c.provider) && !strings.Contains(c.Request.API, "anthropic") ||
		slices.Contains(cachesMarked, c.provider) && c.marked()
}

// marked reports whether the request marks parts to cache.
func (c *call) marked() bool {
	in := func(o modelio.Object) bool { return matches(o, mark) }
	part := func(p modelio.Part) bool { return in(p.Metadata) || in(p.Custom) }
	message := func(m modelio.Message) bool { return in(m.Metadata) || slices.ContainsFunc(m.Content, part) }
	tool := func(t modelio.ToolDefinition) bool { return in(t.Metadata) }
	return in(c.Request.Options) || slices.ContainsFunc(c.Request.Tools, tool) ||
		slices.ContainsFunc(c.Request.Messages, message)
}

// variants holds the variants of request prefixes, by what the requests have in common.
type variants map[string]map[string]variant

// A variant is one of several versions of a prefix.
type variant struct {
	first Place
	names []string // names of the tools, in order
	spots []spot   // varying parts of a system prompt
	bytes int      // length of the system prompt
}

// A spot is a text in a system prompt that may differ in every run.
type spot struct {
	offset int
	text   string
}

// put notes a variant with the first place that has it.
func (l *Linter) put(all variants, group, key string, v variant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all[group] == nil {
		all[group] = map[string]variant{}
	}
	if known, ok := all[group][key]; !ok || v.first.compare(known.first) < 0 {
		all[group][key] = v
	}
}

// group returns what requests that could share a cache entry have in common.
func (c *call) group(more string) string {
	return c.provider + " " + c.Request.API + " " + c.Request.Model + " " + string(canon.Sum([]byte(more)))
}

func (l *Linter) noteTools(d *document, c *call) {
	var names, texts []string
	size := len(systemOf(c.Request.Messages))
	for _, tool := range c.Request.Tools {
		text := tool.Name + "\n" + tool.Description + "\n" + string(tool.InputSchema)
		names, texts, size = append(names, strings.Clone(tool.Name)), append(texts, text), size+len(text)
	}
	if len(texts) < 2 || size < leastCached {
		return
	}
	order := string(canon.Sum([]byte(strings.Join(texts, "\n"))))
	slices.Sort(texts)
	v := variant{first: d.at(c, []string{"request", "tools"}, ""), names: names}
	l.put(l.tools, c.group(strings.Join(texts, "\n")), order, v)
}

func compareTools(tools variants, add adder) {
	for group, all := range tools {
		orders := inOrder(all)
		for _, v := range orders[1:] {
			i := 0
			for v.names[i] == orders[0].names[i] && i < len(v.names)-1 {
				i++
			}
			v.first.Message = fmt.Sprintf("the %d tools of %s are in another order, from %s on, "+
				"and the prompt cache serves neither to the other", len(v.names), orders[0].first.Call, v.names[i])
			add(group, "", v.first)
		}
	}
}

// volatile matches values that change with every run or every day.
var volatile = regexp.MustCompile(`\{\{(?:uuid|time)(?:\.[a-z]+)?:\d+\}\}` +
	`|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}` +
	`|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?` +
	`|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm]\b)?` +
	`|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)` +
	` \d{1,2}(?:, \d{4})?\b`)

// mostSpots limits how many spots of a prompt are examined.
const mostSpots = 64

func (l *Linter) noteSystem(d *document, c *call) {
	text := systemOf(c.Request.Messages)
	if len(text) < leastCached {
		return
	}
	var skeleton strings.Builder
	v := variant{first: d.at(c, []string{"request", "messages", "0"}, ""), bytes: len(text), spots: spotsIn(text)}
	if v.spots == nil {
		return
	}
	last := 0
	for _, s := range v.spots {
		skeleton.WriteString(text[last:s.offset] + "\xff") // no text has this byte
		last = s.offset + len(s.text)
	}
	skeleton.WriteString(text[last:])
	l.put(l.systems, c.group(skeleton.String()), string(canon.Sum([]byte(text))), v)
}

// spotsIn returns the volatile values in a text. Each contains a digit, so lines without one are skipped.
func spotsIn(text string) (spots []spot) {
	offset := 0
	for line := range strings.Lines(text) {
		if strings.ContainsAny(line, "0123456789") {
			for _, at := range volatile.FindAllStringIndex(line, mostSpots-len(spots)) {
				spots = append(spots, spot{offset + at[0], strings.Clone(line[at[0]:at[1]])})
			}
		}
		if offset += len(line); len(spots) == mostSpots {
			break
		}
	}
	return spots
}

func compareSystems(systems variants, add adder) {
	for group, all := range systems {
		prompts := inOrder(all)
		first := prompts[0]
		scrubbed := func(s spot) bool { return strings.HasPrefix(s.text, "{{") }
		if i := slices.IndexFunc(first.spots, scrubbed); i >= 0 {
			first.report(add, group, first.spots[i], "is another in every run")
			continue
		}
		for _, v := range prompts[1:] {
			i := 0
			for v.spots[i].text == first.spots[i].text {
				i++ // one spot differs, or the two prompts would be one variant
			}
			v.report(add, group, v.spots[i], "is "+first.spots[i].text+" in the same prompt of "+first.first.Call)
		}
	}
}

// report adds a finding that a spot differs, if enough text follows it to be cached.
func (v *variant) report(add adder, group string, s spot, is string) {
	if v.bytes-s.offset < leastCached {
		return
	}
	v.first.Message = fmt.Sprintf("%s at byte %d of a system prompt of %d bytes %s, "+
		"and the prompt cache serves nothing behind it", s.text, s.offset, v.bytes, is)
	add(group, "put what varies behind what stays", v.first)
}

func inOrder(all map[string]variant) []variant {
	return slices.SortedFunc(maps.Values(all), func(a, b variant) int { return a.first.compare(b.first) })
}

// systemOf returns the texts of the system messages at the start of a request.
func systemOf(messages []modelio.Message) string {
	var b strings.Builder
	for i := range messages {
		if messages[i].Role != modelio.RoleSystem {
			break
		}
		b.WriteString(texts.Join(messages[i].Content))
	}
	return b.String()
}

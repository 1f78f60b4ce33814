package drift

import (
	"cmp"
	"hash/crc32"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// Likest returns the index of the request that is most similar to got, which may come from a test that was renamed and
// changed. It is -1 without a similar one, or if two are equally so. Of many requests only those are compared that have
// the most words in common with got.
func (c *Comparer) Likest(got *Request, among []*Request) int {
	const leastAlike, compared = 0.2, 8
	nearest, common := make([]int, len(among)), make([]float64, len(among))
	for i, r := range among {
		same, all := shared(r.counted(), got.counted())
		nearest[i], common[i] = i, float64(same)/float64(all+1)
	}
	inorder.By(nearest, func(i, j int) int { return cmp.Compare(common[j], common[i]) })
	best, most := -1, leastAlike
	for _, i := range nearest[:min(len(nearest), compared)] {
		switch alike := c.Likeness(among[i], got); {
		case alike > most:
			most, best = alike, i
		case alike == most:
			best = -1
		}
	}
	return best
}

// counted returns the bytes of the words of a conversation, by a short hash of each word.
func (r *Request) counted() []int32 {
	if r.counts == nil {
		r.counts = make([]int32, 1<<12)
		for _, p := range r.conversation() {
			countWords(r.counts, *p.spelled(Spoken))
		}
	}
	return r.counts
}

func (p *part) counted() []int32 {
	if p.counts == nil {
		p.counts = make([]int32, 1<<8)
		countWords(p.counts, p.short())
	}
	return p.counts
}

// countWords adds the bytes of the words of a text, which are no spaces, to counts.
func countWords(counts []int32, text string) {
	all, _ := words(text[:boundary(text, mostRead)])
	for _, word := range all {
		if !isSpace(word) {
			counts[crc32.ChecksumIEEE([]byte(word))%uint32(len(counts))] += int32(len(word))
		}
	}
}

// shared returns how many bytes two texts can have in common at most, in words in any order, and how many bytes both
// have.
func shared(a, b []int32) (same, all int) {
	for i, n := range a {
		same, all = same+int(min(n, b[i])), all+int(n+b[i])
	}
	return same, all
}

// mostRead limits how many bytes of a text are divided into words.
const mostRead = 16 << 10

// Likeness returns how much of two conversations is equal, by length, from 0 to 1. It compares messages other than
// system messages, which a program always sends; without any, the system messages; and without those, all other
// members. A component counts fully if it is equal, and partly if it was changed rather than replaced.
func (c *Comparer) Likeness(recorded, got *Request) float64 {
	r, g := recorded.conversation(), got.conversation()
	if len(r)+len(g) == 0 {
		return 1
	}
	all, same, equal := 0, 0, head(r, g, samePart)
	for _, p := range r[:equal] {
		all, same = all+2*len(p.text), same+2*len(p.text)
	}
	r, g = r[equal:], g[equal:]
	for _, p := range g {
		p.left++
		all += len(p.text)
	}
	changed := c.changed[:0]
	for _, p := range r {
		all += len(p.text)
		if p.left > 0 {
			p.left--
			same += 2 * len(p.text)
		} else {
			changed = append(changed, p)
		}
	}
	c.changed = changed
	for _, p := range g {
		if p.left == 0 {
			continue
		}
		if p.left--; len(changed) > 0 {
			same += 2 * c.common(changed[0], p)
			changed = changed[1:]
		}
	}
	return float64(same) / float64(all)
}

// MostAlike returns what [Comparer.Likeness] cannot exceed, by the lengths of what it compares.
func MostAlike(recorded, got *Request) float64 {
	shorter, longer := min(recorded.length, got.length), max(recorded.length, got.length)
	if shorter == 0 { // one has other components to compare
		return 1
	}
	return float64(2*shorter) / float64(shorter+longer)
}

// conversation returns what Likeness compares, without ignored parts.
func (r *Request) conversation() []*part {
	if len(r.spoken) > 0 {
		return r.spoken
	}
	said := slices.DeleteFunc(slices.Clone(r.messages), func(p *part) bool { return p == nil })
	if len(said) > 0 {
		return said
	}
	for _, name := range inorder.Names(r.members) {
		if name != "api" && name != "model" {
			said = append(said, r.members[name])
		}
	}
	return said
}

// common returns how many bytes two components have in common; 0 if they are so different that one replaced the other.
func (c *Comparer) common(r, g *part) int {
	if r.with != g {
		common, known := c.commons[[2]*part{r, g}]
		if !known {
			common = commonText(r, g)
			c.commons[[2]*part{r, g}] = common
		}
		r.with, r.common = g, common
	}
	return r.common
}

// short returns the readable form of a component, which is shorter than its JSON unless it is laid out in lines.
func (p *part) short() string {
	if text := *p.spelled(Spoken); len(text) < len(p.text) {
		return text
	}
	return string(p.text)
}

// commonText returns the length of the common prefix and suffix of two texts and of the common words between, or of all
// common words.
func commonText(r, g *part) int {
	const least = 4 // less than a fourth of the bytes in common counts as nothing
	before, after := r.short(), g.short()
	longer := max(len(before), len(after))
	head, tail := ends(before, after)
	if (head+tail)*least >= longer {
		common, spaces := commonWords(before[head:len(before)-tail], after[head:len(after)-tail])
		return head + tail + common + spaces
	}
	if common, _ := shared(r.counted(), g.counted()); common*least < min(longer, mostRead) {
		return 0 // in whatever order
	}
	if common, _ := commonWords(before, after); common*least >= min(longer, mostRead) {
		return common
	}
	return 0
}

// commonWords returns the length of the common words of two texts, and of the spaces, in the parts that are read.
func commonWords(before, after string) (common, spaces int) {
	a, from := words(before[:boundary(before, mostRead)])
	b, _ := words(after[:boundary(after, mostRead)])
	start := 0
	for _, e := range append(Edits(a, b), Edit{A0: len(a)}) {
		for w := start; w < e.A0; w++ {
			if isSpace(a[w]) {
				spaces += from[w+1] - from[w]
			} else {
				common += from[w+1] - from[w]
			}
		}
		start = e.A1
	}
	return common, spaces
}

func isSpace(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return kindOf(first) == space
}

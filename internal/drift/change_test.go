package drift

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

func changeOf(before, after string) Change {
	return Change{Component: "system", Kind: "system", Before: &before, After: &after}
}

// spelledHunks formats hunks with marked text in brackets.
func spelledHunks(hunks []Hunk, more int) string {
	var b strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&b, "@%d %d\n", h.Before, h.After)
		for _, line := range h.Lines {
			text := line.Text
			for _, m := range slices.Backward(line.Marks) {
				text = text[:m.From] + "[" + text[m.From:m.To] + "]" + text[m.To:]
			}
			b.WriteString(line.Op + text + "\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "%d more\n", more)
	}
	return b.String()
}

func TestHunks(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("line %d", i))
	}
	text := strings.Join(many, "\n")
	for _, c := range []struct {
		name, why, before, after string
		around                   int
		want                     string
	}{
		{"words", "what changed in a line", "Never guess.", "Do not guess.", 0, "@1 1\n-[Never] guess.\n+[Do not] guess.\n"},
		{"inserted word", "nothing of the other side changed", "Be kind.", "Be very kind.", 0, "@1 1\n-Be []kind.\n+Be [very ]kind.\n"},
		{"nothing alike", "then all of it changed", "Never guess.", "Ask somebody else", 0, "@1 1\n-Never guess.\n+Ask somebody else\n"},
		{"punctuation", "each word that changed is marked", "a red, green ball of wool", "a blue, white ball of wool", 0,
			"@1 1\n-a [red], [green] ball of wool\n+a [blue], [white] ball of wool\n"},
		{"no spaces", "scripts without spaces are marked by the character", "今日は雨です", "今日は雪です", 0, "@1 1\n-今日は[雨]です\n+今日は[雪]です\n"},
		{"accents", "a character keeps its marks", "cafe\u0301 au lait", "cafe au lait", 0, "@1 1\n-[cafe\u0301] au lait\n+[cafe] au lait\n"},
		{"white space", "what is not seen is marked too", "a b ", "a b", 0, "@1 1\n-a b[ ]\n+a b[]\n"},
		{"lines", "each behind that which it replaces, and what is around", text,
			strings.NewReplacer("line 2\n", "line two\n", "line 15\n", "line 15\nnew\n").Replace(text), 1,
			"@2 2\n line 1\n-line [2]\n+line [two]\n line 3\n@16 16\n line 15\n+new\n line 16\n"},
		{"near", "hunks that touch are one", text, strings.NewReplacer("line 2\n", "", "line 5\n", "").Replace(text), 1,
			"@2 2\n line 1\n-line 2\n line 3\n line 4\n-line 5\n line 6\n"},
		{"more lines", "a line is held against that which is like it", "a\nthe quick brown fox\nb", "a\nnew\nthe quick red fox\nb", 0,
			"@2 2\n+new\n-the quick [brown] fox\n+the quick [red] fox\n"},
		{"end", "a line end at the end is a line", "a", "a\n", 0, "@2 2\n+\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, spelledHunks(changeOf(c.before, c.after).Hunks(c.around, 1000)), c.why)
		})
	}
	require.Equal(t, "@1 1\n-a [1]\n+a [2]\n2 more\n", spelledHunks(changeOf("a 1\nb", "a 2\nc").Hunks(0, 2)), "at most so many")
	one := "a\nb"
	require.Equal(t, "@1 1\n+a\n+b\n", spelledHunks(Change{After: &one}.Hunks(3, 9)), "a text that is new")
	require.Equal(t, "@1 1\n-a\n-b\n", spelledHunks(Change{Before: &one}.Hunks(3, 9)), "one that is gone")
}

// TestKey checks that equal changes have one key, even if their texts differ elsewhere.
func TestKey(t *testing.T) {
	base := changeOf("for Anna\nNever guess.", "for Anna\nDo not guess.")
	same := changeOf("for Bert\nsince 2001\nNever guess.", "for Bert\nsince 2001\nDo not guess.")
	require.Equal(t, base.Key(), same.Key())
	require.Equal(t, "1 1", fmt.Sprint(same.Lines()))
	same.Kind = "user message"
	require.NotEqual(t, base.Key(), same.Key(), "another kind of component")
	require.NotEqual(t, base.Key(), changeOf("Never guess.", "Do not guess!").Key(), "another line")
	require.NotEqual(t, base.Key(), changeOf("Do not guess.", "Never guess.").Key(), "the other way round")
}

// FuzzHunks proves that the hunks contain both sides, whole and in order, and that marks lie inside lines.
func FuzzHunks(t *testing.F) {
	f := mutation.New(t)
	f.Add("a\nb\nc", "a\nx y\nc\n")
	f.Add("Never guess.", "Do not\n\nguess.")
	f.Add("漢字 a", "漢 字 b")
	f.Fuzz(func(t *testing.T, b, a string) {
		var sides [2][]string
		hunks, more := changeOf(b, a).Hunks(1<<20, 1<<30)
		require.Zero(t, more)
		for _, h := range hunks {
			for _, line := range h.Lines {
				if line.Op != after {
					sides[0] = append(sides[0], line.Text)
				}
				if line.Op != before {
					sides[1] = append(sides[1], line.Text)
				}
				end := 0
				for _, m := range line.Marks {
					require.True(t, end <= m.From && m.From <= m.To && m.To <= len(line.Text))
					end = m.To
				}
			}
		}
		if a != b {
			require.Equal(t, b, strings.Join(sides[0], "\n"))
			require.Equal(t, a, strings.Join(sides[1], "\n"))
		}
		hunks, _ = changeOf(b, a).Hunks(0, 1<<30)
		for _, h := range hunks {
			for _, line := range h.Lines {
				require.NotEqual(t, inBoth, line.Op)
			}
		}
		joined, from := words(a)
		require.Equal(t, a, strings.Join(joined, ""))
		require.Len(t, from, len(joined)+1)
	})
}

// A line of millions of words is compared by its ends, because its words would take 30 times its memory.
func TestMarksOfALongLine(t *testing.T) {
	line := func(from, to string) string { return from + strings.Repeat("ab ", 1<<20) + to }
	before, after := line(strings.Repeat("same ", 20)+"one ", "two"), line(strings.Repeat("same ", 20)+"other ", "three")
	var started, ended runtime.MemStats
	runtime.ReadMemStats(&started)
	was, is := marks(before, after)
	runtime.ReadMemStats(&ended)
	require.Less(t, ended.TotalAlloc-started.TotalAlloc, uint64(1<<20))
	require.Equal(t, []Mark{{101, len(before)}}, was)
	require.Equal(t, []Mark{{101, len(after)}}, is)
}

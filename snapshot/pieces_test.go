package snapshot_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// long returns a line that is long enough to be split.
func long(s string) string { return s + strings.Repeat("x", 130) }

func TestSplit(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 130)
	clause := strings.Repeat("word ", 31)
	for _, c := range []struct {
		name, why, text string
		want            []string
	}{
		{"empty", "nothing is one piece", "", []string{""}},
		{"line", "a short line is one piece, whatever is in it", "One. Two, three.", []string{"One. Two, three."}},
		{"line-end", "a line break at the end is not inside", "One.\n", []string{"One.\n"}},
		{"lines", "after every line break", "a\nb\r\n\nc", []string{"a\n", "b\r\n", "\n", "c"}},
		{"return", "a lone carriage return is none", "a\rb", []string{"a\rb"}},
		{"sentences", "in a long line after sentences", long("One. Two! Three? "), []string{"One. ", "Two! ", "Three? ", x}},
		{"quoted", "marks may close a sentence", long(`He said "no." (Yes.) `), []string{`He said "no." `, "(Yes.) ", x}},
		{"decimal", "a point inside a word ends nothing", long("It is 3.14 of v1.2 "), []string{"It is 3.14 of v1.2 " + x}},
		{"members", "after members of JSON", long(`{"a":1,"b":[2],"c":"d","e":`), []string{`{"a":1,`, `"b":[2],`, `"c":"d",`, `"e":` + x}},
		{"cjk", "after full stops of Chinese and Japanese", long("字。字！ 字。」 字"), []string{"字。", "字！ ", "字。", "」 字" + x}},
		{"cjk-question", "also of a question", long("字？字"), []string{"字？", "字" + x}},
		{"no-members", "a comma that ends the line, or with a word behind it, separates none", long(`"a", b `) + `",`, []string{`"a", b ` + x + `",`}},
		{"space", "a place has two bytes before it", long(" ") + ", ", []string{" " + x + ", "}},
		{"clauses", "in what is still long after clauses", clause + "and, so: " + clause, []string{clause + "and, ", "so: ", clause}},
		{"marks", "and after other marks", clause + "a,b，c、d；e\tf>g;h}i]j\rk" + clause,
			[]string{clause + "a,", "b，", "c、", "d；", "e\t", "f>", "g;", "h}", "i]", "j\r", "k" + clause}},
		{"escaped", "and after line breaks and tabs that are escaped once more", clause + `a\nb\tc\rnt` + clause,
			[]string{clause + `a\n`, `b\t`, `c\rnt` + clause}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, snapshot.Split(c.text), c.why) })
	}
}

// TestSplitOfWhatHasNoEnds checks that words and runs without spaces are split too, at places that their content
// determines.
func TestSplitOfWhatHasNoEnds(t *testing.T) {
	t.Parallel()
	var words, run strings.Builder
	for i := range 400 {
		fmt.Fprintf(&words, "%x ", i*i*7919)
		fmt.Fprintf(&run, "%x", i*i*104729)
	}
	for _, text := range []string{words.String(), run.String()} {
		pieces := snapshot.Split(text)
		require.Equal(t, text, strings.Join(pieces, ""))
		require.Greater(t, len(pieces), 10)
		short := 0
		for _, p := range pieces {
			if utf8.RuneCountInString(p) <= 200 {
				short++
			}
		}
		require.Greater(t, short, len(pieces)*9/10)
	}
}

// TestSplitOfAnEdit checks that a changed word changes only the pieces that contain it.
func TestSplitOfAnEdit(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "When the customer asks about matter %d, which happens often, answer shortly and kindly. ", i)
	}
	text := b.String()
	before := snapshot.Split(text)
	words := strings.Fields(text)
	require.Greater(t, len(before), 30)
	at := 0
	for _, word := range words {
		at += strings.Index(text[at:], word)
		for _, other := range []string{"x", "another", "two words", strings.ToUpper(word)} {
			after := snapshot.Split(text[:at] + other + text[at+len(word):])
			changed := len(before) - same(before, after)
			require.LessOrEqual(t, changed, 2, "%q to %q", word, other)
		}
		at += len(word)
	}
}

// same returns the number of equal pieces at the beginning and at the end of two texts.
func same(a, b []string) int {
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return first + last
}

// TestSplitIsLinear checks that no text takes more than linear time.
func TestSplitIsLinear(t *testing.T) {
	for _, unit := range []string{`" `, ", ", "。", ". ", "a", "'\"", "c ", "33"} {
		text := strings.Repeat(unit, 200_000)
		require.Equal(t, text, strings.Join(snapshot.Split(text), ""))
	}
}

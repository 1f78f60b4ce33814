package drift

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

func TestEdits(t *testing.T) {
	numbers := func(n int, edit func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, edit(i))
		}
		return strings.Join(all, " ")
	}
	plain := func(i int) string { return fmt.Sprint(i) }
	each := numbers(100, func(i int) string { return fmt.Sprintf("%d-%d+%d-%d", i+1, i+1, 2*i+1, 2*i+2) })
	for _, c := range []struct{ name, why, before, after, want string }{
		{"equal", "nothing to tell", "a b", "a b", ""},
		{"empty", "nothing became something", "", "a", "0-0+0-1"},
		{"changed", "an element in the middle", "a b c", "a x c", "1-2+1-2"},
		{"inserted", "what follows did not change", "a b c", "a x b c", "1-1+1-2"},
		{"repeated", "elements that are there often", "a a a b a", "a a b a a", "2-3+2-2 4-4+3-4"},
		{"many", "a short list is compared exactly", strings.Repeat("a ", 100), strings.Repeat("a b ", 100), each},
		{"beside", "a change and an insertion are one edit", "a b c", "a x y c", "1-2+1-3"},
		{"long", "too long to be compared exactly, held together by what is there once", numbers(900, plain),
			numbers(900, func(i int) string {
				if i == 100 || i == 400 {
					return "x"
				}
				return fmt.Sprint(i)
			}), "100-101+100-101 400-401+400-401"},
		{"repeated often", "too long to be compared exactly, and nothing is there once: a few edits", strings.Repeat("a b ", 400),
			strings.Repeat("b a ", 200) + "c c " + strings.Repeat("b a ", 200) + "c", "0-1+0-0 401-401+400-402 800-800+801-803"},
		{"nothing alike", "too long to be compared exactly, and nothing is there once: many edits", strings.Repeat("a b ", 400),
			strings.Repeat("b b a a ", 200) + "c", "0-800+0-801"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range Edits(strings.Fields(c.before), strings.Fields(c.after)) {
				got = append(got, fmt.Sprintf("%d-%d+%d-%d", e.A0, e.A1, e.B0, e.B1))
			}
			require.Equal(t, c.want, strings.Join(got, " "), c.why)
		})
	}
}

func TestIncreasing(t *testing.T) {
	pairs := [][2]int{{0, 3}, {1, 0}, {2, 1}, {3, 5}, {4, 2}, {5, 4}}
	require.Equal(t, [][2]int{{1, 0}, {2, 1}, {4, 2}, {5, 4}}, increasing(pairs))
	require.Empty(t, increasing(nil))
}

// FuzzEdits proves that the edits transform one list into the other, and that equal elements separate the edits.
func FuzzEdits(t *testing.F) {
	f := mutation.New(t)
	f.Add("a b c d", "a c d e")
	f.Add("a a b", "b a a")
	f.Add(strings.Repeat("a b c ", 60), strings.Repeat("c b a ", 60)+"q")
	f.Add(strings.Repeat("a b ", 200), strings.Repeat("a b ", 90)+"b b "+strings.Repeat("a b ", 110))
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := strings.Fields(before), strings.Fields(after)
		made, at := []string{}, 0
		for i, e := range Edits(a, b) {
			require.True(t, i == 0 && at <= e.A0 || at < e.A0, "an equal element is between edits")
			require.True(t, e.A0 < e.A1 || e.B0 < e.B1, "an edit is of something")
			made = append(append(made, a[at:e.A0]...), b[e.B0:e.B1]...)
			at = e.A1
		}
		require.True(t, slices.Equal(b, append(made, a[at:]...)))
		require.Equal(t, len(Edits(a, b)) == 0, slices.Equal(a, b))
	})
}

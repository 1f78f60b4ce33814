package drift

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestLikeness checks which calls can be versions of each other.
func TestLikeness(t *testing.T) {
	say := func(said ...string) *modelio.Request {
		r := &modelio.Request{API: "openai.chat", Model: "m"}
		for _, text := range said {
			role, text, _ := strings.Cut(text, ": ")
			r.Messages = append(r.Messages, modelio.Message{Role: modelio.Role(role), Content: []modelio.Part{modelio.TextPart(text)}})
		}
		return r
	}
	long := strings.Repeat("a\n", 1<<20)
	for _, c := range []struct {
		name, why     string
		recorded, got *modelio.Request
		least, most   float64
	}{
		{"same", "whatever else differs", say("user: hello"), &modelio.Request{Messages: say("user: hello").Messages, Model: "other"}, 1, 1},
		{"system", "it is the same question", say("system: Never guess.", "user: hello"), say("system: be kind", "user: hello"), 1, 1},
		{"question", "that the system message is the same tells nothing", say("system: Never guess.", "user: hello there"),
			say("system: Never guess.", "user: good bye"), 0, 0},
		{"words", "most words stayed", say("user: Say hello to the new user"), say("user: Please say hello to a user"), 0.2, 0.7},
		{"others", "two questions", say("user: What is the weather in Paris today?"), say("user: Summarize this ticket for the team"), 0, 0},
		{"longer", "a turn more", say("user: hello", "model: hi"), say("user: hello", "model: hi", "user: And who are you then?"), 0.5, 0.9},
		{"order", "the same in another order", say("user: a", "user: b", "model: c"), say("user: b", "user: a", "model: c"), 1, 1},
		{"only-system", "where there is nothing else", say("system: Never guess."), say("system: Do not guess."), 0.1, 0.9},
		{"nothing", "two calls that say nothing", &modelio.Request{API: "http.json"}, &modelio.Request{API: "http.json"}, 1, 1},
		{"members", "of an API without messages", &modelio.Request{Options: modelio.Object{"input": []byte(`"one text"`)}},
			&modelio.Request{Options: modelio.Object{"input": []byte(`"one text more"`)}}, 0.2, 0.9},
		{"huge", "neither is taken apart whole", say("user: x" + long), say("user: y" + long[1:] + "z"), 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			comparer := NewComparer(nil)
			r, err := comparer.Request(c.recorded)
			require.NoError(t, err)
			g, err := comparer.Request(c.got)
			require.NoError(t, err)
			likeness := comparer.Likeness(r, g)
			require.GreaterOrEqual(t, likeness, c.least, c.why)
			require.LessOrEqual(t, likeness, c.most, c.why)
			require.InDelta(t, likeness, comparer.Likeness(g, r), 0.01, "either way")
		})
	}
	c := NewComparer([]string{"/messages/*/content", "/messages/*/role"})
	r, err := c.Request(say("user: a"))
	require.NoError(t, err)
	g, err := c.Request(say("user: b"))
	require.NoError(t, err)
	require.Equal(t, 1.0, c.Likeness(r, g), "nothing is left to tell them apart")
}

// TestLikenessOfMembers finds the most similar text in requests without messages, which have most of their JSON in
// common.
func TestLikenessOfMembers(t *testing.T) {
	c := NewComparer(nil)
	paint := func(prompt string) *Request {
		r, err := c.Request(&modelio.Request{API: "http.json", Options: modelio.Object{
			"$url":  []byte(`"https://api.replicate.com/v1/models/black-forest-labs/flux-schnell/predictions"`),
			"input": []byte(`{"go_fast":true,"num_outputs":1,"output_format":"webp","prompt":"` + prompt + `","seed":1}`),
		}})
		require.NoError(t, err)
		return r
	}
	got, fox := paint("Photo of a red fox which jumps over the old fence"), paint("A red fox jumps over a fence at dawn")
	for _, other := range []string{"", "A lighthouse", "A lighthouse in a storm, by night and from afar"} {
		require.Greater(t, c.Likeness(fox, got), c.Likeness(paint(other), got), other)
	}
}

// TestLikenessOfDialogues compares two long conversations of which each question changed, without memory for either: a
// test that changed compares each call with nearly all records.
func TestLikenessOfDialogues(t *testing.T) {
	c := NewComparer(nil)
	dialogue := func(ask string) *Request {
		r := &modelio.Request{API: "openai.chat", Model: "m"}
		for turn := range 500 {
			r.Messages = append(r.Messages,
				modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(fmt.Sprintf("%s %d", ask, turn))}},
				modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(fmt.Sprintf("answer %d", turn%100))}})
		}
		taken, err := c.Request(r)
		require.NoError(t, err)
		return taken
	}
	recorded, got := dialogue("What costs order"), dialogue("Please say what costs order")
	alike := c.Likeness(recorded, got)
	require.Greater(t, alike, 0.5)
	require.Zero(t, testing.AllocsPerRun(10, func() { c.Likeness(recorded, got) }))
}

// TestLikenessOfUnrelated compares each of many texts with each of others that share no word with it: the words of a text
// are counted once.
func TestLikenessOfUnrelated(t *testing.T) {
	const n = 20
	c := NewComparer(nil)
	texts := func(word string) (all []*Request) {
		for i := range n {
			text := strings.Repeat(fmt.Sprintf("%s%d ", word, i), 100)
			taken, err := c.Request(&modelio.Request{API: "openai.chat", Model: "m",
				Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}}})
			require.NoError(t, err)
			all = append(all, taken)
		}
		return all
	}
	recorded, got := texts("a"), texts("b")
	for i := range n {
		require.Zero(t, c.Likeness(recorded[i], got[0]))
		require.Zero(t, c.Likeness(recorded[0], got[i]))
	}
	pair := 0
	next := func() { c.Likeness(recorded[1+pair/(n-1)], got[1+pair%(n-1)]); pair++ }
	require.Less(t, testing.AllocsPerRun(300, next), 5.0) // a list of its words alone takes as many
}

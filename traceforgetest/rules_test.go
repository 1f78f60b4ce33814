package traceforgetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// configured moves the store to a directory of its own, since a process reads config.json once, and writes that.
func (s *scene) configured(config string) {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), ".ai-snapshots")
	require.NoError(s.t, os.CopyFS(dir, os.DirFS(s.dir)))
	s.dir = dir
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o666))
}

// TestRuleHidesWithoutKey checks the way out where SDKs make no client without a key.
func TestRuleHidesWithoutKey(t *testing.T) {
	s := newScene(t)
	s.record("TestA", asks(newChat("say hello")))
	s.configured(`{"scrub":[{"name":"t","pattern":"say.*"}]}`)
	t.Setenv("OPENAI_API_KEY", "")

	tb := s.replay("TestA", asks(newChat("say hello")))
	require.Contains(t, s.text(tb), "without a key: TRACEFORGE_UPDATE=rekey go test ")
	requirePass(t, s.update("rekey", "TestA", asks(newChat("say hello"))))
	requirePass(t, s.replay("TestA", asks(newChat("say hello"))))
}

// TestRuleHides: a rule of config.json that hides what a prompt says turns no drift off. The test fails until the documents
// say that it is hidden, which takes no call, and no other document is written.
func TestRuleHides(t *testing.T) {
	s := newScene(t)
	calls := s.jitter()
	tests := map[string]string{"TestA": "say hello", "TestB": "say hello, twice", "TestC": "say less"}
	for name, text := range tests {
		s.record(name, asks(newChat(text)))
	}
	s.record("TestOther", asks(newChat("be quiet")))
	made := calls.Load()
	s.configured(`{"scrub":[{"name":"t","pattern":"say.*"}]}`)
	before := s.files()

	for name := range tests {
		tb := s.replay(name, asks(newChat("say EVIL")))
		require.True(t, tb.Failed(), name)
		require.Contains(t, s.text(tb), "recorded under other rules: go test ")
		require.Contains(t, s.text(tb), "-run '^"+name+"$' -update (no call is made)\n")
		require.Contains(t, s.text(tb), "STORE/"+s.document(name)+", call 1, of which the rule t hides text now")
	}
	requirePass(t, s.replay("TestOther", asks(newChat("be quiet"))))
	tb := s.update("new", "TestA", asks(newChat("say hello")))
	require.Contains(t, s.text(tb), "recorded under other rules", "new replaces nothing")
	s.requireFiles(before)

	for name, text := range tests {
		s.record(name, asks(newChat(text)))
	}
	s.record("TestOther", asks(newChat("be quiet")))
	require.Equal(t, made, calls.Load(), "no call is made")
	after, written := s.files(), map[string]bool{}
	for name := range tests {
		written[s.document(name)] = true
	}
	for name := range before {
		if strings.Count(name, "/") < 2 && name != "manifest.json" { // else it is a raw answer
			require.Equal(t, written[name], before[name] != after[name], name)
		}
	}
	requirePass(t, s.replay("TestA", asks(newChat("say EVIL")))) // its document says so now: {{t:1}}
	require.Contains(t, after[s.document("TestA")], `{{t:1}}`)
	s.requireNone("say hello")
	s.requireProven()

	// A note of verify names it, no finding: a message may well be one order number.
	require.Equal(t, []snapshot.Finding{{File: s.document("TestA"), Pointer: "/snapshots/0/request/messages/0", Rule: snapshot.RuleRules,
		Message: "is nothing but a placeholder of t, a rule that takes a whole message: a request that has another text here is served this answer too"}},
		s.notes("TestA"))
	require.Empty(t, s.notes("TestOther"))
}

// notes returns what verify says of a test's document that is no fault.
func (s *scene) notes(test string) (notes []snapshot.Finding) {
	s.t.Helper()
	all, err := store.Open(s.dir)
	require.NoError(s.t, err)
	doc, err := place.Load(all, s.document(test))
	require.NoError(s.t, err)
	for _, n := range lint.Notes(doc) {
		notes = append(notes, snapshot.Finding{File: doc.File(), Pointer: n.Pointer, Rule: n.Rule, Message: n.Message})
	}
	return notes
}

// TestRuleOfATest: patterns are tried on old records, values that only a run knows are not.
func TestRuleOfATest(t *testing.T) {
	s := newScene(t)
	s.record("TestX", asks(newChat("for acme: ORD-12345678")))
	order := traceforgetest.Pattern("order", regexp.MustCompile(`\bORD-[0-9]{8}\b`))
	tb := s.replay("TestX", asks(newChat("for acme: ORD-12345678")), traceforgetest.Scrub(order))
	require.Contains(t, s.text(tb), "call 1, of which the rule order hides text now")
	requirePass(t, s.replay("TestX", asks(newChat("for acme: ORD-12345678")), traceforgetest.Scrub(traceforgetest.Value("tenant", "acme"))))
	s.record("TestX", asks(newChat("for acme: ORD-12345678")), traceforgetest.Scrub(order))
	require.Empty(t, s.notes("TestX"), "it takes no whole message")
}

// TestRuleOfAnswers: a rule that finds what only an answer says is another rule, too.
func TestRuleOfAnswers(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s := newScene(t)
		calls := s.jitter()
		ask := asks(newChat("which order?").with("stream", stream))
		s.record("TestX", ask)
		s.configured(`{"scrub":[{"name":"word","pattern":"\\b[a-z]+ly\\b"},{"name":"order","pattern":"order"}]}`)
		tb := s.replay("TestX", ask)
		require.Contains(t, s.text(tb), "recorded under other rules")
		made := calls.Load()
		s.record("TestX", ask)
		require.Equal(t, made, calls.Load())
		requirePass(t, s.replay("TestX", ask))
		s.requireProven()
	}
}

// TestRuleIsRefused that would change its own output, when config.json is read.
func TestRuleIsRefused(t *testing.T) {
	s := newScene(t)
	s.record("TestX", asks(newChat("say hello")))
	s.configured(`{"scrub":[{"name":"t","pattern":"\\b[a-z]"}]}`)
	tb := tbtest.Run("TestX", func(tb *tbtest.TB) { traceforgetest.New(tb, traceforgetest.Dir(s.dir)) })
	require.Contains(t, s.text(tb), `STORE/config.json: /scrub/0/pattern: value: would change its own output`)
	tb = s.replay("TestX", asks(newChat("say hello")), traceforgetest.Scrub(traceforgetest.Pattern("t", regexp.MustCompile(`^.`))))
	require.True(t, tb.Failed())
}

package traceforgetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const noTemperature = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."

// TestModelsThatTakeNoTemperature: the rule asks for what the model takes, and the record says what it did not take,
// so that verify needs no table of models.
func TestModelsThatTakeNoTemperature(t *testing.T) {
	ask := newChat("Say hello").without("temperature")
	for _, tt := range []struct {
		name, reason string
		ask          chat
		why          string // in the record
		refused      string // in the failure; empty: it is recorded
	}{
		{"o3", "it takes a seed and no temperature", ask.with("model", "o3"), "o3 takes no temperature of 0", ""},
		{"o3_at_1", "nor does it where it is told the only value that it takes", ask.with("model", "o3").with("temperature", 1),
			"o3 takes no temperature of 0", ""},
		{"o3_seed", "what it takes is asked for", ask.with("model", "o3").without("seed"), "",
			"seed is not set: set it to any fixed number; o3 takes no temperature of 0, so that is not asked for"},
		{"gpt-4o", "it takes both", ask.with("model", "gpt-4o"), "",
			"temperature is not set, so the provider's default applies: set it to 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			tb := s.update("1", "TestX", asks(tt.ask))
			if tt.refused != "" {
				require.True(t, tb.Failed(), tt.reason)
				require.Contains(t, tb.Logged(), tt.refused)
				return
			}
			require.False(t, tb.Failed(), tb.Logged())
			require.Equal(t, tt.why, s.records("openai")[0].Source.Nondeterministic)
			tb = s.replay("TestX", asks(tt.ask))
			require.False(t, tb.Failed(), tb.Logged())
			before := s.files()
			s.record("TestX", asks(tt.ask))
			s.requireFiles(before)
		})
	}
}

// TestOwnReasonStands: a reason that the test gives is the one that the record has.
func TestOwnReasonStands(t *testing.T) {
	s := newScene(t)
	s.record("TestX", asks(newChat("Say hello").without("temperature").with("model", "o3")), traceforgetest.Nondeterministic("mine"))
	require.Equal(t, "mine", s.records("openai")[0].Source.Nondeterministic)
}

// TestRefusalTeaches: a provider's refusal of a temperature says what to do, and the calls after it are not asked for
// one.
func TestRefusalTeaches(t *testing.T) {
	ask := newChat("Say hello").with("model", "foo-5")
	refusal := fakeprovider.Error(400, "invalid_request_error", noTemperature)
	const taught = "foo-5 takes no temperature, as openai answered: leave it out, and say why the call is not deterministic, once for the package"

	t.Run("recorded", func(t *testing.T) {
		s := newScene(t)
		s.provider.Reply(refusal)
		tb := s.update("1", "TestX", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			_, err := send(tf.Client(), ask)
			require.ErrorContains(s.t, err, "400")
		})
		require.False(t, tb.Failed(), tb.Logged())
		require.Contains(t, tb.Logged(), taught)
		require.Len(t, s.records("openai"), 1)

		s.provider.Reply(refusal)
		tb = s.update("1", "TestY", asks(ask))
		require.Contains(t, tb.Logged(), "say why the call is not deterministic, as the first such test shows", "the recipe stands once a process")
		require.NotContains(t, tb.Logged(), "once for the package")
	})
	t.Run("failed", func(t *testing.T) {
		s := newScene(t)
		s.provider.Reply(refusal)
		tb := s.update("1", "TestX", asks(ask))
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), taught)
	})
	t.Run("failed often", func(t *testing.T) {
		s := newScene(t)
		s.provider.Reply(refusal)
		tb := s.update("1", "TestX", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for n := range 6 {
				tf.Client().Get(fmt.Sprint("https://example.com/", n))
			}
			asks(ask)(t, tf)
		})
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), taught)
	})
	t.Run("retried", func(t *testing.T) {
		s := newScene(t)
		s.provider.Reply(refusal)
		test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			_, err := send(tf.Client(), ask)
			require.ErrorContains(s.t, err, "400")
			_, err = send(tf.Client(), ask.without("temperature"))
			require.NoError(s.t, err, "as clients do that drop what is refused")
		}
		s.record("TestX", test)
		require.Equal(t, "foo-5 takes no temperature of 0", s.records("openai")[1].Source.Nondeterministic)
		require.Empty(t, s.records("openai")[0].Source.Nondeterministic)
		tb := s.replay("TestX", test)
		require.False(t, tb.Failed(), tb.Logged())
		require.NotContains(t, tb.Logged(), "takes no temperature", "there is nothing to do in replay")

		s.edit(s.documents("openai")[0], func(f string) string { return f + " " }) // its layout matters to verify alone
		s.record("TestX", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			test(t, tf)
			_, err := send(tf.Client(), newChat("More").with("model", "foo-5").without("temperature"))
			require.NoError(s.t, err, "what the record says is known to the next update")
		})
	})
	t.Run("other", func(t *testing.T) {
		s := newScene(t)
		s.provider.Reply(fakeprovider.Error(400, "invalid_request_error", "max_tokens is too large"))
		tb := s.update("1", "TestX", asks(ask))
		require.NotContains(t, tb.Logged(), "takes no")
	})
}

// TestReasonOfTheRepository: where config.json says why, nothing else is asked.
func TestReasonOfTheRepository(t *testing.T) {
	s := newScene(t)
	require.NoError(t, os.MkdirAll(s.dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.json"), []byte(`{"nondeterministic": "no model of ours takes one"}`), 0o666))
	s.record("TestX", asks(newChat("Say hello").without("temperature").without("seed")))
	require.Empty(t, s.records("openai")[0].Source.Nondeterministic, "it stands in one place")
}

// TestNewerDocument: what a newer traceforge wrote is no reason to record again, whatever the mode.
func TestNewerDocument(t *testing.T) {
	for _, mode := range []string{"", "1", "all", "new", "rekey"} {
		t.Run("mode "+mode, func(t *testing.T) {
			s := newScene(t)
			s.record("TestX", asks(newChat("Say hello")))
			s.edit(s.documents("openai")[0], func(f string) string {
				return strings.Replace(f, `"version": "1.1.0"`, `"version": "1.2.0"`, 1)
			})
			before := s.files()
			tb := s.update(mode, "TestX", asks(newChat("Say goodbye")))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "Snapshot version 1.2.0 was written by a newer traceforge, and this one reads 1.1.0: upgrade (go get -u ")
			require.NotContains(t, tb.Logged(), "record again")
			require.NotContains(t, tb.Logged(), "-update")
			require.Len(t, s.provider.Calls(), 1, "no answer is bought that cannot be kept")
			after := s.files()
			for name := range after {
				if strings.HasPrefix(name, ".pending/") {
					delete(after, name)
				}
			}
			require.Equal(t, before, after)
		})
	}
}

// TestRecipeIsToldOnce holds that tests which lack a reason say once how it is given.
func TestRecipeIsToldOnce(t *testing.T) {
	s := newScene(t)
	var logged strings.Builder
	for _, name := range []string{"TestX", "TestY"} {
		tb := s.update("1", name, func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, prompt := range []string{"a", "b"} {
				send(tf.Client(), newChat(prompt).without("temperature"))
			}
		})
		require.True(t, tb.Failed())
		logged.WriteString(tb.Logged())
	}
	require.Equal(t, 4, strings.Count(logged.String(), "or say why it cannot be, "))
	require.Equal(t, 1, strings.Count(logged.String(), "in a helper that its tests call instead of New"))
}

// TestObstacle: a replay says what an update would refuse, before anybody runs one.
func TestObstacle(t *testing.T) {
	const key = "sk-proj-0123456789/abcdef+"
	ask := newChat("Say hello")
	for _, tt := range []struct {
		name, reason string
		ask          chat
		says         string // empty: nothing
		opts         []traceforgetest.Option
	}{
		{"taken", "an update takes it", newChat("Say goodbye"), "", nil},
		{"temperature", "it drifted", ask.with("temperature", 0.7), "an update refuses it: temperature is 0.7: set it to 0, or say why not: " +
			`traceforgetest.New(t, traceforgetest.Nondeterministic("why"))`, nil},
		{"why", "so its advice says", ask.with("temperature", 0.7), "", []traceforgetest.Option{traceforgetest.Nondeterministic("why")}},
		{"missing", "it has no snapshot", ask.without("seed"),
			"an update refuses it: seed is not set: set it to any fixed number, or say why not: ", nil},
		{"secret", "a credential is not recorded", newChat("Say hello to " + key), "an update refuses it: it holds the value of OPENAI_API_KEY: " +
			"keep it out of prompts and answers, or have it replaced in what is kept: ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv("OPENAI_API_KEY", key)
			if s.record("TestX", asks(ask)); tt.name == "missing" {
				require.NoError(t, os.RemoveAll(s.dir))
			}
			tb := s.replay("TestX", asks(tt.ask), tt.opts...)
			require.True(t, tb.Failed(), tt.reason)
			require.NotContains(t, tb.Logged(), key)
			require.Contains(t, tb.Logged(), "-update")
			if tt.says == "" {
				require.NotContains(t, tb.Logged(), "refuses")
			} else {
				require.Contains(t, tb.Logged(), tt.says, tt.reason)
			}
			updated := s.update("1", "TestX", asks(tt.ask), tt.opts...)
			require.Equal(t, tt.says != "", updated.Failed(), updated.Logged())
		})
	}
}

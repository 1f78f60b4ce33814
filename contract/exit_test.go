package contract_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// inTest runs calls in a separate test, which records or replays them.
func (s *scene) inTest(mode string, calls func(*http.Client)) {
	s.Helper()
	s.Setenv("TRACEFORGE_UPDATE", mode)
	defer s.Setenv("TRACEFORGE_UPDATE", "")
	tb := tbtest.Run("TestAgent", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(s.dir), traceforgetest.Upstream(s.provider.Transport()), traceforgetest.Nondeterministic("a test"))
		calls(tf.Client())
	})
	require.False(s, tb.Failed(), tb.Logged())
}

var aRef = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// TestEveryRefLeadsSomewhere makes calls with all possible params, one of which the provider refuses. It follows every
// ref from a store opened afterwards. The adapter's inputs and outputs must be in .ai-snapshots, each once.
func TestEveryRefLeadsSomewhere(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		params := s.asks(a)
		params.CorrelationID = contract.Some("order-7")
		params.Runtime.ToolRefs = []canon.Hash{s.put(calc)}
		params.Runtime.MaxTokens = contract.Some[uint64](100)
		params.Runtime.ResponseFormatRef = contract.Some(s.put(contract.ResponseFormat{Type: contract.FormatJSONSchema, JSONSchema: json.RawMessage(`{"type":"object"}`)}))
		params.Runtime.ProviderOptionsRef = contract.Some(s.put(map[string]any{a.family: map[string]any{"top_p": 0.5}}))
		refused := s.params(a, s.says(modelio.RoleUser, "No"))
		refused.Runtime.MaxTokens = contract.Some[uint64](7)
		s.provider.Reply(
			fakeprovider.Reply{Thinking: "Hm.", Signature: "c2ln", Text: "See", ToolCalls: []fakeprovider.ToolCall{{Name: "calc", Arguments: `{"x":1}`}}},
			fakeprovider.Error(400, "invalid_request_error", "no"),
		)
		var all []byte
		var hashes []canon.Hash
		s.inTest("1", func(client *http.Client) {
			s.adapter.Client = client
			ctx := snapshot.WithProvenance(s.Context(), snapshot.Provenance{RunID: "nightly"})
			for _, p := range []contract.GenerateParams{params, refused} {
				receipt, err := s.adapter.Generate(ctx, p)
				require.Equal(s, p.Runtime.ToolRefs == nil, err != nil, "the second one is refused")
				text, err := json.Marshal([]any{p, receipt})
				require.NoError(s, err)
				hash, err := p.Hash()
				require.NoError(s, err)
				answered, err := canon.SumJSON(receipt)
				require.NoError(s, err)
				all, hashes = append(all, text...), append(hashes, hash, answered)
			}
		})

		opened, err := contract.OpenStore(s.dir)
		require.NoError(s, err)
		refs := hashes // of the params and the receipts, and all that they refer to
		for _, ref := range aRef.FindAllString(string(all), -1) {
			refs = append(refs, canon.Hash(ref))
		}
		for i := 0; i < len(refs); i++ { // envelopes and lists of calls have more refs
			blob, err := opened.Blob(refs[i])
			require.NoError(s, err)
			if slices.Index(refs, refs[i]) == i {
				for _, ref := range aRef.FindAllString(string(blob), -1) {
					refs = append(refs, canon.Hash(ref))
				}
			}
		}
		slices.Sort(refs)
		refs = slices.Compact(refs)
		lead := 0
		for _, ref := range refs {
			if blob, err := opened.Blob(ref); err == nil && canon.Sum(blob) == ref {
				lead++
			}
		}
		require.Equal(s, 17, lead, "all of them lead somewhere")
		require.Len(s, refs, lead)

		under, err := store.Open(s.dir)
		require.NoError(s, err)
		result, err := audit.Verify(under)
		require.NoError(s, err)
		require.Empty(s, result.Findings, "nothing is there besides the documents")
		files, err := filepath.Glob(filepath.Join(s.dir, "*", "*", "*"))
		require.NoError(s, err)
		require.Len(s, files, 2, "the raw answers, and nothing twice")
	})
}

// TestExitCriterion6 tests replay parity. A replay in another run, with other ids, must give the same decisions and no
// drift. A second recording must not differ by its run's ids.
func TestExitCriterion6(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		config := contract.RunConfig{Provider: a.provider, Model: a.model}
		hash, err := config.Hash()
		require.NoError(s, err)
		var receipt contract.GenerateReceipt
		asked := map[canon.Hash]bool{} // the hashes of all params
		run := func(id string) func(*http.Client) {
			return func(client *http.Client) {
				s.adapter.Client = client
				params := s.asks(a)
				params.CorrelationID = contract.Some("correlation of " + id)
				ctx := snapshot.WithProvenance(s.Context(), snapshot.Provenance{RunID: id, StepID: "1", ConfigHash: hash})
				hash, err := params.Hash()
				require.NoError(s, err)
				asked[hash] = true
				receipt, err = s.adapter.Generate(ctx, params)
				require.NoError(s, err)
			}
		}
		s.inTest("1", run("run-1"))
		recorded := receipt
		before := filesOf(s.T, s.dir)

		calls := len(s.provider.Calls())
		s.inTest("", run("run-2"))
		require.Equal(s, recorded, receipt, "the same receipt, to the last ref")
		require.Len(s, s.provider.Calls(), calls, "without a call")

		s.inTest("all", run("run-3"))
		require.Greater(s, len(s.provider.Calls()), calls)
		require.Equal(s, before, filesOf(s.T, s.dir), "another run is no change")
		require.Len(s, asked, 1, "another correlation asks the same")

		journal := s.journal()
		require.Len(s, journal, 1)
		require.Equal(s, "run-1", *journal[0].RunID)
		require.Equal(s, "1", *journal[0].StepID)
		require.Equal(s, hash, *journal[0].ConfigHash)
		require.Equal(s, "correlation of run-1", *journal[0].Params.CorrelationID)
		require.Equal(s, a.provider, journal[0].Params.Provider, "as the program's catalog has it")
		require.Equal(s, recorded, journal[0].Receipt)

		// Without provenance, a program's records have none.
		require.NoError(s, os.RemoveAll(s.dir))
		s.inTest("1", func(client *http.Client) {
			s.adapter.Client = client
			params := s.asks(a)
			params.CorrelationID = contract.Some("made up")
			s.generate(params)
		})
		require.Nil(s, s.journal()[0].RunID)
		require.Nil(s, s.journal()[0].Params.CorrelationID)
	})
}

// TestReasonBeforeAnError checks that the journal has the receipt of an answer that said why it ended before it failed.
func TestReasonBeforeAnError(t *testing.T) {
	s := newScene(t)
	s.adapter.Stream = true
	s.Setenv("TRACEFORGE_UPDATE", "1")
	upstream := roundTripper(func(*http.Request) (*http.Response, error) {
		return response(200, http.Header{"Content-Type": {"text/event-stream"}},
			`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`+"\n\n"+
				`data: {"error":{"code":"server_error","message":"the host is gone"}}`+"\n\n"), nil
	})
	var receipt contract.GenerateReceipt
	tb := tbtest.Run("TestAgent", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(s.dir), traceforgetest.Upstream(upstream), traceforgetest.Nondeterministic("a test"))
		s.adapter.Client = tf.Client()
		var err error
		receipt, err = s.adapter.Generate(s.Context(), s.asks(apis[0]))
		require.ErrorContains(s, err, "the host is gone")
	})
	require.False(s, tb.Failed(), tb.Logged())
	require.Equal(s, contract.FinishReason{Reason: contract.FinishError, Raw: contract.Some("error")}, receipt.FinishReason)
	require.Equal(s, receipt, s.journal()[0].Receipt)
}

// journal returns the journal of the scene's only document.
func (s *scene) journal() []*contract.Recorded {
	s.Helper()
	under, err := store.Open(s.dir)
	require.NoError(s, err)
	files, err := under.List()
	require.NoError(s, err)
	require.Len(s, files, 1)
	kept, err := contract.OpenStore(s.dir)
	require.NoError(s, err)
	journal, err := kept.Journal(filepath.Dir(files[0]), snapshot.DocumentName(documentOf(s.T, s.dir)))
	require.NoError(s, err)
	return journal
}

// documentOf returns the package and the test of the first record in a store.
func documentOf(t *testing.T, dir string) (pkg, test string) {
	t.Helper()
	first := records(t, dir)[0].Snapshot.Source
	return first.Package, first.Test
}

// TestExitCriterion7 starts runs with an unknown provider or model. The start must fail with the same error every time,
// without a run, a call, or stored data.
func TestExitCriterion7(t *testing.T) {
	s := newScene(t)
	for _, test := range []struct {
		config contract.RunConfig
		want   string
	}{
		{contract.RunConfig{Provider: "nobody", Model: "gpt-4o-mini"}, `run config: /provider: unknown: "nobody" is not known; known are anthropic, openai, openai-responses`},
		{contract.RunConfig{Provider: "openai", Model: "gpt-0"}, `run config: /model: unknown: "gpt-0" is not known; known are gpt-4o-mini`},
		{contract.RunConfig{}, "run config: /model: missing: is blank\nrun config: /provider: missing: is blank"},
	} {
		for range 20 {
			run, err := contract.Start(s.adapter.Catalog, contract.RunConfig{Provider: "openai", Model: "gpt-4o-mini"}, &test.config)
			require.EqualError(t, err, test.want)
			require.Nil(t, run)
		}
		params := s.asks(apis[0])
		params.Provider, params.Model = test.config.Provider, test.config.Model
		before := s.stored()
		receipt, err := s.adapter.Generate(context.Background(), params)
		require.Error(t, err)
		require.Zero(t, receipt)
		require.Equal(t, before, s.stored())
	}
	require.Empty(t, s.provider.Calls())
	require.NoDirExists(t, s.dir)
}

package contract_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A step is one call of an agent with its results.
type step struct {
	params   contract.GenerateParams
	hash     canon.Hash
	receipt  contract.GenerateReceipt
	envelope contract.OutputEnvelope
	output   output
}

// agent is a loop around the adapter. It calls the model until the answer has no tool call.
func agent(s *scene, a api, client *http.Client) (steps []step) {
	s.adapter.Client = client
	messages := []canon.Hash{s.says(modelio.RoleSystem, "Use the tool"), s.says(modelio.RoleUser, "What is the weather in Paris?")}
	tools := s.put(modelio.ToolDefinition{Name: "weather", InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)})
	options := s.put(map[string]any{"openai": map[string]any{"seed": 7}})
	run, err := contract.Start(s.adapter.Catalog, contract.RunConfig{Provider: a.provider, Model: a.model, MaxTokens: contract.Some[uint64](100)}, nil)
	require.NoError(s, err)
	for len(steps) < 3 {
		context := contract.StepContext{
			CorrelationID: contract.Some("run-1"), MessageRefs: messages, Temperature: contract.Some[contract.Decimal]("0"),
			ToolRefs: []canon.Hash{tools}, ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceAuto}, APIKey: contract.Secret("key", 1),
		}
		if a.name == contract.OpenAIChat {
			context.ProviderOptionsRef = &options // recording requires a seed if the API has one
		}
		params, err := contract.Materialize(run.Config(), context)
		require.NoError(s, err)
		hash, err := params.Hash()
		require.NoError(s, err)
		st := step{params: params, hash: hash, receipt: s.generate(params)}
		require.NoError(s, contract.ReadJSON(s.store, st.receipt.OutputRef, &st.envelope))
		st.output = s.output(st.receipt)
		steps = append(steps, st)
		if len(st.output.calls) == 0 {
			return steps
		}
		reply, err := s.adapter.Reply(params, st.receipt)
		require.NoError(s, err)
		messages = append(messages, reply)
		for _, c := range st.output.calls {
			messages = append(messages, s.message(results(modelio.ToolResponse{Name: c.name, Ref: c.id, Output: json.RawMessage(`"22 degrees"`)})))
		}
	}
	return steps
}

// rehearse runs the agent in a separate test that records or replays.
func rehearse(s *scene, a api, dir, mode string) (steps []step) {
	s.Helper()
	return rehearseWith(s, a, dir, mode, s.provider.Transport())
}

func rehearseWith(s *scene, a api, dir, mode string, upstream http.RoundTripper) (steps []step) {
	s.Helper()
	s.Setenv("TRACEFORGE_UPDATE", mode)
	defer s.Setenv("TRACEFORGE_UPDATE", "")
	tb := tbtest.Run("TestAgent", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
		steps = agent(s, a, tf.Client())
	})
	require.False(s, tb.Failed(), tb.Logged())
	return steps
}

// TestReplayParity is exit criterion 6: a replay has the recording's receipts, and a second recording of the same
// behaviour gives the agent the same decisions.
func TestReplayParity(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "streamed"}[stream], func(t *testing.T) {
			eachAPI(t, func(s *scene, a api) {
				s.adapter.Stream = stream
				s.provider.Handle(fakeprovider.Echo(
					fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Paris"}`},
				))
				dir := filepath.Join(s.TempDir(), ".ai-snapshots")
				recorded := rehearse(s, a, dir, "1")
				require.Len(s, recorded, 2)
				require.Equal(s, "The tools say: 22 degrees", recorded[1].output.text)

				calls := len(s.provider.Calls())
				require.Equal(s, recorded, rehearse(s, a, dir, ""), "replay: the same receipts, to the last ref")
				require.Len(s, s.provider.Calls(), calls, "without a call")

				again := rehearse(s, a, filepath.Join(s.TempDir(), ".ai-snapshots"), "1")
				require.NotEqual(s, recorded[0].receipt.ProviderResponseID, again[0].receipt.ProviderResponseID, "the provider's ids are random")
				require.Equal(s, decisions(recorded), decisions(again))
			})
		})
	}
}

// TestEncryptedReasoningReplays covers encrypted reasoning, which OpenAI wants back. The same reasoning has another
// text each time.
func TestEncryptedReasoningReplays(t *testing.T) {
	const first = `{"id":"resp_%[1]d","object":"response","model":"gpt-5.2","status":"completed","output":[` +
		`{"type":"reasoning","id":"rs_%[1]d","summary":[],"encrypted_content":"%[2]s"},` +
		`{"type":"function_call","id":"fc_%[1]d","call_id":"call_%[1]dx","name":"weather","arguments":"{}","status":"completed"}]}`
	const second = `{"id":"resp_%[1]d","object":"response","model":"gpt-5.2","status":"completed","output":[` +
		`{"type":"message","id":"msg_%[1]d","role":"assistant","status":"completed","content":[{"type":"output_text","text":"fine","annotations":[]}]}]}`
	for _, stream := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "streamed"}[stream], func(t *testing.T) {
			s := newScene(t)
			s.adapter.Stream = stream
			var sent []string // bodies of the requests
			upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				sent = append(sent, string(body))
				secret := fmt.Sprintf("gAAAA-%040d", len(sent))
				answer := fmt.Sprintf(first, len(sent), secret)
				if len(sent)%2 == 0 {
					answer = fmt.Sprintf(second, len(sent))
				}
				if stream {
					answer = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + answer + "}\n\n"
					return response(200, http.Header{"Content-Type": {"text/event-stream"}}, answer), err
				}
				return response(200, http.Header{"Content-Type": {"application/json"}}, answer), err
			})
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			recorded := rehearseWith(s, apis[1], dir, "1", upstream)
			require.Len(t, recorded, 2)
			require.Equal(t, "fine", recorded[1].output.text)
			require.Contains(t, sent[1], `{"encrypted_content":"gAAAA-0000000000000000000000000000000000000001","summary":[],"type":"reasoning"},{"arguments":"{}"`)
			require.Equal(t, recorded, rehearseWith(s, apis[1], dir, "", upstream), "replay: the same receipts, to the last ref")
			require.Len(t, sent, 2, "without a call")

			before := filesOf(t, dir)
			rehearseWith(s, apis[1], dir, "all", upstream)
			require.Len(t, sent, 4)
			require.Contains(t, sent[3], "gAAAA-0000000000000000000000000000000000000003", "the provider gets back what it gave last")
			require.Equal(t, before, filesOf(t, dir), "another encryption is no drift")
		})
	}
}

// filesOf returns the snapshots of a store, by path.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		files[path] = string(data)
	}
	return files
}

// A decision is the part of a step on which a caller may branch. R3 calls the other parts ephemeral.
type decision struct {
	hash   canon.Hash // of the params after the step before
	finish contract.FinishReason
	output output
}

func decisions(steps []step) (all []decision) {
	for _, st := range steps {
		all = append(all, decision{st.hash, st.receipt.FinishReason, st.output})
	}
	return all
}

// TestFromSnapshot compares the values from a recorded snapshot with the adapter's inputs and outputs during the
// recording.
func TestFromSnapshot(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "streamed"}[stream], func(t *testing.T) {
			eachAPI(t, func(s *scene, a api) {
				s.adapter.Stream = stream
				s.provider.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Paris"}`}))
				dir := filepath.Join(s.TempDir(), ".ai-snapshots")
				steps := rehearse(s, a, dir, "1")

				recorded := records(s.T, dir)
				require.Len(s, recorded, len(steps))
				for i, record := range recorded {
					got, err := contract.FromSnapshot(record)
					require.NoError(s, err)
					requireAsRecorded(s, a, steps[i], got)
				}
			})
		})
	}
}

// TestJournalHash checks that the params of the journal make the recorded request again, and that they have the hash of
// the program's params, except in the cases that doc.go names.
func TestJournalHash(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*scene, *contract.GenerateParams)
		found  func(a api) bool
	}{
		{"plain", func(*scene, *contract.GenerateParams) {}, func(api) bool { return true }},
		{"own_options", func(s *scene, p *contract.GenerateParams) {
			own := map[string]any{"openai": map[string]any{"user": "u"}, "anthropic": map[string]any{"top_k": 3}}
			family := map[bool]string{true: "anthropic", false: "openai"}[p.Provider == "anthropic"]
			p.Runtime.ProviderOptionsRef = contract.Some(s.put(map[string]any{family: own[family]}))
		}, func(api) bool { return true }},
		{"options_of_several", func(s *scene, p *contract.GenerateParams) {
			p.Runtime.ProviderOptionsRef = contract.Some(s.put(json.RawMessage(`{"openai":{"user":"u"},"anthropic":{"top_k":3}}`)))
		}, func(api) bool { return false }},
		{"controls", func(s *scene, p *contract.GenerateParams) {
			p.Runtime.Temperature, p.Runtime.ReasoningEffort = contract.Some[contract.Decimal]("0.5"), contract.Some("low")
			p.Runtime.ToolRefs, p.Runtime.ToolChoice = []canon.Hash{s.put(calc)}, &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "calc"}
			p.Runtime.Metadata = map[string]string{"user_id": "u-1"}
			p.Runtime.ProviderOptionsRef = contract.Some(s.put(json.RawMessage(`{"openai":{"store":true}}`)))
			p.Runtime.ResponseFormatRef = contract.Some(s.put(contract.ResponseFormat{Type: contract.FormatJSONSchema, JSONSchema: json.RawMessage(`{"type":"object"}`)}))
			if p.Provider == "anthropic" {
				p.Runtime.ProviderOptionsRef = nil
			}
		}, func(api) bool { return true }},
		{"no_max_tokens", func(_ *scene, p *contract.GenerateParams) { p.Runtime.MaxTokens = nil }, func(a api) bool { return a.name != contract.AnthropicMessages }},
		{"decimal", func(_ *scene, p *contract.GenerateParams) {
			p.Runtime.Temperature = contract.Some[contract.Decimal]("0.20")
		}, func(api) bool { return false }},
		{"format_text", func(s *scene, p *contract.GenerateParams) {
			p.Runtime.ResponseFormatRef = contract.Some(s.put(contract.ResponseFormat{Type: contract.FormatText}))
		}, func(a api) bool { return a.name != contract.AnthropicMessages }},
		{"no_tools", func(_ *scene, p *contract.GenerateParams) { p.Runtime.ToolRefs = []canon.Hash{} }, func(api) bool { return false }},
		{"option_of_a_param", func(s *scene, p *contract.GenerateParams) {
			family := map[bool]string{true: "anthropic", false: "openai"}[p.Provider == "anthropic"]
			p.Runtime.ProviderOptionsRef = contract.Some(s.put(map[string]any{family: map[string]any{"temperature": 0}}))
		}, func(api) bool { return false }},
		{"result_that_is_a_text", func(s *scene, p *contract.GenerateParams) { p.MessageRefs = s.asksWith(`"3"`) }, func(api) bool { return true }},
		{"result_that_is_an_object", func(s *scene, p *contract.GenerateParams) { p.MessageRefs = s.asksWith(`{"sum":3}`) }, func(api) bool { return false }},
		{"results_of_two_calls", func(s *scene, p *contract.GenerateParams) { p.MessageRefs = s.asksWith(`"3"`, `"4"`) }, func(a api) bool {
			return a.name == contract.OpenAIChat
		}},
		{"strict", func(s *scene, p *contract.GenerateParams) {
			p.Runtime.ResponseFormatRef = contract.Some(s.put(contract.ResponseFormat{
				Type: contract.FormatJSONSchema, JSONSchema: json.RawMessage(`{"type":"object"}`), Strict: contract.Some(true)}))
		}, func(a api) bool { return a.name != contract.AnthropicMessages }},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachAPI(t, func(s *scene, a api) {
				s.provider.Handle(fakeprovider.Echo())
				dir := filepath.Join(s.TempDir(), ".ai-snapshots")
				s.Setenv("TRACEFORGE_UPDATE", "1")
				params := s.asks(a)
				params.Runtime.MaxTokens = contract.Some[uint64](9)
				test.change(s, &params)
				tb := tbtest.Run("TestJournal", func(tb *tbtest.TB) {
					tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(s.provider.Transport()), traceforgetest.Nondeterministic("a test"))
					s.adapter.Client = tf.Client()
					s.generate(params)
				})
				require.False(s, tb.Failed(), tb.Logged())
				want, err := params.Hash()
				require.NoError(s, err)
				got, err := contract.FromSnapshot(records(s.T, dir)[0])
				require.NoError(s, err)
				require.Equal(s, test.found(a), want == got.ParamsRef)

				again := got.Params
				again.APIKey = params.APIKey
				for _, ref := range got.Refs() {
					blob, err := got.Blob(ref)
					require.NoError(s, err)
					_, err = s.store.PutBlob(blob)
					require.NoError(s, err)
				}
				first := s.sent()
				s.adapter.Client = &http.Client{Transport: s.provider.Transport()}
				s.generate(again)
				if test.name == "no_tools" {
					delete(first, "tools") // an empty list is no tool
				}
				require.Equal(s, first, s.sent())
			})
		})
	}
}

// asksWith stores a conversation in which tools were called at once and gave these results, each in a message of its own.
func (s *scene) asksWith(outputs ...string) []canon.Hash {
	calls := modelio.Message{Role: modelio.RoleModel}
	refs := []canon.Hash{s.says(modelio.RoleUser, "Add"), ""}
	for i, output := range outputs {
		ref := "call_" + strconv.Itoa(i+1)
		calls.Content = append(calls.Content, modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "calc", Ref: ref, Input: json.RawMessage(`{}`)}})
		refs = append(refs, s.message(results(modelio.ToolResponse{Name: "calc", Ref: ref, Output: json.RawMessage(output)})))
	}
	refs[1] = s.message(calls)
	return refs
}

// TestFromSnapshotWithMedia covers content that a snapshot keeps as separate blobs.
func TestFromSnapshotWithMedia(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		image := "data:image/png;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("pixel"), 300))
		message := s.message(modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{
			modelio.TextPart("see blob:sha256:" + strings.Repeat("0", 64) + ";image/png;1"), modelio.MediaPart("image/png", image),
		}})
		dir := filepath.Join(s.TempDir(), ".ai-snapshots")
		s.Setenv("TRACEFORGE_UPDATE", "1")
		tb := tbtest.Run("TestMedia", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(s.provider.Transport()), traceforgetest.Nondeterministic("a test"))
			s.adapter.Client = tf.Client()
			s.generate(s.params(a, message))
		})
		require.False(s, tb.Failed(), tb.Logged())

		recorded := records(s.T, dir)
		require.Len(s, recorded, 1)
		got, err := contract.FromSnapshot(recorded[0])
		require.NoError(s, err)
		require.Equal(s, []canon.Hash{message}, got.Params.MessageRefs, "as it was sent")

		recorded[0].Media = func(canon.Hash) ([]byte, error) { return nil, fs.ErrNotExist }
		_, err = contract.FromSnapshot(recorded[0])
		require.ErrorIs(s, err, contract.ErrBlob)
		require.ErrorContains(s, err, "params: /request/messages/0: media: ")
		recorded[0].Media = func(canon.Hash) ([]byte, error) { return []byte("another"), nil }
		_, err = contract.FromSnapshot(recorded[0])
		require.ErrorIs(s, err, contract.ErrBlob)
	})
}

// requireAsRecorded compares params and results without the caller and the key, which a recording does not contain.
func requireAsRecorded(s *scene, a api, want step, got *contract.Recorded) {
	s.Helper()
	params := want.params
	params.CorrelationID, params.APIKey = nil, nil
	require.Equal(s, params, got.Params)
	require.Equal(s, want.hash, got.ParamsRef)
	require.Equal(s, want.receipt, got.Receipt)
	require.Equal(s, want.envelope, got.Envelope)
	require.Equal(s, want.output, outputOf(s.T, got, got.Receipt.OutputRef))
	for _, ref := range slices.Concat(got.Params.MessageRefs, got.Params.Runtime.ToolRefs) {
		mine, err := s.store.Blob(ref)
		require.NoError(s, err)
		its, err := got.Blob(ref)
		require.NoError(s, err)
		require.Equal(s, string(mine), string(its))
	}
}

package contract_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestProviderErrors checks that a provider's error is stored and is in the receipt.
func TestProviderErrors(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Reply(fakeprovider.Error(429, "rate_limit_error", "slow down"))
		receipt, err := s.adapter.Generate(s.Context(), s.asks(a))
		var reported *contract.ProviderError
		require.ErrorAs(s, err, &reported)
		require.Equal(s, 429, reported.Status)
		require.Equal(s, "slow down", reported.Message)
		require.EqualError(s, err, a.provider+" answered with status 429: rate_limit_error: slow down")

		require.Equal(s, contract.FinishReason{Reason: contract.FinishError}, receipt.FinishReason)
		require.Equal(s, output{}, s.output(receipt))
		require.Equal(s, []contract.Warning{{Code: contract.WarnError, Message: "slow down"}}, s.warnings(receipt))
		require.Equal(s, reported.RawOutputRef, *receipt.RawOutputRef)
		raw, err := s.store.Blob(reported.RawOutputRef)
		require.NoError(s, err)
		require.Contains(s, string(raw), "slow down")
		_, err = s.adapter.Reply(s.asks(a), receipt)
		require.ErrorIs(s, err, contract.ErrMissing, "there is no message to go on from")
		require.Len(s, s.provider.Calls(), 1, "nothing is tried again")

		s.provider.Reply(fakeprovider.Error(503, "overloaded_error", "too much"))
		_, err = s.adapter.Generate(s.Context(), s.asks(a))
		require.ErrorAs(s, err, &reported)
		require.Len(s, s.provider.Calls(), 2, "nothing is tried again")
	})
}

func TestErrorInMidStream(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.adapter.Stream = true
		s.provider.Reply(fakeprovider.Reply{
			Text: "one two three four", Stream: fakeprovider.Stream{FailAfter: 6},
			Failure: &fakeprovider.Failure{Type: "overloaded_error", Message: "too much to do"},
		})
		receipt, err := s.adapter.Generate(s.Context(), s.asks(a))
		var reported *contract.ProviderError
		require.ErrorAs(s, err, &reported)
		require.Equal(s, 200, reported.Status)
		require.Contains(s, err.Error(), "too much to do")
		require.Equal(s, contract.FinishError, receipt.FinishReason.Reason)
		require.Contains(s, s.output(receipt).text, "one", "what came before is kept")
	})
}

// TestIncompleteAnswers checks that incomplete answers are not stored.
func TestIncompleteAnswers(t *testing.T) {
	for name, reply := range map[string]fakeprovider.Reply{
		"cut_cleanly": {Text: "one two three four five", Cut: fakeprovider.CutEnd, CutAfter: 4},
		"dropped":     {Text: "one two three four five", Cut: fakeprovider.CutDrop, CutAfter: 4},
		"hung_up":     {Text: "one", Cut: fakeprovider.CutHangup},
	} {
		t.Run(name, func(t *testing.T) {
			eachAPI(t, func(s *scene, a api) {
				s.adapter.Stream = true
				params := s.asks(a)
				before := s.stored()
				s.provider.Reply(reply)
				receipt, err := s.adapter.Generate(s.Context(), params)
				require.Error(s, err)
				require.Zero(s, receipt)
				if name == "cut_cleanly" {
					require.ErrorIs(s, err, contract.ErrIncomplete)
					require.EqualError(s, err, "incomplete answer of "+a.provider)
				}
				require.Equal(s, before, s.stored())
			})
		})
	}
}

func TestContextEndsTheCall(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		ctx, cancel := context.WithCancel(s.Context())
		s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
			cancel()
			return fakeprovider.Reply{Text: "too late", Delay: time.Hour}
		})
		_, err := s.adapter.Generate(ctx, s.asks(a))
		require.ErrorIs(s, err, context.Canceled)
	})
}

// TestAnswerWithTheKey has a provider repeat the key. None of it may be stored.
func TestAnswerWithTheKey(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		params := s.asks(a)
		before := s.stored()
		for _, reply := range []fakeprovider.Reply{
			fakeprovider.Text("your key is " + apiKey),
			fakeprovider.Error(401, "authentication_error", "bad key "+apiKey),
			fakeprovider.Fragments("it is "+apiKey[:9], apiKey[9:]),
			fakeprovider.Bytes("application/json", `{"error":{"message":"\u0073`+apiKey[1:]+`"}}`),
		} {
			s.adapter.Stream = reply.Stream.Fragments != nil
			s.provider.Reply(reply)
			receipt, err := s.adapter.Generate(s.Context(), params)
			require.ErrorIs(s, err, contract.ErrKeyEchoed)
			require.EqualError(s, err, a.provider+": the answer holds the API key: nothing was stored")
			require.Zero(s, receipt)
			require.Equal(s, before, s.stored())
		}
	})
}

func TestKeyErrors(t *testing.T) {
	s := newScene(t)
	params := s.asks(apis[0])
	generate := func() error {
		_, err := s.adapter.Generate(t.Context(), params)
		return err
	}
	params.APIKey = contract.Secret("other", 2)
	require.EqualError(t, generate(), "/api_key: secret other@2: no such secret")
	s.adapter.Secret = func(context.Context, contract.SecretRef) (string, error) { return "", nil }
	require.EqualError(t, generate(), "/api_key: secret other@2 is empty or more than one line")
	s.adapter.Secret = func(context.Context, contract.SecretRef) (string, error) { return "sk-1\r\nX: y", nil }
	require.EqualError(t, generate(), "/api_key: secret other@2 is empty or more than one line")
	s.adapter.Secret = nil
	require.EqualError(t, generate(), "/api_key: the adapter has no Secret to look up secret other@2")
	params.APIKey = &contract.TextOrSecretRef{Literal: contract.Some(apiKey)}
	require.ErrorIs(t, generate(), contract.ErrLiteralKey)
	require.NotContains(t, generate().Error(), apiKey)
	require.Empty(t, s.provider.Calls())
}

func TestOptionsCannotContradictParams(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		params := s.asks(a)
		params.Runtime.Temperature = contract.Some[contract.Decimal]("0")
		params.Runtime.ReasoningEffort = contract.Some("low")
		params.Runtime.ProviderOptionsRef = contract.Some(s.put(map[string]any{a.family: map[string]any{
			"model": "other", "temperature": map[string]any{"of": 1}, "stream": true, "top_p": 0.5,
			"reasoning_effort": "high", "reasoning": map[string]any{"effort": "high"}, "output_config": map[string]any{"effort": "high"},
		}}))
		effort := map[string]string{contract.OpenAIChat: "reasoning_effort", contract.OpenAIResponses: "reasoning/effort", contract.AnthropicMessages: "output_config/effort"}[a.name]
		_, err := s.adapter.Generate(s.Context(), params)
		require.ErrorIs(s, err, contract.ErrConflict)
		var all *contract.Error
		require.ErrorAs(s, err, &all)
		var found []string
		for _, v := range all.Violations {
			require.Equal(s, "conflict", v.Rule)
			found = append(found, v.Pointer)
		}
		require.ElementsMatch(s, []string{"/" + a.family + "/model", "/" + a.family + "/temperature", "/" + a.family + "/stream", "/" + a.family + "/" + effort}, found)
		require.Empty(s, s.provider.Calls())
	})
}

func TestUnsupportedControls(t *testing.T) {
	s := newScene(t)
	params := s.asks(apis[1])
	params.Runtime.StopSequences = []string{"END"}
	_, err := s.adapter.Generate(t.Context(), params)
	require.ErrorIs(t, err, contract.ErrUnsupported)
	require.EqualError(t, err, "generate params for openai.responses: /runtime/stop_sequences: unsupported: the API has no such parameter")

	params = s.asks(apis[0])
	params.MessageRefs[0] = s.message(modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{modelio.TextPart("no result")}})
	_, err = s.adapter.Generate(t.Context(), params)
	require.ErrorIs(t, err, contract.ErrUnsupported)
}

// TestMetadataThatIsNotTaken covers metadata that no request of the API can hold. From a record of such a call, the
// params could not be restored.
func TestMetadataThatIsNotTaken(t *testing.T) {
	const rule = ": unsupported: chat completions take metadata together with the provider option store only"
	want := map[string]string{
		contract.OpenAIChat:        "generate params for openai.chat: /runtime/metadata/a" + rule + "\ngenerate params for openai.chat: /runtime/metadata/user_id" + rule,
		contract.AnthropicMessages: "generate params for anthropic.messages: /runtime/metadata/a: unsupported: messages take the metadata user_id only",
	}
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		params.Runtime.Metadata = map[string]string{"a": "1", "user_id": "u"}
		_, err := s.adapter.Generate(s.Context(), params)
		if a.name == contract.OpenAIResponses {
			require.NoError(s, err)
			return
		}
		require.ErrorIs(s, err, contract.ErrUnsupported)
		require.EqualError(s, err, want[a.name])
		require.Empty(s, s.provider.Calls())
	})
}

func TestUsageThatIsNotReported(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Bytes("application/json", `{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`))
	receipt := s.generate(s.asks(apis[0]))
	require.Zero(t, receipt.TokenUsage)
	require.Nil(t, receipt.UsageDetails)
	require.Nil(t, receipt.ProviderResponseID)
	require.Equal(t, contract.FinishReason{Reason: contract.FinishOther}, receipt.FinishReason)
	require.Equal(t, []contract.Warning{
		{Code: contract.WarnCandidates, Message: "the envelope is of the first of 2 candidates"},
		{Code: contract.WarnUsage, Message: "the provider did not report the tokens of the prompt and the completion"},
	}, s.warnings(receipt))
}

func TestFinishReasons(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		length := map[string]string{contract.OpenAIChat: "length", contract.OpenAIResponses: "max_output_tokens", contract.AnthropicMessages: "max_tokens"}[a.name]
		for want, reply := range map[string]fakeprovider.Reply{
			contract.FinishStop:      {Text: "done"},
			contract.FinishLength:    {Text: "cut", ToolCalls: []fakeprovider.ToolCall{{Name: "f", Arguments: "{}"}}, Finish: length},
			contract.FinishToolCalls: fakeprovider.CallTools(fakeprovider.ToolCall{Name: "f", Arguments: "{}"}),
			contract.FinishBlocked:   {Refusal: "I will not"},
		} {
			s.provider.Reply(reply)
			finish := s.generate(s.asks(a)).FinishReason
			require.Equal(s, want, finish.Reason)
			if reply.Finish != "" {
				require.Equal(s, &reply.Finish, finish.Raw, "the provider's own word")
			}
		}
	})
}

// A roundTripper is a function that answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answers makes the adapter's client give this answer to every request.
func (s *scene) answers(answer func(*http.Request) *http.Response) {
	s.adapter.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return answer(r), nil
	})}
}

func response(status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// TestRedirectsAreNotFollowed checks that a redirect does not send the key to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		calls := 0
		s.answers(func(*http.Request) *http.Response {
			calls++
			return response(307, http.Header{"Location": {"https://elsewhere.example/"}}, "moved")
		})
		_, err := s.adapter.Generate(s.Context(), s.asks(a))
		var reported *contract.ProviderError
		require.ErrorAs(s, err, &reported)
		require.Equal(s, 307, reported.Status)
		require.Equal(s, 1, calls)
	})
}

func TestAnswersThatCannotBeRead(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		for body, want := range map[string]string{
			"<html>": "decode the answer of " + a.provider + ": ",
			"{}":     "decode the answer of " + a.provider + ": ",
		} {
			s.answers(func(*http.Request) *http.Response { return response(200, http.Header{}, body) })
			_, err := s.adapter.Generate(s.Context(), s.asks(a))
			require.ErrorContains(s, err, want)
		}
		s.answers(func(*http.Request) *http.Response {
			return response(200, http.Header{"Content-Encoding": {"br"}}, "…")
		})
		_, err := s.adapter.Generate(s.Context(), s.asks(a))
		require.EqualError(s, err, "call "+a.provider+": the answer is encoded as br, which was not asked for")

		s.answers(func(*http.Request) *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(bytes.NewReader([]byte("{")), broken{}))}
		})
		_, err = s.adapter.Generate(s.Context(), s.asks(a))
		require.EqualError(s, err, "call "+a.provider+": read the answer: the line is dead")
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the line is dead") }

func TestStoreThatCannotBeWritten(t *testing.T) {
	s := newScene(t)
	params := s.asks(apis[0])
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		s.store.full = fs.ErrClosed
		return fakeprovider.Text("hi")
	})
	receipt, err := s.adapter.Generate(t.Context(), params)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorContains(t, err, "answer of openai: ")
	require.Zero(t, receipt)
}

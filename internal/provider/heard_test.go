package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// spoken is a session with words, sound and a call. The events repeat each of them several times.
var spoken = []string{
	`{"type":"session.created","session":{"id":"sess_1","model":"gpt-realtime"}}`,
	`{"type":"conversation.item.added","item":{"id":"i0","type":"message","role":"user","content":[{"type":"input_text","text":"How much?"}]}}`,
	`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i9","content_index":0,"delta":"Pay it"}`,
	`{"type":"conversation.item.input_audio_transcription.completed","item_id":"i9","content_index":0,"transcript":"Pay it"}`,
	`{"type":"response.created","response":{"id":"r1","status":"in_progress","output":[]}}`,
	`{"type":"response.output_item.added","response_id":"r1","item":{"id":"i1","type":"message","role":"assistant","content":[]}}`,
	`{"type":"response.content_part.added","response_id":"r1","item_id":"i1","content_index":0,"part":{"type":"text","text":""}}`,
	`{"type":"response.output_text.delta","response_id":"r1","item_id":"i1","content_index":0,"delta":"It is "}`,
	`{"type":"response.output_text.delta","response_id":"r1","item_id":"i1","content_index":0,"delta":"free."}`,
	`{"type":"response.output_text.done","response_id":"r1","item_id":"i1","content_index":0,"text":"It is free."}`,
	`{"type":"response.content_part.done","response_id":"r1","item_id":"i1","content_index":0,"part":{"type":"text","text":"It is free."}}`,
	`{"type":"response.output_item.done","response_id":"r1","item":{"id":"i1","type":"message","role":"assistant","content":[{"type":"output_text","text":"It is free."}]}}`,
	`{"type":"response.output_audio_transcript.delta","response_id":"r1","item_id":"i2","content_index":0,"delta":"Hm."}`,
	`{"type":"response.output_audio.delta","response_id":"r1","item_id":"i2","content_index":0,"delta":"AAAA"}`,
	`{"type":"response.output_audio_transcript.done","response_id":"r1","item_id":"i2","content_index":0,"transcript":"Hm."}`,
	`{"type":"conversation.item.done","item":{"id":"i2","type":"message","role":"assistant","content":[{"type":"output_audio","transcript":"Hm."}]}}`,
	`{"type":"response.output_item.added","response_id":"r1","item":{"id":"i3","type":"function_call","call_id":"c1","name":"pay","arguments":""}}`,
	`{"type":"response.function_call_arguments.delta","response_id":"r1","item_id":"i3","call_id":"c1","delta":"{\"sum\":1}"}`,
	`{"type":"response.function_call_arguments.done","response_id":"r1","item_id":"i3","call_id":"c1","name":"pay","arguments":"{\"sum\":1}"}`,
	`{"type":"response.output_item.done","response_id":"r1","item":{"id":"i3","type":"function_call","call_id":"c1","name":"pay","arguments":"{\"sum\":1}"}}`,
	`{"type":"response.done","response":{"id":"r1","status":"completed","output":[` +
		`{"id":"i1","type":"message","role":"assistant","content":[{"type":"output_text","text":"It is free."}]},` +
		`{"id":"i2","type":"message","role":"assistant","content":[{"type":"output_audio","transcript":"Hm."}]},` +
		`{"id":"i3","type":"function_call","call_id":"c1","name":"pay","arguments":"{\"sum\":1}"}]}}`,
	`{"type":"conversation.item.added","item":{"id":"i4","type":"function_call_output","call_id":"c1","output":"paid"}}`,
}

// heardOf decodes a server's events in a session.
func heardOf(t *testing.T, api string, frames ...string) (*modelio.Response, string) {
	t.Helper()
	var body []byte
	for _, f := range frames {
		body = AppendFrame(body, Frame{Data: []byte(f)})
	}
	body = AppendFrame(body, Frame{Close: &Closing{}})
	got, err := byName(t, api).DecodeResponse(&Answer{Status: 101, ContentType: "application/x-ndjson", Body: body})
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	return got, string(text)
}

// TestHeardAgain checks that the record has every content of an event that differs from the end of the answer.
func TestHeardAgain(t *testing.T) {
	t.Parallel()
	plain, text := heardOf(t, "openai.realtime", spoken...)
	require.Len(t, plain.Candidates[0].Message.Content, 5, "what is said again is said once: %s", text)
	altered := 0
	for i, frame := range spoken {
		for _, said := range []string{`"It is free."`, `"It is "`, `"free."`, `"Hm."`, `"pay"`, `"c1"`, `"{\"sum\":1}"`, `"Pay it"`, `""`} {
			if !strings.Contains(frame, said) || strings.Contains(frame, "_output") && said == `"c1"` || strings.Contains(frame, "delta") && said == `"c1"` {
				continue
			}
			for _, other := range []string{`"EVIL"`, `["EVIL"]`, `{"is":"EVIL"}`, `"\ud800EVIL"`} {
				frames := append([]string{}, spoken...)
				frames[i] = strings.Replace(frame, said, other, 1)
				_, text := heardOf(t, "openai.realtime", frames...)
				require.Contains(t, text, "EVIL", "%s", frames[i])
				altered++
			}
		}
	}
	require.Greater(t, altered, 100)

	_, cut := heardOf(t, "openai.realtime", spoken[:len(spoken)-2]...)
	for _, want := range []string{`"It is free."`, `"Hm."`, `"pay"`, `"Pay it"`} {
		require.Contains(t, cut, want, "of an answer that is not done")
	}
}

// TestHeardOnce checks that the record has repeated texts only once, even if no end of an answer contains them.
func TestHeardOnce(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]string{
		"history": {
			`{"type":"conversation.item.added","item":{"id":"h2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Once."}]}}`,
			`{"type":"conversation.item.done","item":{"id":"h2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Once."}]}}`,
		},
		"left": {
			`{"type":"response.output_item.added","response_id":"r1","item":{"id":"i3","type":"function_call","call_id":"c1","name":"Once.","arguments":""}}`,
			`{"type":"conversation.item.added","item":{"id":"i3","type":"function_call","call_id":"c1","name":"Once.","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","response_id":"r1","item_id":"i3","call_id":"c1","delta":"{}"}`,
			`{"type":"response.function_call_arguments.done","response_id":"r1","item_id":"i3","call_id":"c1","name":"Once.","arguments":"{}"}`,
			`{"type":"response.output_item.done","response_id":"r1","item":{"id":"i3","type":"function_call","call_id":"c1","name":"Once.","arguments":"{}"}}`,
		},
		"cancelled": {
			`{"type":"response.output_text.delta","response_id":"r1","item_id":"i1","content_index":0,"delta":"Once."}`,
			`{"type":"response.output_text.done","response_id":"r1","item_id":"i1","content_index":0,"text":"Once."}`,
			`{"type":"response.content_part.done","response_id":"r1","item_id":"i1","content_index":0,"part":{"type":"text","text":"Once."}}`,
			`{"type":"response.output_item.done","response_id":"r1","item":{"id":"i1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Once."}]}}`,
			`{"type":"response.done","response":{"id":"r1","status":"cancelled","output":[]}}`,
		},
	} {
		_, text := heardOf(t, "openai.realtime", frames...)
		require.Equal(t, 1, strings.Count(text, "Once."), "%s: %s", name, text)
	}
}

// TestHeardOddly checks that the record has an event that differs from the end of the answer only in unusual ways.
func TestHeardOddly(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		`{"type":"response.output_text.done","EVENT":"","item_id":"i1","content_index":0,"text":""}`,
		`{"type":"response.function_call_arguments.done","EVENT":"","item_id":"i3","arguments":""}`,
		`{"type":"response.output_item.done","EVENT":"","item":{"id":"i1","type":"message","role":"user","content":[{"text":"EVIL"}]}}`,
		`{"type":"response.output_item.done","EVENT":"","item":{"id":"i3","type":"function_call_output","call_id":"c1","name":"EVIL"}}`,
		`{"type":"conversation.item.done","EVENT":"","item":{"id":"i5","type":"mcp_call","output":"EVIL"}}`,
		`{"type":"response.content_part.done","EVENT":"","item_id":"i1","content_index":0,"Part":{"type":"text","text":"EVIL"}}`,
		`{"type":"response.content_part.done","EVENT":"","item_id":"i1","content_index":0,"part":[{"type":"text","text":"EVIL"}]}`,
		`{"type":"response.output_item.done","EVENT":"","item":[{"id":"i1","content":[{"text":"EVIL"}]}]}`,
		`{"type":"response.output_item.done","EVENT":"","item":{"id":"i1","content":{"text":"EVIL"}}}`,
		`{"type":"response.output_item.done","EVENT":"","item":{"id":"i1","content":"EVIL"}}`,
	} {
		_, text := heardOf(t, "openai.realtime", append(spoken[:len(spoken):len(spoken)], frame)...)
		require.Contains(t, text, `"EVENT"`, "%s", frame)
	}
}

// TestHeardMembers checks that the record has every text that programs may take for the model's, in any spelling.
func TestHeardMembers(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		`{"ServerContent":{"modelTurn":{"parts":[{"text":"EVIL"}]}}}`,
		`{"serverContent":{"ModelTurn":{"parts":[{"text":"EVIL"}]}}}`,
		`{"serverContent":{"modelTurn":{"Parts":[{"text":"EVIL"}]}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"Text":"EVIL"}]}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"text":"EVIL"},null]}}}`,
		`{"serverContent":{"modelTurn":{"parts":{"text":"EVIL"}}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm","data":"EVIL!"}}]}}}`,
		`{"serverContent":{"outputTranscription":{"Text":"EVIL"}}}`,
		`{"serverContent":{"outputTranscription":{"text":["EVIL"]}}}`,
		`{"serverContent":{"interimInputTranscription":{"text":"EVIL"}}}`,
		`{"toolCall":{"FunctionCalls":[{"id":"f1","name":"EVIL","args":{}}]}}`,
		`{"toolCall":{"functionCalls":{"id":"f1","name":"EVIL","args":{}}}}`,
		`{"toolCall":{"functionCalls":[{"id":"f1","Name":"EVIL","args":{}}]}}`,
		`{"toolCall":{"functionCalls":[null,{"id":"f1","name":"EVIL","args":{}}]}}`,
	} {
		_, text := heardOf(t, "google.live", `{"setupComplete":{}}`, frame, `{"serverContent":{"turnComplete":true}}`)
		require.Contains(t, text, "EVIL", "%s", frame)
	}
}

// TestLiveProgress checks that members about the progress of a turn are not content.
func TestLiveProgress(t *testing.T) {
	t.Parallel()
	got, text := heardOf(t, "google.live", `{"serverContent":{"outputTranscription":{"text":"Hi"}}}`,
		`{"serverContent":{"outputTranscription":{"finished":true}}}`, `{"serverContent":{"turnComplete":true,"interrupted":false}}`)
	require.Len(t, got.Candidates[0].Message.Content, 1, text)
	_, text = heardOf(t, "google.live", `{"serverContent":{"outputTranscription":{"finished":"EVIL"},"interrupted":"EVIL2"}}`)
	require.Contains(t, text, `"EVIL"`)
	require.Contains(t, text, `"EVIL2"`)
}

// TestHeardOften checks that the time per piece does not grow with the number of pieces in a session.
func TestHeardOften(t *testing.T) {
	t.Parallel()
	var frames []string
	for i := range 30_000 {
		frames = append(frames, fmt.Sprintf(`{"type":"response.output_text.delta","response_id":"r%d","item_id":"i%d","content_index":0,"delta":"a"}`, i, i))
	}
	for i := range 30_000 {
		frames = append(frames, fmt.Sprintf(`{"type":"response.done","response":{"id":"r%d","output":[]}}`, i))
	}
	got, _ := heardOf(t, "openai.realtime", frames...)
	require.Len(t, got.Candidates[0].Message.Content, 30_000)
}

// TestCallsOften checks that the time per call does not grow with the number of calls in a stream.
func TestCallsOften(t *testing.T) {
	t.Parallel()
	const calls = 40_000
	var chat, cohere strings.Builder
	for i := range calls {
		fmt.Fprintf(&chat, `data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"a","arguments":"{}"}}]}}]}`+"\n\n", calls-i)
		fmt.Fprintf(&cohere, `data: {"type":"content-start","index":%d,"delta":{"message":{"content":{"type":"text","text":"a"}}}}`+"\n\n", i)
	}
	for i := range calls {
		fmt.Fprintf(&cohere, `data: {"type":"content-delta","index":%d,"delta":{"message":{"content":{"text":"a"}}}}`+"\n\n", i)
	}
	for api, body := range map[string]string{
		"openai.chat": chat.String() + "data: [DONE]\n\n",
		"cohere.chat": cohere.String() + `data: {"type":"message-end","delta":{"finish_reason":"COMPLETE"}}` + "\n\n",
	} {
		got, err := byName(t, api).DecodeResponse(&Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body)})
		require.NoError(t, err)
		require.Len(t, got.Candidates[0].Message.Content, calls, api)
	}
}

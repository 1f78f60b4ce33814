package provider

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestNumberedItems covers a fault that an examination found: item ids drifted if their prefix or length differed from
// OpenAI's own.
func TestNumberedItems(t *testing.T) {
	const body = `{"model":"m","previous_response_id":"resp_ID","input":[
		{"type":"message","role":"assistant","id":"msg_tmp_ID","content":[{"type":"output_text","text":"hi"}]},
		{"type":"reasoning","id":"ID","summary":[],"encrypted_content":"ID=="},
		{"type":"function_call","id":"fc_tmp_ID","call_id":"output_tool_ID","name":"f","arguments":"{}"},
		{"type":"function_call_output","id":"output_tool_o_ID","call_id":"output_tool_ID","output":"1"},
		{"type":"web_search_call","id":"ID-ws","status":"completed"},
		{"type":"item_reference","id":"x.ID"}]}`
	number := func(id string) *modelio.Request {
		codec := byName(t, responsesAPI)
		w := homeOf(t, codec)
		w.Body = []byte(strings.ReplaceAll(body, "ID", id))
		req, err := codec.DecodeRequest(&w)
		require.NoError(t, err)
		numbered, err := new(modelio.Numbering).Request(req)
		require.NoError(t, err)
		return numbered
	}
	require.NoError(t, equalRequests(number("4x"), number("0123456789abcdef")))
	require.NotContains(t, string(viewRequest(number("4x"))), "4x")
}

// TestNumberedCorpus proves that numbering a numbered request changes nothing.
func TestNumberedCorpus(t *testing.T) {
	t.Parallel()
	for _, x := range corpus(t) {
		w := x.wire(t)
		codec, ok := Match(w)
		if !ok || x.RequestFidelity == "absent" {
			continue
		}
		req, err := codec.DecodeRequest(w)
		require.NoError(t, err, x.Origin)
		once, err := new(modelio.Numbering).Request(req)
		require.NoError(t, err, x.Origin)
		twice, err := new(modelio.Numbering).Request(once)
		require.NoError(t, err, x.Origin)
		require.NoError(t, equalRequests(once, twice), x.Origin)
	}
}

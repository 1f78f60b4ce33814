package contract_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestBlobErrors covers params whose refs lead to missing or wrong content.
func TestBlobErrors(t *testing.T) {
	s := newScene(t)
	a := apis[0]
	raw := func(text string) canon.Hash {
		ref, err := s.store.PutBlob([]byte(text))
		require.NoError(t, err)
		return ref
	}
	for _, test := range []struct {
		name, why string
		change    func(*contract.GenerateParams)
		want      string
	}{
		{"message_text", "text is no message", func(p *contract.GenerateParams) { p.MessageRefs[0] = raw("hello") },
			"/message_refs/0: blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 is not canonical JSON: write it with PutJSON"},
		{"message_spaced", "a blob has one spelling", func(p *contract.GenerateParams) { p.MessageRefs[0] = raw(`{"content": "hi","role":"user"}`) },
			"is not canonical JSON: write it with PutJSON"},
		{"message_role", "roles are GK's", func(p *contract.GenerateParams) { p.MessageRefs[0] = raw(`{"content":"hi","role":"assistant"}`) },
			`message: /role: choice: must be one of model, system, tool, user, is "assistant"`},
		{"message_member", "unknown members are errors", func(p *contract.GenerateParams) { p.MessageRefs[0] = raw(`{"content":"hi","name":"x","role":"user"}`) },
			"message: /name: unknown: is no member of this type"},
		{"message_list", "a message has one form", func(p *contract.GenerateParams) { p.MessageRefs[0] = raw(`{"content":[{"text":"hi"}],"role":"user"}`) },
			"message: /content: type: must be a string where it is one text part: write it with PutMessage"},
		{"message_metadata", "a message has one form", func(p *contract.GenerateParams) {
			p.MessageRefs[0] = raw(`{"content":"hi","metadata":{},"role":"user"}`)
		},
			"message: /metadata: blank: must be left out where it is empty"},
		{"message_metadata_type", "an object", func(p *contract.GenerateParams) {
			p.MessageRefs[0] = raw(`{"content":"hi","metadata":1,"role":"user"}`)
		},
			"message: /metadata: type: must be an object, is a number"},
		{"message_part", "unknown members are errors, deep down too", func(p *contract.GenerateParams) {
			p.MessageRefs[0] = raw(`{"content":[{"toolResponse":{"name":"f","x":1}},{"toolRequest":{"name":"f","y":1}},{"media":{"url":"u","z":1}},{"data":1}],"role":"tool"}`)
		}, "message: /content/0/toolResponse/x: unknown: is no member of this type, or should be left out\n" +
			"message: /content/1/toolRequest/y: unknown: is no member of this type, or should be left out\n" +
			"message: /content/2/media/z: unknown: is no member of this type, or should be left out\n" +
			"message: /content/3/data: unknown: is no member of this type, or should be left out"},
		{"message_two_kinds", "a part is of one kind", func(p *contract.GenerateParams) {
			p.MessageRefs[0] = raw(`{"content":[{"media":{"url":"u"},"text":"t"}],"role":"user"}`)
		}, "message: /content/0: type: a part is of one kind, not text and media"},
		{"tool", "one definition each", func(p *contract.GenerateParams) { p.Runtime.ToolRefs = []canon.Hash{s.put(calc), raw(`[]`)} },
			"/runtime/tool_refs/1: blob "},
		{"tool_member", "unknown members are errors", func(p *contract.GenerateParams) {
			p.Runtime.ToolRefs = []canon.Hash{raw(`{"name":"f","parameters":{}}`)}
		},
			"tool definition: /parameters: unknown: is no member of this type, or should be left out"},
		{"format", "three types there are", func(p *contract.GenerateParams) { p.Runtime.ResponseFormatRef = contract.Some(raw(`{"type":"xml"}`)) },
			`response format: /type: choice: must be one of json, json_schema, text, is "xml"`},
		{"options", "by provider", func(p *contract.GenerateParams) { p.Runtime.ProviderOptionsRef = contract.Some(raw(`{"seed":7}`)) },
			"/runtime/provider_options_ref: blob "},
		{"options_provider", "a misspelled provider", func(p *contract.GenerateParams) {
			p.Runtime.ProviderOptionsRef = contract.Some(raw(`{"opnai":{"seed":7}}`))
		},
			`provider options: /opnai: unknown: "opnai" is not known; known are `},
	} {
		t.Run(test.name, func(t *testing.T) {
			params := s.asks(a)
			test.change(&params)
			receipt, err := s.adapter.Generate(t.Context(), params)
			require.ErrorContains(t, err, test.want, test.why)
			require.Zero(t, receipt)
		})
	}
	for name, change := range map[string]func(*contract.GenerateParams){
		"/message_refs/0":               func(p *contract.GenerateParams) { p.MessageRefs[0] = ref("1") },
		"/runtime/tool_refs/0":          func(p *contract.GenerateParams) { p.Runtime.ToolRefs = []canon.Hash{ref("1")} },
		"/runtime/response_format_ref":  func(p *contract.GenerateParams) { p.Runtime.ResponseFormatRef = contract.Some(ref("1")) },
		"/runtime/provider_options_ref": func(p *contract.GenerateParams) { p.Runtime.ProviderOptionsRef = contract.Some(ref("1")) },
	} {
		params := s.asks(a)
		change(&params)
		_, err := s.adapter.Generate(t.Context(), params)
		require.ErrorIs(t, err, contract.ErrBlob)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, name+": ")
	}
	require.Empty(t, s.provider.Calls(), "no call is made with params that are not whole")
}

// TestReadsRehash checks that a blob altered on its way from the store is refused.
func TestReadsRehash(t *testing.T) {
	s := newScene(t)
	params := s.asks(apis[0])
	altered := []byte(`{"content":"Say goodbye","role":"user"}`)
	s.store.altered = map[canon.Hash][]byte{params.MessageRefs[0]: altered}
	_, err := s.adapter.Generate(t.Context(), params)
	require.ErrorIs(t, err, contract.ErrBlob)

	var v any
	require.ErrorIs(t, contract.ReadJSON(liar{}, ref("1"), &v), contract.ErrBlob, "whoever keeps the blobs")
}

// A liar is a store with content for every ref.
type liar struct{}

func (liar) Blob(canon.Hash) ([]byte, error) { return []byte("{}"), nil }

func TestPutErrors(t *testing.T) {
	s := newScene(t)
	_, err := contract.PutJSON(s.store, func() {})
	require.ErrorContains(t, err, "blob of func(): ")
	_, err = contract.PutMessage(s.store, modelio.Message{Role: modelio.RoleUser, Unknown: modelio.Object{"x": []byte("1")}})
	require.ErrorContains(t, err, "a message has members that are not known")
}

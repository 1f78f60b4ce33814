package modeltest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// person is the schema of the cases; instructions is Genkit's text for it.
const (
	person       = `{"type": "object"}`
	instructions = `{"metadata":{"purpose":"output"},"text":"Output should be in JSON format and conform to the following schema:\n\n` + "```" + `\n{\"type\":\"object\"}\n` + "```" + `\n"}`
)

func TestSimulate(t *testing.T) {
	const (
		none     = `{}`
		system   = `{"supports":{"systemRole":true}}`
		all      = `{"supports":{"constrained":"all","systemRole":true}}`
		noTools  = `{"supports":{"constrained":"no-tools","systemRole":true}}`
		onlyJSON = `{"supports":{"constrained":true}}`
	)
	for _, tc := range []struct{ name, why, info, request, want string }{
		{"system", "GK: prepend to the first user message", none,
			`{"messages":[{"role":"system","content":[{"text":"s1"},{"text":"s2","metadata":{"k":1}}],"metadata":{"m":1}},{"role":"user","content":[{"text":"u1"}],"metadata":{"n":1}},{"role":"model","content":[]},{"role":"user","content":[{"text":"u2"}]}]}`,
			`{"messages":[{"content":[{"text":"s1"},{"metadata":{"k":1},"text":"s2"},{"text":"u1"}],"metadata":{"n":1},"role":"user"},{"content":[],"role":"model"},{"content":[{"text":"u2"}],"role":"user"}]}`},
		{"system_several", "in their order, wherever they stand", none,
			`{"messages":[{"role":"model","content":[{"text":"m"}]},{"role":"system","content":[{"text":"s1"}]},{"role":"user","content":[{"text":"u"}]},{"role":"system","content":[{"text":"s2"}]}]}`,
			`{"messages":[{"content":[{"text":"m"}],"role":"model"},{"content":[{"text":"s1"},{"text":"s2"},{"text":"u"}],"role":"user"}]}`},
		{"system_alone", "GK: or insert it as the first message with a user role", none,
			`{"messages":[{"role":"model","content":[{"text":"m"}]},{"role":"system","content":[{"text":"s"}]}]}`,
			`{"messages":[{"content":[{"text":"s"}],"role":"user"},{"content":[{"text":"m"}],"role":"model"}]}`},
		{"system_supported", "what is supported stays", system,
			`{"messages":[{"role":"system","content":[{"text":"s"}]},{"role":"user","content":[{"text":"u"}]}]}`,
			`{"messages":[{"content":[{"text":"s"}],"role":"system"},{"content":[{"text":"u"}],"role":"user"}]}`},
		{"nothing_to_do", "an ordinary request stays", none,
			`{"config":{"seed":9007199254740993},"messages":[{"role":"user","content":[{"text":"u"}]}],"output":{"format":"text"},"tools":[]}`,
			`{"config":{"seed":9007199254740993},"messages":[{"content":[{"text":"u"}],"role":"user"}],"output":{"format":"text"},"tools":[]}`},
		{"constrained", "GK: the schema becomes text in the last user message, and is removed", system,
			`{"messages":[{"role":"user","content":[{"text":"u1"}]},{"role":"user","content":[{"text":"u2"}]},{"role":"model","content":[]}],"output":{"constrained":true,"format":"json","schema":` + person + `,"x":1}}`,
			`{"messages":[{"content":[{"text":"u1"}],"role":"user"},{"content":[{"text":"u2"},` + instructions + `],"role":"user"},{"content":[],"role":"model"}],"output":{"constrained":false,"format":"json","x":1}}`},
		{"constrained_by_system", "a system message is the place for instructions", system,
			`{"messages":[{"role":"system","content":[{"text":"s"}]},{"role":"user","content":[{"text":"u"}]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"text":"s"},` + instructions + `],"role":"system"},{"content":[{"text":"u"}],"role":"user"}],"output":{}}`},
		{"constrained_and_system", "both are simulated", none,
			`{"messages":[{"role":"system","content":[{"text":"s"}]},{"role":"user","content":[{"text":"u"}]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"text":"s"},` + instructions + `,{"text":"u"}],"role":"user"}],"output":{}}`},
		{"constrained_nowhere", "no message could take the instructions", system, `{"messages":[],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[` + instructions + `],"role":"user"}],"output":{}}`},
		{"constrained_supported", "GK: a model that declares it receives the schema", all,
			`{"messages":[],"output":{"constrained":true,"schema":` + person + `},"tools":[{"name":"t"}]}`,
			`{"messages":[],"output":{"constrained":true,"schema":` + person + `},"tools":[{"name":"t"}]}`},
		{"constrained_true", "GK's own spelling", onlyJSON,
			`{"messages":[],"output":{"schema":` + person + `}}`, `{"messages":[],"output":{"schema":` + person + `}}`},
		{"no_tools_without", "supported where there are no tools", noTools,
			`{"messages":[],"output":{"schema":` + person + `},"tools":[]}`, `{"messages":[],"output":{"schema":` + person + `},"tools":[]}`},
		{"no_tools_with", "not supported where there are", noTools,
			`{"messages":[{"role":"user","content":[]}],"output":{"constrained":true,"schema":` + person + `},"tools":[{"name":"t"}]}`,
			`{"messages":[{"content":[` + instructions + `],"role":"user"}],"output":{"constrained":false},"tools":[{"name":"t"}]}`},
		{"instructed", "the prompt has its instructions already", system,
			`{"messages":[{"role":"user","content":[{"text":"mine","metadata":{"purpose":"output"}}]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"metadata":{"purpose":"output"},"text":"mine"}],"role":"user"}],"output":{}}`},
		{"instructions_pending", "the prompt has a place for them", system,
			`{"messages":[{"role":"user","content":[{"text":"a"},{"text":"","metadata":{"purpose":"output","pending":true}},{"text":"b"}]},{"role":"user","content":[]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"text":"a"},` + instructions + `,{"text":"b"}],"role":"user"},{"content":[],"role":"user"}],"output":{}}`},
		{"instructions_not_pending", "they stay", system,
			`{"messages":[{"role":"user","content":[{"text":"a","metadata":{"purpose":"output","pending":false}}]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"metadata":{"pending":false,"purpose":"output"},"text":"a"}],"role":"user"}],"output":{}}`},
		{"instructions_pending_null", "as those that say nothing of it", system,
			`{"messages":[{"role":"user","content":[{"text":"a","metadata":{"purpose":"output","pending":null}}]}],"output":{"schema":` + person + `}}`,
			`{"messages":[{"content":[{"metadata":{"pending":null,"purpose":"output"},"text":"a"}],"role":"user"}],"output":{}}`},
		{"constrained_without_schema", "there is nothing to enforce", system,
			`{"messages":[],"output":{"constrained":true,"format":"json"}}`, `{"messages":[],"output":{"constrained":false,"format":"json"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			info := decode[modelio.ModelInfo](t, tc.info)
			request := decode[modelio.GenerateRequest](t, tc.request)
			before := encode(t, request)

			got := modeltest.Simulate(&request, info)
			require.Equal(t, tc.want, rawJSON(t, *got), tc.why)
			require.Equal(t, tc.want, rawJSON(t, *modeltest.Simulate(got, info)), "twice is once")
			require.Equal(t, before, encode(t, request), "the request is not changed")
		})
	}
}

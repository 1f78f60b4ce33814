package modelio_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

func request(name, ref string) modelio.Part {
	return modelio.Part{ToolRequest: &modelio.ToolRequest{Name: name, Input: json.RawMessage(`{}`), Ref: ref}}
}

func response(name, ref string) modelio.Part {
	return modelio.Part{ToolResponse: &modelio.ToolResponse{Name: name, Output: json.RawMessage(`1`), Ref: ref}}
}

func conversation(turns ...[]modelio.Part) []modelio.Message {
	msgs := []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}}
	for _, parts := range turns {
		role := modelio.RoleModel
		if parts[0].ToolResponse != nil {
			role = modelio.RoleTool
		}
		msgs = append(msgs, modelio.Message{Role: role, Content: parts})
	}
	return msgs
}

// refsOf lists the refs of all tool parts of msgs.
func refsOf(msgs []modelio.Message) []string {
	var refs []string
	for _, msg := range msgs {
		for _, part := range msg.Content {
			switch {
			case part.ToolRequest != nil:
				refs = append(refs, part.ToolRequest.Ref)
			case part.ToolResponse != nil:
				refs = append(refs, part.ToolResponse.Ref)
			}
		}
	}
	return refs
}

func TestNormalizeRefs(t *testing.T) {
	type parts = []modelio.Part
	tests := []struct {
		name, why string
		msgs      []modelio.Message
		want      []string
		ids       map[string]string
	}{{
		name: "no_tools",
		why:  "a conversation without tools has no ids",
		msgs: conversation(parts{modelio.TextPart("hello")}),
		ids:  map[string]string{},
	}, {
		name: "parallel_answered_out_of_order",
		why:  "a ref says which call a response belongs to",
		msgs: conversation(parts{request("a", "x"), request("a", "y")}, parts{response("a", "y"), response("a", "x")}),
		want: []string{"call_1", "call_2", "call_2", "call_1"},
		ids:  map[string]string{"call_1": "x", "call_2": "y"},
	}, {
		name: "no_refs",
		why:  "without refs a response belongs to the first open call of its name",
		msgs: conversation(parts{request("a", ""), request("b", ""), request("a", "")}, parts{response("b", ""), response("a", ""), response("a", "")}),
		want: []string{"call_1", "call_2", "call_3", "call_2", "call_1", "call_3"},
		ids:  map[string]string{},
	}, {
		name: "ref_used_again_in_a_later_turn",
		why:  "some providers count their calls from 0 in every turn",
		msgs: conversation(parts{request("a", "0")}, parts{response("a", "0")}, parts{request("a", "0")}, parts{response("a", "0")}),
		want: []string{"call_1", "call_1", "call_2", "call_2"},
		ids:  map[string]string{"call_1": "0", "call_2": "0"},
	}, {
		name: "same_ref_twice_in_a_turn",
		why:  "two calls that share a ref are answered in order",
		msgs: conversation(parts{request("a", "0"), request("a", "0")}, parts{response("a", "0"), response("a", "0")}),
		want: []string{"call_1", "call_2", "call_1", "call_2"},
		ids:  map[string]string{"call_1": "0", "call_2": "0"},
	}, {
		name: "only_the_request_has_a_ref",
		why:  "a client may lose the ref on its way",
		msgs: conversation(parts{request("a", "x")}, parts{response("a", "")}),
		want: []string{"call_1", "call_1"},
		ids:  map[string]string{"call_1": "x"},
	}, {
		name: "only_the_response_has_a_ref",
		why:  "a client may invent a ref where the provider gave none",
		msgs: conversation(parts{request("a", "")}, parts{response("a", "x")}),
		want: []string{"call_1", "call_1"},
		ids:  map[string]string{"call_1": "x"},
	}, {
		name: "answered_twice",
		why:  "a second response with the ref of an answered call is about that call",
		msgs: conversation(parts{request("a", "x")}, parts{response("a", "x"), response("a", "x")}),
		want: []string{"call_1", "call_1", "call_1"},
		ids:  map[string]string{"call_1": "x"},
	}, {
		name: "response_to_no_call",
		why:  "a truncated history still gets numbers by order of appearance",
		msgs: conversation(parts{response("a", "x")}, parts{request("a", "y")}, parts{response("a", "y"), response("b", "")}),
		want: []string{"call_1", "call_2", "call_2", "call_3"},
		ids:  map[string]string{"call_1": "x", "call_2": "y"},
	}, {
		name: "response_to_another_ref",
		why:  "a response whose ref no call has is not that of a call of its name with a ref of its own",
		msgs: conversation(parts{request("a", "x"), request("a", "")}, parts{response("a", "y"), response("a", "z")}),
		want: []string{"call_1", "call_2", "call_2", "call_3"},
		ids:  map[string]string{"call_1": "x", "call_2": "y", "call_3": "z"},
	}, {
		name: "foreign_ref_looks_like_ours",
		why:  "an original ref may be any string, also one of the new ones",
		msgs: conversation(parts{request("a", "call_2"), request("a", "call_1")}, parts{response("a", "call_2"), response("a", "call_1")}),
		want: []string{"call_1", "call_2", "call_1", "call_2"},
		ids:  map[string]string{"call_1": "call_2", "call_2": "call_1"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := fmt.Sprint(refsOf(tt.msgs))
			got, ids := modelio.NormalizeRefs(tt.msgs)
			require.Equal(t, tt.want, refsOf(got), tt.why)
			require.Equal(t, tt.ids, ids, tt.why)
			require.Equal(t, before, fmt.Sprint(refsOf(tt.msgs)), "the messages given are not changed")

			again, _ := modelio.NormalizeRefs(got)
			require.Equal(t, got, again, "the normal form of a normal form is itself")
		})
	}
}

// TestNormalizeRefsProperty checks that the normal form does not depend on the refs. If calls are answered in order, it
// does not depend on their presence either.
func TestNormalizeRefsProperty(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	for range 500 {
		shape := make([]int, 1+rnd.IntN(5)) // calls per turn
		for i := range shape {
			shape[i] = 1 + rnd.IntN(4)
		}
		names := []string{"a", "b"}
		picks := rnd.Uint64()
		talk := func(ref func() string) []modelio.Message {
			var turns [][]modelio.Part
			for _, calls := range shape {
				var requests, responses []modelio.Part
				for j := range calls {
					name, ref := names[picks>>j&1], ref()
					requests = append(requests, request(name, ref))
					responses = append(responses, response(name, ref))
				}
				turns = append(turns, requests, responses)
			}
			return conversation(turns...)
		}
		withRefs, ids := modelio.NormalizeRefs(talk(func() string { return fmt.Sprintf("toolu_%x", rnd.Uint64()) }))
		without, none := modelio.NormalizeRefs(talk(func() string { return "" }))
		require.Equal(t, withRefs, without)
		require.Empty(t, none)
		require.Len(t, ids, len(refsOf(withRefs))/2)
	}
}

func ExampleNormalizeRefs() {
	msgs, ids := modelio.NormalizeRefs([]modelio.Message{
		{Role: modelio.RoleModel, Content: []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "weather", Ref: "toolu_01A9x"}}}},
		{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Name: "weather", Ref: "toolu_01A9x"}}}},
	})
	fmt.Println(msgs[0].Content[0].ToolRequest.Ref, msgs[1].Content[0].ToolResponse.Ref, ids["call_1"])
	// Output: call_1 call_1 toolu_01A9x
}

// TestEarlyResults covers a session, which is one call: its request has the results of the tools that its answer calls.
func TestEarlyResults(t *testing.T) {
	for _, c := range []struct {
		name, why      string
		results        []string
		calls, numbers []string
	}{
		{"in order", "each result has the number of its call", []string{"a", "b"}, []string{"a", "b"}, []string{"call_1", "call_2"}},
		{"other order", "the result's number is the call's", []string{"b", "a"}, []string{"a", "b"}, []string{"call_2", "call_1"}},
		{"no result", "a call that nobody answered is new", []string{"b"}, []string{"a", "b"}, []string{"call_2", "call_1"}},
		{"used again", "a ref that comes twice is of two calls", []string{"a"}, []string{"a", "a"}, []string{"call_1", "call_2"}},
		{"no ref", "nothing says whose result it is", []string{""}, []string{""}, []string{"call_2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var results, calls []modelio.Part
			for _, ref := range c.results {
				results = append(results, response("weather", ref))
			}
			for _, ref := range c.calls {
				calls = append(calls, request("weather", ref))
			}
			var n modelio.Numbering
			_, err := n.Request(&modelio.Request{Messages: conversation(results)})
			require.NoError(t, err)
			for range 2 { // answers do not change each other's numbers
				answer, err := n.Response(&modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: calls}}}})
				require.NoError(t, err)
				for i, p := range answer.Candidates[0].Message.Content {
					require.Equal(t, c.numbers[i], p.ToolRequest.Ref, c.why)
				}
			}
		})
	}
}

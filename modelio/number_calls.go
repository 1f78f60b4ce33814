package modelio

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// NormalizeRefs returns msgs with the refs of tool requests and responses replaced by call_1, call_2, … in order of
// appearance. No core then contains random ids of a provider or of Genkit (design R8). A request or response without a
// ref gets one too: a conversation has the same normal form with and without refs.
//
// Each tool request is a call of its own, even if its ref was used before, because some providers count their calls per
// turn. A tool response belongs to the first unanswered call with its ref or, if either has no ref, to the first
// unanswered call with its name. A response to no known call, as in a truncated history, is numbered like a call.
//
// ids maps each new ref to the original one; calls without a ref are not in it. NormalizeRefs does not change msgs;
// unchanged parts are shared with the result. To number the calls of an answer, normalize the request's messages and
// the answer as one list.
func NormalizeRefs(msgs []Message) (normalized []Message, ids map[string]string) {
	n := Numbering{originals: map[string]string{}}
	normalized = make([]Message, len(msgs))
	for i, msg := range msgs {
		inorder.Edit(&msg.Content, n.ref)
		normalized[i] = msg
	}
	return normalized, n.originals
}

type openCall struct{ id, name, ref string }

// ref numbers the ref of a tool request or response, and reports whether that changed the part.
func (n *Numbering) ref(part *Part) (edited bool) {
	switch {
	case part.ToolRequest != nil:
		request := *part.ToolRequest
		request.Ref = n.request(request.Name, request.Ref)
		edited, part.ToolRequest = request.Ref != part.ToolRequest.Ref, &request
	case part.ToolResponse != nil:
		response := *part.ToolResponse
		response.Ref = n.response(response.Name, response.Ref)
		edited, part.ToolResponse = response.Ref != part.ToolResponse.Ref, &response
	}
	return edited
}

// named returns the number of a call that is referred to outside of tool requests and responses. It is that of the
// latest call with the ref, or a new one.
func (n *Numbering) named(ref string) string {
	if id, ok := n.latest[ref]; ok {
		return id
	}
	return n.call(ref)
}

func (n *Numbering) request(name, ref string) string {
	if id, ok := n.early[ref]; ok && n.answering {
		delete(n.early, ref)
		return id
	}
	id := n.call(ref)
	n.open = append(n.open, openCall{id, name, ref})
	return id
}

func (n *Numbering) response(name, ref string) string {
	answer := func(matches func(openCall) bool) (id string, ok bool) {
		i := slices.IndexFunc(n.open, matches)
		if i < 0 {
			return "", false
		}
		id = n.open[i].id
		n.open = slices.Delete(n.open, i, i+1)
		return id, true
	}
	if ref != "" {
		if id, ok := answer(func(call openCall) bool { return call.ref == ref }); ok {
			return id
		}
		if id, ok := n.latest[ref]; ok { // answered again
			return id
		}
	}
	id, ok := answer(func(call openCall) bool { return call.name == name && (ref == "" || call.ref == "") })
	if ok {
		n.name(id, ref)
		return id
	}
	id = n.call(ref)
	if ref != "" {
		n.early[ref] = id
	}
	return id
}

// call returns the next number for a call whose original ref is ref.
func (n *Numbering) call(ref string) string {
	id := n.next(callKind)
	n.name(id, ref)
	return id
}

func (n *Numbering) name(id, ref string) {
	if ref != "" {
		n.latest[ref], n.originals[id] = id, ref
	}
}

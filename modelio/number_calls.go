package modelio

import (
	"maps"
	"slices"
	"strconv"
)

// NormalizeRefs returns msgs with the refs of tool requests and responses replaced by call_1, call_2, … in order of
// appearance. So random ids of a provider or of Genkit are in no core (design R8). A request or response without a
// ref gets one too: the same conversation with and without refs has the same normal form.
//
// Each tool request is a call of its own, even when its ref was used before, as providers do
// that count their calls per turn. A tool response belongs to the first unanswered call with
// its ref; where either side has no ref, to the first unanswered call of its name. A response
// to no known call, as in a truncated history, is numbered like a call.
//
// ids maps each new ref to the original one; calls without a ref are not in it. NormalizeRefs
// does not change msgs; what needs no change is shared with the result. To number the calls of
// an answer, normalize the request's messages and the answer as one list.
func NormalizeRefs(msgs []Message) (normalized []Message, ids map[string]string) {
	calls := callNumbers{latest: map[string]string{}, ids: map[string]string{}}
	normalized = make([]Message, len(msgs))
	for i, msg := range msgs {
		_, _ = change(&msg.Content, func(part *Part) (bool, error) { return calls.part(part), nil })
		normalized[i] = msg
	}
	return normalized, calls.ids
}

// callNumbers numbers the tool calls of one conversation.
type callNumbers struct {
	n      int
	open   []openCall        // without a response yet, in order
	latest map[string]string // original ref -> the new ref of the last call that had it
	ids    map[string]string // new ref -> original ref

	early     map[string]string // original ref -> the new ref of a response that came before any call with it
	answering bool              // the calls are of an answer, which the early responses may be to: so in a session
}

type openCall struct{ id, name, ref string }

func (c *callNumbers) clone() callNumbers {
	return callNumbers{c.n, slices.Clone(c.open), maps.Clone(c.latest), maps.Clone(c.ids), maps.Clone(c.early), c.answering}
}

// part numbers the ref of a tool request or response. It reports whether that changed the part.
func (c *callNumbers) part(part *Part) (edited bool) {
	switch {
	case part.ToolRequest != nil:
		request := *part.ToolRequest
		request.Ref = c.request(request.Name, request.Ref)
		edited, part.ToolRequest = request.Ref != part.ToolRequest.Ref, &request
	case part.ToolResponse != nil:
		response := *part.ToolResponse
		response.Ref = c.response(response.Name, response.Ref)
		edited, part.ToolResponse = response.Ref != part.ToolResponse.Ref, &response
	}
	return edited
}

// named returns the number of a call that is named outside of tool requests and responses: the latest with that ref,
// or a new one.
func (c *callNumbers) named(ref string) string {
	if id, ok := c.latest[ref]; ok {
		return id
	}
	return c.number(ref)
}

func (c *callNumbers) request(name, ref string) string {
	if id, ok := c.early[ref]; ok && c.answering {
		delete(c.early, ref)
		return id
	}
	id := c.number(ref)
	c.open = append(c.open, openCall{id, name, ref})
	return id
}

func (c *callNumbers) response(name, ref string) string {
	answer := func(matches func(openCall) bool) (id string, ok bool) {
		i := slices.IndexFunc(c.open, matches)
		if i < 0 {
			return "", false
		}
		id = c.open[i].id
		c.open = slices.Delete(c.open, i, i+1)
		return id, true
	}
	if ref != "" {
		if id, ok := answer(func(call openCall) bool { return call.ref == ref }); ok {
			return id
		}
		if id, ok := c.latest[ref]; ok { // answered once more
			return id
		}
	}
	id, ok := answer(func(call openCall) bool { return call.name == name && (ref == "" || call.ref == "") })
	if ok {
		c.name(id, ref)
		return id
	}
	id = c.number(ref)
	if ref != "" {
		if c.early == nil {
			c.early = map[string]string{}
		}
		c.early[ref] = id
	}
	return id
}

// number returns the next number for a call whose original ref is ref.
func (c *callNumbers) number(ref string) string {
	c.n++
	id := "call_" + strconv.Itoa(c.n)
	c.name(id, ref)
	return id
}

func (c *callNumbers) name(id, ref string) {
	if ref == "" {
		return
	}
	if c.latest == nil {
		c.latest, c.ids = map[string]string{}, map[string]string{}
	}
	c.latest[ref] = id
	c.ids[id] = ref
}

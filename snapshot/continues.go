package snapshot

import (
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// inherited are the members of a request that are present only if they differ from the call that it continues. A null
// means that this call has none. All other members are present in every record.
var inherited = []string{
	"api", "frequency_penalty", "presence_penalty", "provider_options", "seed", "stop", "tools", "top_p",
}

// request reads or writes the request of a record.
func (c *coder) request(s *Snapshot) {
	switch c.form {
	case inMemory:
		c.readRequest(s)
	case inFile:
		c.writeRequest(s)
	default:
		c.object(nil, func() { c.requestMembers(s, &s.Request.Messages) })
	}
}

func (c *coder) writeRequest(s *Snapshot) {
	messages := s.Request.Messages
	c.own, c.base, c.before = map[string]string{}, nil, nil
	c.texts[c.index] = c.own
	if s.Continues != nil {
		i, _ := earlier(c.calls, s, c.index) // the chooser or the reader has checked it
		c.base, c.before = &c.doc.Snapshots[i], c.texts[i]
		messages = messages[s.Continues.covers(c.base):]
	}
	c.object(nil, func() {
		c.inherit("request/", inherited...)
		c.requestMembers(s, &messages)
	})
}

// covers returns how many messages of the request are those of base.
func (n *Continues) covers(base *Snapshot) int {
	if n.Messages <= len(base.Request.Messages) {
		return n.Messages
	}
	return len(base.Request.Messages) + max(1, len(n.Sent))
}

// indexes returns the indexes of a document's records by their ids.
func (d *Document) indexes() map[string]int {
	calls := make(map[string]int, len(d.Snapshots))
	for i := range slices.Backward(d.Snapshots) {
		calls[d.Snapshots[i].ID] = i // of a repeated id, the first one
	}
	return calls
}

// earlier returns the index of the call that s, the record with the given index, continues.
func earlier(calls map[string]int, s *Snapshot, index int) (i int, ok bool) {
	name, _, ok := ParseID(s.ID)
	i, known := calls[ID(name, s.Continues.Call)]
	return i, ok && known && i < index
}

// continues reads or writes the member that says what a request continues.
func (c *coder) continues(p **Continues) {
	if c.member("continues", optional, *p == nil) != here {
		return
	}
	defer c.leave()
	if c.reading() {
		return // readContinues has read it, before the members that depend on it
	}
	c.continuation(*p)
}

// continuation reads or writes the members of continues. How an answer was sent back defaults to how the one before
// was.
func (c *coder) continuation(n *Continues) bool {
	return c.object(nil, func() {
		integer(c, "call", required, &n.Call, 1)
		integer(c, "messages", required, &n.Messages, 1)
		c.top().path, c.top().inherits = "request/continues/", []string{"sent"}
		if c.reading() || n.Messages > len(c.base.Request.Messages) {
			c.sent(&n.Sent)
		}
	})
}

func (c *coder) sent(sent *[]Sent) {
	list(c, "sent", optional, sent, func(s *Sent) {
		c.object(nil, func() {
			c.free("metadata", &s.Metadata)
			field(c, "parts", optional, &s.Parts, func(parts []SentPart) bool { return parts == nil },
				func(parts *[]SentPart) { elements(c, parts, c.sentPart) })
		})
	})
}

// sentPart reads or writes a part that was sent back. It is the index of a part of the answer, an object with that
// index and the metadata with which it was sent, or a part of another kind.
func (c *coder) sentPart(p *SentPart) {
	index := int64(p.Answer)
	switch {
	case c.reading() && c.at.NumberKind() != jsontext.NotNumber, !c.reading() && p.Part == nil && p.Metadata == nil:
		c.count(&index)
	case c.reading() && !c.at.Member("part").Present(), !c.reading() && p.Part != nil:
		if c.reading() {
			p.Part = &modelio.Part{}
		}
		c.part(p.Part)
	default:
		c.object(nil, func() {
			field(c, "metadata", required, &p.Metadata, never, c.freeObject)
			integer(c, "part", required, &index, 0)
		})
	}
	p.Answer = int(min(index, 1<<30))
}

func (c *coder) readRequest(s *Snapshot) {
	r := &s.Request
	base, continues := c.readContinues(s)
	if c.base = base; base != nil {
		*r = base.Request // except for members that every record has, and the prompt
		r.Prompt = nil
	}
	var own []modelio.Message
	at := c.at
	c.object(nil, func() {
		if continues {
			c.top().inherits = inherited
		}
		c.requestMembers(s, &own)
	})
	switch messages, prompt := at.Member("messages").Present(), at.Member("prompt").Present(); {
	case !at.IsObject():
	case messages && prompt:
		c.report(RuleValue, "must have messages or prompt, has both")
	case continues && !messages:
		c.report(RuleMissing, "is required where there is continues", "messages")
	case !messages && !prompt:
		c.report(RuleMissing, "is required, or prompt", "messages")
	}
	if base == nil {
		r.Messages, c.tails[c.index] = own, own
		return
	}
	beginning, member, wrong := s.Continues.beginning(base)
	if wrong != "" {
		c.report(RuleContinues, wrong, "continues", member)
		return
	}
	r.Messages = c.join(c.calls[base.ID], beginning, own)
}

// readContinues reads the member continues of the current request. continues reports whether it is present; base is nil
// unless it is valid.
func (c *coder) readContinues(s *Snapshot) (base *Snapshot, continues bool) {
	value := c.at.Member("continues")
	if !value.Present() {
		return nil, false
	}
	at := c.at
	defer func() { c.at = at }()
	c.at = value
	c.enter("continues")
	defer c.leave()
	var n Continues
	if !c.continuation(&n) {
		return nil, true
	}
	name, own, ok := ParseID(s.ID)
	if !ok {
		c.report(RuleContinues, "must not be there, as the record's id is not <document>-<n>")
		return nil, true
	}
	i, known := c.calls[ID(name, n.Call)]
	switch {
	case n.Call == own:
		c.report(RuleContinues, "must be another call, is this one", "call")
	case !known:
		c.report(RuleContinues, fmt.Sprintf("must be a call of this document, which has no %s", ID(name, n.Call)), "call")
	case i >= c.index:
		c.report(RuleContinues, fmt.Sprintf("must be an earlier call, but %d comes later", n.Call), "call")
	case n.Messages > len(c.doc.Snapshots[i].Request.Messages)+1:
		c.report(RuleContinues, fmt.Sprintf("must be at most %d: call %d has %d and its answer",
			len(c.doc.Snapshots[i].Request.Messages)+1, n.Call, len(c.doc.Snapshots[i].Request.Messages)), "messages")
	default:
		s.Continues, base = &n, &c.doc.Snapshots[i]
		if !value.Member("sent").Present() && n.Messages > len(base.Request.Messages) && base.Continues != nil {
			n.Sent = base.Continues.Sent
		}
		return base, true
	}
	return nil, true
}

// beginning returns the messages after those that a request shares with base: base's answer as it was sent back, if n
// includes it. Otherwise it returns what is wrong, and with which member of n.
func (n *Continues) beginning(base *Snapshot) (sent []modelio.Message, member, wrong string) {
	if n.Messages <= len(base.Request.Messages) {
		if n.Sent != nil {
			return nil, "sent", "must not be there, as the answer is not among the messages"
		}
		return nil, "", ""
	}
	said := base.said()
	if len(said) == 0 {
		return nil, "messages", fmt.Sprintf("must be at most %d, as call %d was not answered", n.Messages-1, n.Call)
	}
	sent, wrong = n.sent(said)
	return sent, "sent", wrong
}

// said returns the parts of the answer, in the form that a reader of the file knows.
func (s *Snapshot) said() []modelio.Part {
	if len(s.Response.Candidates) == 0 {
		return nil
	}
	a := answerOf(&s.Response.Candidates[0])
	return a.candidate().Message.Content
}

// sent returns the messages in which an answer was sent back, or what is wrong with n.
func (n *Continues) sent(said []modelio.Part) (messages []modelio.Message, bad string) {
	switch {
	case n.Sent == nil:
		return []modelio.Message{{Role: modelio.RoleModel, Content: said}}, ""
	case len(n.Sent) == 0:
		return nil, "must have a message"
	}
	messages = make([]modelio.Message, len(n.Sent))
	for i, sent := range n.Sent {
		m := modelio.Message{Role: modelio.RoleModel, Metadata: sent.Metadata, Content: said}
		if sent.Parts != nil {
			m.Content = make([]modelio.Part, len(sent.Parts))
		}
		for j, p := range sent.Parts {
			switch {
			case p.Part != nil:
				m.Content[j] = *p.Part
				continue
			case p.Answer < 0 || p.Answer >= len(said):
				return nil, fmt.Sprintf("must name parts of the answer, which has %d, not %d", len(said), p.Answer)
			}
			switch m.Content[j] = said[p.Answer]; {
			case len(p.Metadata) > 0:
				m.Content[j].Metadata = p.Metadata
			case p.Metadata != nil:
				m.Content[j].Metadata = nil
			}
		}
		messages[i] = m
	}
	return messages, ""
}

// copiedMost limits the messages of complete requests that cannot share memory with those that they continue. Real
// documents are far below it.
const copiedMost = 1 << 20

// join returns the messages of a complete request: the shared ones of the i-th record, and its own. The first request
// that continues another one shares memory with it, so that the memory for an agent with n turns grows only with its
// own messages.
func (c *coder) join(i int, beginning, own []modelio.Message) []modelio.Message {
	base, n := c.doc.Snapshots[i].Request.Messages, c.doc.Snapshots[c.index].Continues.Messages
	var whole []modelio.Message
	if tail := c.tails[i]; n >= len(base) && tail != nil {
		c.tails[i] = nil
		whole = append(append(tail, beginning...), own...)
	} else {
		shared := base[:min(n, len(base))]
		if c.copied += len(shared); c.copied > copiedMost {
			c.report(RuleContinues, fmt.Sprintf("must not make requests of more than %d messages", copiedMost), "continues")
			return nil
		}
		whole = slices.Concat(shared, beginning, own)
	}
	c.tails[c.index] = whole
	return whole[:len(whole):len(whole)]
}

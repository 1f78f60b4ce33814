package snapshot

import (
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// A chooser finds what each request of a document continues: the earlier call with which it shares the longest
// beginning, and of several the latest.
//
// A request is compared with the earlier ones by the numbers of its messages, which identify them by their content and
// not by their memory.
type chooser struct {
	doc     *Document
	calls   map[string]int   // indexes of records by their ids
	numbers map[string]int32 // numbers of messages and parts, by their canonical text
	scratch coder

	// of each request that was read
	paths [][]int32 // numbers of its messages
	said  [][]int32 // numbers of the parts of its answer
	ids   []int     // number of its record; 0 if no other record can refer to it
}

func newChooser(d *Document) *chooser {
	return &chooser{
		doc:     d,
		calls:   d.indexes(),
		numbers: map[string]int32{},
		scratch: coder{cursor: cursor{form: inCore}},
	}
}

// chooseFor sets what the i-th request continues, once it is set for those before it.
func (h *chooser) chooseFor(i int) {
	s := &h.doc.Snapshots[i]
	if i == 0 && s.Continues == nil {
		return // most tests make one call, which need not be read
	}
	for len(h.paths) <= i {
		h.read(&h.doc.Snapshots[len(h.paths)])
	}
	if s.Continues == nil || !h.holds(i) {
		s.Continues = h.longest(i)
	}
}

// read numbers the next request.
func (h *chooser) read(s *Snapshot) {
	path := make([]int32, len(s.Request.Messages))
	for k := range path {
		path[k] = h.message(&s.Request.Messages[k])
	}
	h.paths, h.said, h.ids = append(h.paths, path), append(h.said, h.parts(s.said())), append(h.ids, s.Number())
}

// message returns the number of a message.
func (h *chooser) message(m *modelio.Message) int32 {
	h.scratch.message(m)
	return h.number()
}

// parts returns the numbers of parts without their metadata.
func (h *chooser) parts(all []modelio.Part) []int32 {
	numbers := make([]int32, len(all))
	for i, p := range all {
		p.Metadata = nil
		h.scratch.part(&p)
		numbers[i] = h.number()
	}
	return numbers
}

// number returns the number of the text that was just written.
func (h *chooser) number() int32 {
	n, ok := h.numbers[string(h.scratch.dst)]
	if !ok {
		n = int32(len(h.numbers))
		h.numbers[string(h.scratch.dst)] = n
	}
	h.scratch.dst, h.scratch.found = h.scratch.dst[:0], nil
	return n
}

// longest returns what the i-th request continues; nil if it shares nothing with an earlier request.
func (h *chooser) longest(i int) *Continues {
	name, _, ok := ParseID(h.doc.Snapshots[i].ID)
	if !ok {
		return nil
	}
	path, messages := h.paths[i], h.doc.Snapshots[i].Request.Messages
	best, base, depth := (*Continues)(nil), -1, 0
	for j, other := range slices.Backward(h.paths[:i]) {
		if n := shared(other, path, depth); n > depth && h.ids[j] > 0 {
			base, depth = j, n
			best = &Continues{Call: h.ids[j], Messages: n}
		}
	}
	covered := depth
	for d := depth; d >= max(0, depth-sentMost); d-- {
		if d < depth && messages[d].Role != modelio.RoleModel {
			break
		}
		j, sent, n := h.answered(path[:d], messages[d:], i)
		if n == 0 || d+n < covered || d+n == covered && j < base {
			continue
		}
		base, covered = j, d+n
		best = &Continues{Call: h.ids[j], Messages: d + 1, Sent: sent}
	}
	if best == nil || h.doc.Snapshots[base].ID != ID(name, best.Call) {
		return nil // it belongs to another document
	}
	return best
}

// shared returns the number of messages with which both paths begin. It need not be right if it is not above least.
func shared(a, b []int32, least int) (n int) {
	if len(a) <= least || len(b) <= least || a[least] != b[least] {
		return 0
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sentMost limits the messages that are searched for one answer.
const sentMost = 64

// answered returns the latest request before the i-th that has a path and whose answer is at the start of the next
// messages. sent says how the answer was sent back, and n in how many messages. n is 0 if there is no such request.
func (h *chooser) answered(path []int32, next []modelio.Message, i int) (j int, sent []Sent, n int) {
	var ends []int // the requests with the path
	for at := range i {
		if h.ids[at] > 0 && len(h.said[at]) > 0 && slices.Equal(h.paths[at], path) {
			ends = append(ends, at)
		}
	}
	j = -1
	for k := 0; j < 0 && k < min(len(next), sentMost) && len(ends) > 0 && next[k].Role == modelio.RoleModel; k++ {
		parts := h.parts(next[k].Content)
		isThere := func(number int32) bool { return slices.Contains(parts, number) }
		for _, at := range slices.Backward(ends) {
			if slices.ContainsFunc(h.said[at], isThere) {
				j = at
				break
			}
		}
	}
	if j < 0 {
		return 0, nil, 0
	}
	said, left := h.doc.Snapshots[j].said(), map[int32][]int{} // parts that were not yet sent, by number
	for k, number := range h.said[j] {
		left[number] = append(left[number], k)
	}
	for k := 0; k < min(len(next), sentMost) && next[k].Role == modelio.RoleModel && len(next[k].Unknown) == 0; k++ {
		s, found := h.sentIn(&next[k], said, left)
		sent = append(sent, s)
		if found {
			n = k + 1
		}
	}
	sent = sent[:n]
	if n == 1 && sent[0].Parts == nil && sent[0].Metadata == nil {
		sent = nil
	}
	return j, sent, n
}

// sentIn returns how a message was made from parts of an answer, and whether it contains any.
func (h *chooser) sentIn(m *modelio.Message, said []modelio.Part, left map[int32][]int) (s Sent, found bool) {
	if len(m.Metadata) > 0 {
		s.Metadata = m.Metadata
	}
	s.Parts = make([]SentPart, len(m.Content))
	asAnswered := len(m.Content) == len(said)
	for i, number := range h.parts(m.Content) {
		p, unused := &m.Content[i], left[number]
		if _, reserved := p.Unknown["part"]; reserved {
			return Sent{}, false
		}
		if len(unused) == 0 {
			s.Parts[i] = SentPart{Part: p}
			asAnswered = false
			continue
		}
		found = true
		left[number] = unused[1:]
		s.Parts[i].Answer = unused[0]
		if !h.sameMetadata(p, &said[unused[0]]) {
			if s.Parts[i].Metadata = p.Metadata; p.Metadata == nil {
				s.Parts[i].Metadata = modelio.Object{}
			}
		}
		asAnswered = asAnswered && unused[0] == i && s.Parts[i].Metadata == nil
	}
	if asAnswered {
		s.Parts = nil
	}
	return s, found
}

func (h *chooser) sameMetadata(a, b *modelio.Part) bool {
	return h.message(&modelio.Message{Metadata: a.Metadata}) == h.message(&modelio.Message{Metadata: b.Metadata})
}

// holds reports whether the i-th request is what its Continues and its own messages say.
func (h *chooser) holds(i int) bool {
	s := &h.doc.Snapshots[i]
	n := s.Continues
	j, ok := earlier(h.calls, s, i)
	if !ok || n.Messages < 1 {
		return false
	}
	base, path := h.paths[j], h.paths[i]
	sent, _, wrong := n.beginning(&h.doc.Snapshots[j])
	if wrong != "" || n.Messages > len(base)+1 {
		return false
	}
	all := slices.Clone(base[:min(n.Messages, len(base))])
	for k := range sent {
		all = append(all, h.message(&sent[k]))
	}
	return len(all) <= len(path) && slices.Equal(all, path[:len(all)])
}

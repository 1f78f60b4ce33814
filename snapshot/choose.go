package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// A chooser finds what each request of a document continues: the earlier call with which it shares the longest
// beginning, and of several the latest.
//
// All requests are in one tree, in which the path from the root is a conversation and each step a message, so that a
// request is compared with all earlier ones at once. Messages are identified by their content, not by their memory.
type chooser struct {
	doc     *Document
	calls   map[string]int              // indexes of records by their ids
	numbers map[[sha256.Size]byte]int32 // numbers of messages and parts, by their content
	parts   map[partKey]saidPart        // parts that were seen
	scratch coder

	added int              // number of requests in the tree: those before the one that was examined last
	paths [][]int32        // numbers of each request's messages; nil if it was not read yet
	said  [][]modelio.Part // parts of each answer
	steps map[edge]int32   // to the node below
	last  []int            // the latest request that passes through each node
	ends  map[edge]int     // the latest request that ends at a node and whose answer has a part
}

// An edge leads from a node of the tree to another node, or to a part of an answer.
type edge struct{ node, number int32 }

// A saidPart contains the numbers of a part without its metadata, and of its metadata.
type saidPart struct{ bare, metadata int32 }

// A partKey identifies a part: by its text if it is a plain one, like most of a history, and otherwise by its memory.
type partKey struct {
	text string
	part *modelio.Part
}

func newChooser(d *Document) *chooser {
	return &chooser{
		doc:     d,
		calls:   d.indexes(),
		parts:   map[partKey]saidPart{},
		numbers: map[[sha256.Size]byte]int32{},
		scratch: coder{cursor: cursor{form: inCore}},
		paths:   make([][]int32, len(d.Snapshots)),
		said:    make([][]modelio.Part, len(d.Snapshots)),
		steps:   map[edge]int32{},
		last:    []int{-1},
		ends:    map[edge]int{},
	}
}

// chooseFor sets what the i-th request continues, once it is set for those before it.
func (h *chooser) chooseFor(i int) {
	s := &h.doc.Snapshots[i]
	for ; h.added < i; h.added++ {
		h.add(h.added)
	}
	if i == 0 && s.Continues == nil {
		return // most tests make one call, which need not be read
	}
	h.read(i)
	if s.Continues == nil || !h.holds(i) {
		s.Continues = h.longest(i)
	}
}

// read numbers the i-th request and its answer, unless that was done.
func (h *chooser) read(i int) {
	if h.paths[i] != nil {
		return
	}
	s := &h.doc.Snapshots[i]
	path := make([]int32, len(s.Request.Messages))
	for k := range path {
		path[k] = h.message(&s.Request.Messages[k])
	}
	h.paths[i] = path
	h.said[i] = s.said()
}

// message returns the number of a message.
func (h *chooser) message(m *modelio.Message) int32 {
	parts := make([]saidPart, len(m.Content))
	for i := range parts {
		parts[i] = h.part(&m.Content[i])
	}
	h.scratch.message(&modelio.Message{Role: m.Role, Metadata: m.Metadata})
	for _, p := range parts {
		h.scratch.dst = binary.AppendVarint(binary.AppendVarint(h.scratch.dst, int64(p.bare)), int64(p.metadata))
	}
	return h.number()
}

func (h *chooser) part(p *modelio.Part) saidPart {
	key := partKey{part: p}
	if texts.IsPlain([]modelio.Part{*p}, 0) {
		key = partKey{text: *p.Text}
	}
	said, ok := h.parts[key]
	if !ok {
		said = h.numbersOf(p)
		h.parts[key] = said
	}
	return said
}

func (h *chooser) numbersOf(p *modelio.Part) saidPart {
	bare := *p
	bare.Metadata = nil
	h.scratch.part(&bare)
	said := saidPart{bare: h.number(), metadata: -1}
	if len(p.Metadata) > 0 {
		h.scratch.part(&modelio.Part{Metadata: p.Metadata})
		said.metadata = h.number()
	}
	return said
}

// number returns the number of the text that was just written.
func (h *chooser) number() int32 {
	sum := sha256.Sum256(h.scratch.dst)
	h.scratch.dst, h.scratch.found = h.scratch.dst[:0], nil
	n, ok := h.numbers[sum]
	if !ok {
		n = int32(len(h.numbers))
		h.numbers[sum] = n
	}
	return n
}

// add adds the i-th request, which is numbered, to the tree.
func (h *chooser) add(i int) {
	h.read(i)
	if h.doc.Snapshots[i].Number() == 0 {
		return
	}
	node := int32(0)
	for _, number := range h.paths[i] {
		next, ok := h.steps[edge{node, number}]
		if !ok {
			next = int32(len(h.last))
			h.steps[edge{node, number}] = next
			h.last = append(h.last, i)
		}
		h.last[next] = i
		node = next
	}
	for k := range h.said[i] {
		h.ends[edge{node, h.part(&h.said[i][k]).bare}] = i
	}
}

// longest returns what the i-th request continues; nil if it shares nothing with an earlier request.
func (h *chooser) longest(i int) *Continues {
	name, _, ok := ParseID(h.doc.Snapshots[i].ID)
	if !ok {
		return nil
	}
	nodes := []int32{0}
	for _, number := range h.paths[i] {
		next, ok := h.steps[edge{nodes[len(nodes)-1], number}]
		if !ok {
			break
		}
		nodes = append(nodes, next)
	}
	depth := len(nodes) - 1
	best, base, covered := (*Continues)(nil), -1, 0
	if depth > 0 {
		base, covered = h.last[nodes[depth]], depth
		best = &Continues{Call: h.doc.Snapshots[base].Number(), Messages: depth}
	}
	messages := h.doc.Snapshots[i].Request.Messages
	for d := depth; d >= max(0, depth-sentMost); d-- {
		if d < depth && messages[d].Role != modelio.RoleModel {
			break
		}
		j, sent, n := h.answered(nodes[d], messages[d:])
		if n == 0 || d+n < covered || d+n == covered && j < base {
			continue
		}
		base, covered = j, d+n
		best = &Continues{Call: h.doc.Snapshots[j].Number(), Messages: d + 1, Sent: sent}
	}
	if best == nil || h.doc.Snapshots[base].ID != ID(name, best.Call) {
		return nil // it belongs to another document
	}
	return best
}

// sentMost limits the messages that are searched for one answer.
const sentMost = 64

// answered returns the latest request that ends at a node and whose answer is at the start of the next messages. sent
// says how the answer was sent back, and n in how many messages. n is 0 if there is no such request.
func (h *chooser) answered(node int32, next []modelio.Message) (j int, sent []Sent, n int) {
	j = -1
	for k := 0; j < 0 && k < min(len(next), sentMost) && next[k].Role == modelio.RoleModel; k++ {
		for p := range next[k].Content {
			if end, ok := h.ends[edge{node, h.part(&next[k].Content[p]).bare}]; ok && end > j {
				j = end
			}
		}
	}
	if j < 0 {
		return 0, nil, 0
	}
	left := map[int32][]int{} // parts of the answer that were not yet sent, by number
	for k := range h.said[j] {
		number := h.part(&h.said[j][k]).bare
		left[number] = append(left[number], k)
	}
	for k := 0; k < min(len(next), sentMost) && next[k].Role == modelio.RoleModel && len(next[k].Unknown) == 0; k++ {
		s, found := h.sentIn(&next[k], h.said[j], left)
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
	for i := range m.Content {
		p := &m.Content[i]
		number := h.part(p).bare
		unused := left[number]
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
		if answered := &said[unused[0]]; h.part(p).metadata != h.part(answered).metadata {
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

package drift

import (
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Comparer compares the requests of one test. It caches its results: messages that requests share are hashed once,
// and two components are compared once, so finding the nearest of many requests costs one comparison of hashes each. It
// is not safe for concurrent use.
type Comparer struct {
	ignored []string
	seed    maphash.Seed
	shared  map[memory]part
	sizes   map[[2]uint64]int
	commons map[[2]uint64]int
	texts   map[spelledText]*string
}

// NewComparer returns a comparer that leaves out the values at the pointers, like [snapshot.RequestCore].
func NewComparer(ignored []string) *Comparer {
	return &Comparer{
		ignored: ignored, seed: maphash.MakeSeed(), shared: map[memory]part{},
		sizes: map[[2]uint64]int{}, texts: map[spelledText]*string{}, commons: map[[2]uint64]int{},
	}
}

// A Request is a request divided into components (design R3).
type Request struct {
	*modelio.Request
	from int // number of messages left out at the start

	members  map[string]part // all members except messages and tools
	messages []part
	tools    []part
	counts   *wordCounts // of the conversation; nil if not counted yet
}

// A part is a component of a request.
type part struct {
	text json.RawMessage // canonical; nil if absent
	sum  uint64          // hash of text; 0 if absent
}

// A memory identifies a message that several requests share, as the requests of a document do.
type memory struct {
	role  modelio.Role
	first *modelio.Part
	parts int
}

// Request divides a request into components. The request must not be changed afterwards. It fails if a value in it is
// not JSON.
func (c *Comparer) Request(r *modelio.Request) (*Request, error) { return c.RequestFrom(0, r) }

// RequestFrom is [Comparer.Request] without the first messages of a request, up to the one with the index from.
func (c *Comparer) RequestFrom(from int, r *modelio.Request) (*Request, error) {
	left, rest := *r, *r
	left.Messages, rest.Messages, rest.Tools = r.Messages[from:], nil, nil
	taken := &Request{Request: &left, from: from, members: map[string]part{}}
	taken.messages = make([]part, 0, len(left.Messages))
	core, err := coreOf(&rest, c.ignored)
	if err != nil {
		return nil, err
	}
	for name, value := range core.Members() {
		if name != "messages" && !value.IsNull() {
			taken.members[name] = c.part(value.Raw())
		}
	}
	for i := range left.Messages {
		p, err := c.message(from+i, &left.Messages[i])
		if err != nil {
			return nil, err
		}
		taken.messages = append(taken.messages, p)
	}
	for i := range r.Tools {
		p, err := c.element("tools", i, &modelio.Request{Tools: r.Tools[i : i+1]})
		if err != nil {
			return nil, err
		}
		taken.tools = append(taken.tools, p)
	}
	return taken, nil
}

func coreOf(r *modelio.Request, ignored []string) (jsontext.Value, error) {
	core, err := snapshot.RequestCore(r, ignored)
	return jsontext.ValueOf(core), err
}

// part returns the part for a canonical text or nil.
func (c *Comparer) part(text json.RawMessage) part {
	if text == nil {
		return part{}
	}
	return part{text, maphash.Bytes(c.seed, text) | 1}
}

// message returns the part for a message, which is cached if another request shares it.
func (c *Comparer) message(i int, m *modelio.Message) (part, error) {
	alone := len(m.Content) == 0 || len(m.Metadata) > 0 || len(c.below("messages", i)) > 0
	var at memory
	if !alone {
		at = memory{m.Role, &m.Content[0], len(m.Content)}
		if known, ok := c.shared[at]; ok {
			return known, nil
		}
	}
	p, err := c.element("messages", i, &modelio.Request{Messages: []modelio.Message{*m}})
	if !alone {
		c.shared[at] = p
	}
	return p, err
}

// element returns the part for the i-th message or tool of a request; alone is a request that contains nothing else.
func (c *Comparer) element(list string, i int, alone *modelio.Request) (part, error) {
	core, err := coreOf(alone, c.below(list, i))
	return c.part(core.Member(list).Head().Raw()), err // absent if it is ignored
}

// below returns the ignored pointers to the i-th element of a list, or into it, with the index 0 in place of i.
func (c *Comparer) below(list string, i int) (pointers []string) {
	for _, pointer := range c.ignored {
		tokens := strings.SplitN(strings.TrimPrefix(pointer, "/"), "/", 3)
		if len(tokens) > 1 && tokens[0] == list && (tokens[1] == "*" || tokens[1] == strconv.Itoa(i)) {
			tokens[1] = "0"
			pointers = append(pointers, "/"+strings.Join(tokens, "/"))
		}
	}
	return pointers
}

// Differences returns the differences between two requests in document order.
func (c *Comparer) Differences(recorded, got *Request) []Difference {
	var d differ
	c.visit(recorded, got, func(pointer string, r, g part) { d.compare(pointer, r.text, g.text) })
	inorder.By(d.found, func(a, b Difference) int {
		return strings.Compare(topMember(a.Pointer), topMember(b.Pointer))
	})
	return d.found
}

func topMember(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return name
}

// Distance returns the [Size] of the differences between two requests.
func (c *Comparer) Distance(recorded, got *Request) int {
	size := 0
	c.visit(recorded, got, func(_ string, r, g part) { size += c.size(r, g) })
	return size
}

// A Trace identifies a change of a component by hashes of both sides: equal traces are the same change.
type Trace struct {
	Member        string // "messages", "tools" or the name of another member of the request
	recorded, got uint64
}

// Traces returns which components differ.
func (c *Comparer) Traces(recorded, got *Request) (traces []Trace) {
	c.visit(recorded, got, func(pointer string, r, g part) {
		traces = append(traces, Trace{topMember(pointer), r.sum, g.sum})
	})
	return traces
}

// visit calls differ for each pair of components that are not equal.
func (c *Comparer) visit(recorded, got *Request, differ func(pointer string, recorded, got part)) {
	compare := func(pointer string, r, g part) {
		if r.sum != g.sum {
			differ(pointer, r, g)
		}
	}
	for _, name := range inorder.Names(recorded.members, got.members) {
		compare("/"+name, recorded.members[name], got.members[name])
	}
	same := func(a, b part) bool { return a.sum == b.sum }
	align(recorded.messages, got.messages, same, func(i int, r, g part) {
		if i += got.from; g.sum == 0 {
			i += recorded.from - got.from
		}
		compare("/messages/"+strconv.Itoa(i), r, g)
	})
	align(recorded.tools, got.tools, same, func(i int, r, g part) { compare("/tools/"+strconv.Itoa(i), r, g) })
}

// size returns the distance between two components.
func (c *Comparer) size(r, g part) int {
	pair := [2]uint64{r.sum, g.sum}
	size, known := c.sizes[pair]
	if !known {
		size = Size(JSON(r.text, g.text))
		c.sizes[pair] = size
	}
	return size
}

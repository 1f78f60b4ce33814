package drift

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Comparer compares the requests of one test. It caches its results: the messages with which a recent request began
// are hashed once, and two components are compared once, so finding the nearest of many requests costs one comparison
// of hashes each. It is not safe for concurrent use.
type Comparer struct {
	ignored []string
	seed    maphash.Seed
	recent  []*Request       // those that another request may continue, the latest last
	changed []*part          // memory of Likeness
	parts   map[uint64]*part // by the hash of the text
	sizes   map[[2]*part]int
	commons map[[2]*part]int
}

// NewComparer returns a comparer that leaves out the values at the pointers, like [snapshot.RequestCore].
func NewComparer(ignored []string) *Comparer {
	return &Comparer{
		ignored: ignored, seed: maphash.MakeSeed(),
		parts: map[uint64]*part{}, sizes: map[[2]*part]int{}, commons: map[[2]*part]int{},
	}
}

// A Request is a request divided into components (design R3).
type Request struct {
	*modelio.Request
	from int // number of messages left out at the start

	members  map[string]*part // all members except messages and tools
	messages []*part          // nil if ignored
	spoken   []*part          // of the messages, those that are neither ignored nor system messages
	tools    []*part
	counts   []int32 // see counted; nil until it is needed
	length   int     // of all messages but system messages
	extended bool    // another request has its own messages behind these, in the same memory
}

// A part is a component of requests: of one comparer, equal components are one part. An absent one is nil.
type part struct {
	text   json.RawMessage     // canonical
	texts  [Spoken + 1]*string // by spelling; nil until they are needed
	counts []int32             // see counted; nil until it is needed

	left   int   // a count of Likeness, 0 between its calls
	with   *part // the last part that it was compared with, which is probably the next; may be nil
	common int   // what it has in common with that
}

func (p *part) json() json.RawMessage {
	if p == nil {
		return nil
	}
	return p.text
}

func samePart(a, b *part) bool { return a == b }

// Request divides a request into components. The request must not be changed afterwards. It fails if a value in it is
// not JSON.
func (c *Comparer) Request(r *modelio.Request) (*Request, error) { return c.RequestFrom(0, r) }

// RequestFrom is [Comparer.Request] without the first messages of a request, up to the one with the index from.
func (c *Comparer) RequestFrom(from int, r *modelio.Request) (*Request, error) {
	left, rest := *r, *r
	left.Messages, rest.Messages, rest.Tools = r.Messages[from:], nil, nil
	taken := &Request{Request: &left, from: from, members: map[string]*part{}}
	core, err := coreOf(&rest, c.ignored)
	if err != nil {
		return nil, err
	}
	for name, value := range core.Members() {
		if name != "messages" && !value.IsNull() {
			taken.members[name] = c.part(value.Raw())
		}
	}
	base, shared := c.base(taken)
	for i := len(taken.messages); i < len(left.Messages); i++ {
		var p *part
		if i < shared {
			p = base.messages[i]
		} else if p, err = c.element("messages", from+i, &modelio.Request{Messages: left.Messages[i : i+1]}); err != nil {
			return nil, err
		}
		if taken.messages = append(taken.messages, p); left.Messages[i].Role != modelio.RoleSystem && p != nil {
			taken.spoken, taken.length = append(taken.spoken, p), taken.length+len(p.text)
		}
	}
	for i := len(taken.tools); i < len(r.Tools); i++ {
		p, err := c.element("tools", i, &modelio.Request{Tools: r.Tools[i : i+1]})
		if err != nil {
			return nil, err
		}
		taken.tools = append(taken.tools, p)
	}
	c.recent = append(slices.DeleteFunc(c.recent, func(r *Request) bool { return r.extended }), taken)
	c.recent = c.recent[max(0, len(c.recent)-mostRecent):]
	return taken, nil
}

// mostRecent is the number of conversations that take turns, such as those of agents and their subagents.
const mostRecent = 64

// base returns the recent request whose beginning has most messages of r, and their number. If r continues it, they
// share memory, so that the requests of a conversation take as much as the last one.
func (c *Comparer) base(r *Request) (base *Request, shared int) {
	same := texts.Same{}.Messages
	mayShareMore := func(recent *Request) bool { // many share a long beginning, and no more
		return min(len(recent.Messages), len(r.Messages)) > shared && same(recent.Messages[shared], r.Messages[shared])
	}
	for _, recent := range slices.Backward(c.recent) {
		if recent.from != r.from || base != nil && !mayShareMore(recent) {
			continue
		}
		if n := head(recent.Messages, r.Messages, same); base == nil || n > shared {
			base, shared = recent, n
		}
	}
	if base == nil {
		base = &Request{Request: &modelio.Request{}}
	}
	if shared == len(base.messages) {
		r.messages, r.spoken, r.length, base.extended = base.messages, base.spoken, base.length, true
	}
	r.messages = slices.Grow(r.messages, len(r.Messages)-len(r.messages))
	r.tools = slices.Clip(base.tools[:head(base.Tools, r.Tools, texts.Same{}.Tools)])
	return base, shared
}

func coreOf(r *modelio.Request, ignored []string) (jsontext.Value, error) {
	core, err := snapshot.RequestCore(r, ignored)
	return jsontext.ValueOf(core), err
}

// part returns the part for a canonical text or nil.
func (c *Comparer) part(text json.RawMessage) *part {
	if text == nil {
		return nil
	}
	sum := maphash.Bytes(c.seed, text)
	if c.parts[sum] == nil {
		c.parts[sum] = &part{text: text}
	}
	return c.parts[sum]
}

// element returns the part for the i-th message or tool of a request; alone is a request that contains nothing else.
func (c *Comparer) element(list string, i int, alone *modelio.Request) (*part, error) {
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
	c.visit(recorded, got, func(pointer string, r, g *part) { d.compare(pointer, r.json(), g.json()) })
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
func (c *Comparer) Distance(recorded, got *Request) (size int) {
	c.visit(recorded, got, func(_ string, r, g *part) {
		pair := [2]*part{r, g}
		if _, known := c.sizes[pair]; !known {
			c.sizes[pair] = Size(JSON(r.json(), g.json()))
		}
		size += c.sizes[pair]
	})
	return size
}

// A Trace identifies a change of a component: equal traces of one comparer are the same change.
type Trace struct {
	Member        string // "messages", "tools" or the name of another member of the request
	recorded, got *part
}

// Traces returns which components differ.
func (c *Comparer) Traces(recorded, got *Request) (traces []Trace) {
	c.visit(recorded, got, func(pointer string, r, g *part) {
		traces = append(traces, Trace{topMember(pointer), r, g})
	})
	return traces
}

// visit calls differ for each pair of components that are not equal.
func (c *Comparer) visit(recorded, got *Request, differ func(pointer string, recorded, got *part)) {
	compare := func(pointer string, r, g *part) {
		if r != g {
			differ(pointer, r, g)
		}
	}
	for _, name := range inorder.Names(recorded.members, got.members) {
		compare("/"+name, recorded.members[name], got.members[name])
	}
	align(recorded.messages, got.messages, samePart, func(i int, r, g *part) {
		if i += got.from; g == nil {
			i += recorded.from - got.from
		}
		compare("/messages/"+strconv.Itoa(i), r, g)
	})
	align(recorded.tools, got.tools, samePart, func(i int, r, g *part) { compare("/tools/"+strconv.Itoa(i), r, g) })
}

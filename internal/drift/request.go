package drift

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Comparer compares the requests of one test. It remembers what it has measured: the messages
// that requests share are hashed once, and two components are compared once. So the nearest of many
// requests costs a comparison of hashes each. It is for one goroutine at a time.
type Comparer struct {
	ignored []string
	seed    maphash.Seed
	shared  map[*modelio.Part]part
	sizes   map[[2]uint64]int
}

// NewComparer returns a comparer that leaves out what the pointers name (RFC 6901, into a request as
// it stands in a snapshot file).
func NewComparer(ignored []string) *Comparer {
	return &Comparer{ignored, maphash.MakeSeed(), map[*modelio.Part]part{}, map[[2]uint64]int{}}
}

// A Request is a request taken apart into its components (design R3).
type Request struct {
	*modelio.Request
	members  []part // but messages and tools, in the order of their names
	messages []part
	tools    []part
}

// A part is one component of a request.
type part struct {
	name string // of a member or a tool
	sum  uint64 // of its canonical JSON; 0: absent
	size int    // bytes of it
	text func() ([]byte, error)
}

// Request takes a request apart, which must not change from then on. It fails where a value of it is
// no JSON.
func (c *Comparer) Request(r *modelio.Request) (*Request, error) {
	taken := &Request{Request: r}
	for _, name := range memberNames {
		p, err := c.part("/"+name, func() ([]byte, error) { return memberText(r, name) })
		if err != nil {
			return nil, err
		}
		p.name = name
		taken.members = append(taken.members, p)
	}
	for i := range r.Messages {
		p, err := c.message(i, &r.Messages[i])
		if err != nil {
			return nil, err
		}
		taken.messages = append(taken.messages, p)
	}
	for i := range r.Tools {
		p, err := c.part("/tools/"+strconv.Itoa(i), func() ([]byte, error) { return json.Marshal(&r.Tools[i]) })
		if err != nil {
			return nil, err
		}
		p.name = r.Tools[i].Name
		taken.tools = append(taken.tools, p)
	}
	return taken, nil
}

// message returns the part of a message. One that shares its memory with a message of another
// request, as those do that a document holds once, is known.
func (c *Comparer) message(i int, m *modelio.Message) (part, error) {
	pointer := "/messages/" + strconv.Itoa(i)
	text := func() ([]byte, error) { return messageText(m) }
	switch {
	case c.ignores(pointer):
		return c.part(pointer, text)
	case isText(m):
		return c.textPart(m, text), nil
	case len(m.Content) == 0 || len(m.Metadata) > 0:
		return c.part(pointer, text)
	}
	if p, known := c.shared[&m.Content[0]]; known && p.name == string(m.Role) {
		return p, nil
	}
	p, err := c.part(pointer, text)
	p.name = string(m.Role)
	c.shared[&m.Content[0]] = p
	return p, err
}

// textPart is part for most messages: one that is a text is hashed without being written.
func (c *Comparer) textPart(m *modelio.Message, text func() ([]byte, error)) part {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(string(m.Role))
	h.WriteByte(0)
	h.WriteString(*m.Content[0].Text)
	size := len(`{"content":"","role":""}`) + len(*m.Content[0].Text) + len(m.Role)
	return part{name: string(m.Role), sum: h.Sum64() | 1, size: size, text: text}
}

func (c *Comparer) ignores(pointer string) bool {
	return slices.ContainsFunc(c.ignored, func(ignored string) bool {
		return ignored == pointer || strings.HasPrefix(ignored, pointer+"/")
	})
}

// part returns the component whose JSON text returns, without what is ignored of it.
func (c *Comparer) part(pointer string, text func() ([]byte, error)) (part, error) {
	p := part{text: func() ([]byte, error) {
		raw, err := text()
		if err == nil && raw != nil {
			raw, err = canon.KeepNumbers(raw)
		}
		if err == nil && raw != nil && c.ignores(pointer) {
			raw, err = c.without(pointer, raw)
		}
		return raw, err
	}}
	raw, err := p.text()
	if raw != nil {
		p.sum, p.size = maphash.Bytes(c.seed, raw)|1, len(raw)
	}
	return p, err
}

// without returns a value without what is ignored in it; nil: nothing is left of it.
func (c *Comparer) without(pointer string, raw []byte) ([]byte, error) {
	doc, err := jsontext.Parse(raw)
	if err != nil { // unreachable: it is canonical
		return nil, err
	}
	return c.prune(pointer, doc.Root()), nil
}

func (c *Comparer) prune(pointer string, v jsontext.Value) json.RawMessage {
	switch {
	case slices.Contains(c.ignored, pointer):
		return nil
	case v.IsObject():
		members := map[string]json.RawMessage{}
		for name, m := range v.Members() {
			if left := c.prune(pointer+jsontext.PointerTo(name), m); left != nil {
				members[name] = left
			}
		}
		return jsontext.ObjectText(members)
	case v.IsArray():
		elements := []json.RawMessage{}
		for i, e := range v.Elements() {
			if left := c.prune(pointer+"/"+strconv.Itoa(i), e); left != nil {
				elements = append(elements, left)
			}
		}
		return jsontext.List(elements)
	}
	return v.Raw()
}

// Differences returns the differences of two requests in document order.
func (c *Comparer) Differences(recorded, got *Request) []Difference {
	var d differ
	c.visit(recorded, got, func(pointer string, r, g part) {
		d.compare(pointer, r.json(), g.json())
	})
	slices.SortStableFunc(d.found, func(a, b Difference) int {
		return strings.Compare(topMember(a.Pointer), topMember(b.Pointer))
	})
	return d.found
}

func topMember(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return name
}

// Distance is the [Size] of the differences of two requests.
func (c *Comparer) Distance(recorded, got *Request) int {
	size := 0
	c.visit(recorded, got, func(_ string, r, g part) { size += c.size(r, g) })
	return size
}

// A Change is a component of a request that was another one, as a value that can be compared.
type Change struct {
	Member        string // "messages", "tools" or the name of another member of the request
	recorded, got uint64
}

// Changes returns which components differ.
func (c *Comparer) Changes(recorded, got *Request) (changes []Change) {
	c.visit(recorded, got, func(pointer string, r, g part) {
		changes = append(changes, Change{topMember(pointer), r.sum, g.sum})
	})
	return changes
}

// visit calls differ for each pair of components that are not the same.
func (c *Comparer) visit(recorded, got *Request, differ func(pointer string, recorded, got part)) {
	for i, r := range recorded.members {
		if g := got.members[i]; r.sum != g.sum {
			differ("/"+r.name, r, g)
		}
	}
	same := func(a, b part) bool { return a.sum == b.sum }
	align(recorded.messages, got.messages, same, func(i int, r, g part) {
		if r.sum != g.sum {
			differ("/messages/"+strconv.Itoa(i), r, g)
		}
	})
	align(recorded.tools, got.tools, same, func(i int, r, g part) {
		if r.sum != g.sum {
			differ("/tools/"+strconv.Itoa(i), r, g)
		}
	})
}

// size is how far two components are apart.
func (c *Comparer) size(r, g part) int {
	if r.sum == 0 || g.sum == 0 {
		return r.size + g.size + 1
	}
	pair := [2]uint64{r.sum, g.sum}
	size, known := c.sizes[pair]
	if !known {
		size = Size(JSON(r.json(), g.json()))
		c.sizes[pair] = size
	}
	return size
}

// json returns the text of a part, which was made once without an error.
func (p part) json() []byte {
	if p.text == nil {
		return nil
	}
	raw, _ := p.text()
	return raw
}

// memberNames are the members of a request in a snapshot file that are one component each.
var memberNames = []string{
	"api", "frequency_penalty", "max_tokens", "model", "presence_penalty", "prompt", "provider_options",
	"seed", "stop", "temperature", "top_p",
}

// memberText returns a member of a request as it stands in a snapshot file; nil: absent.
func memberText(r *modelio.Request, name string) ([]byte, error) {
	switch name {
	case "api":
		return jsontext.Text(r.API), nil
	case "model":
		return jsontext.Text(r.Model), nil
	case "prompt":
		if r.Prompt != nil {
			return jsontext.Text(*r.Prompt), nil
		}
	case "provider_options":
		if len(r.Options) > 0 {
			return jsontext.ObjectText(r.Options), nil
		}
	case "stop":
		if r.Stop != nil {
			return jsontext.Texts(r.Stop), nil
		}
	}
	for _, p := range modelio.Parameters {
		if number := *p.Field(r); p.Name == name && number != nil {
			return []byte(*number), nil
		}
	}
	return nil, nil
}

// messageText returns a message as it stands in a snapshot file: its content is a string where that
// is one text and nothing else (design R15).
func messageText(m *modelio.Message) ([]byte, error) {
	members := map[string]json.RawMessage{"role": jsontext.Text(m.Role)}
	if len(m.Content) == 1 && isBare(&m.Content[0]) {
		members["content"] = jsontext.Text(*m.Content[0].Text)
	} else {
		parts := make([]json.RawMessage, len(m.Content))
		for i := range m.Content {
			var err error
			if parts[i], err = json.Marshal(&m.Content[i]); err != nil {
				return nil, err
			}
		}
		members["content"] = jsontext.List(parts)
	}
	if len(m.Metadata) > 0 {
		members["metadata"] = jsontext.ObjectText(m.Metadata)
	}
	return jsontext.ObjectText(members), nil
}

// isText reports whether a message says a text and nothing else.
func isText(m *modelio.Message) bool {
	return len(m.Content) == 1 && isBare(&m.Content[0]) && len(m.Metadata) == 0
}

func isBare(p *modelio.Part) bool {
	return p.Text != nil && len(p.Metadata) == 0 && len(p.Unknown) == 0 && p.Custom == nil
}

package modelio

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Numbering replaces values that a provider generates by numbers in order of appearance (design R8), so that no core
// contains a random value. Refs of tool calls become call_1, call_2, …, ids of items item_1, signatures signature_1,
// encrypted reasoning encrypted_1, and ids of answers response_1. Other temporary values of a provider get the name of
// their member. Each kind is counted separately, so that no kind affects the numbers of another.
//
// A value is replaced because of its place, never because of its form. Ids of long-lived objects (files, assistants,
// vector stores) are kept in bodies, since a request with another id is a changed request.
//
// The zero value is ready to number one request and then any number of answers to it. A Numbering is not safe for
// concurrent use.
type Numbering struct {
	counts    map[string]int    // number of values, by kind
	numbers   map[string]string // value -> number
	originals map[string]string // number -> value

	latest    map[string]string // number of the last call with a ref
	open      []openCall        // calls without a response so far, in order
	early     map[string]string // number of a response that came before any call with its ref
	answering bool              // the calls are those of an answer, which early responses may belong to, as in a session
	ofAgents  bool              // the request is to an API of agents, whose sessions the provider names
	ofTasks   bool              // the request is to a server of MCP, which names its tasks

	answer *Numbering // the numbering of the latest answer's first candidate
	broken error      // a value that is not JSON, or nil
}

// Request returns r with its values numbered: first those of the messages, in order, then those of the tools and
// options. It does not change r; unchanged parts are shared. An error names a value in r that is not JSON.
func (n *Numbering) Request(r *Request) (*Request, error) {
	out := *r
	n.ofAgents, n.ofTasks = strings.HasSuffix(r.API, ".agents"), r.API == "mcp"
	var err error
	if out.Messages, err = n.Messages(r.Messages); err != nil {
		return nil, err
	}
	inorder.Edit(&out.Tools, func(t *ToolDefinition) bool { return n.object(&t.Metadata, place{}) })
	err = n.failed("tools")
	n.object(&out.Options, place{})
	if err = cmp.Or(err, n.failed("options")); err != nil {
		return nil, err
	}
	return &out, nil
}

// failed returns and clears the error for a value that is not JSON, with its place.
func (n *Numbering) failed(place string) (err error) {
	if n.broken != nil {
		err = fmt.Errorf("%s: %w", place, n.broken)
	}
	n.broken = nil
	return err
}

// Response returns r, an answer to the request, with numbers that continue those of the request. Each candidate is
// numbered as if it were the only one. A call whose result is already in the request, as in a session that is one call,
// gets the number of that result. It does not change r; unchanged parts are shared. An error names a value in r that is
// not JSON.
func (n *Numbering) Response(r *Response) (*Response, error) {
	out := *r
	out.Candidates = slices.Clone(r.Candidates)
	n.answer = nil
	for i := range out.Candidates {
		c := &out.Candidates[i]
		if !hasNumbers(c.Message) && len(c.Citations) == 0 {
			continue
		}
		own := n.clone()
		own.answering = true
		messages, err := own.Messages([]Message{c.Message})
		if err != nil {
			return nil, fmt.Errorf("candidate %d: %w", i+1, err)
		}
		c.Message = messages[0]
		inorder.Edit(&c.Citations, own.citation)
		if i == 0 {
			n.answer = own
		}
	}
	return &out, nil
}

// citation numbers a source that is a result of a tool call, such as a call's second one: <ref>:1.
func (n *Numbering) citation(c *Citation) (edited bool) {
	at := strings.LastIndexByte(c.Source, ':')
	if at < 0 {
		return false
	}
	ref, ok := n.latest[c.Source[:at]]
	if ok {
		c.Source = ref + c.Source[at:]
	}
	return ok
}

// Messages returns messages with numbers that continue those before, as Request does.
func (n *Numbering) Messages(messages []Message) ([]Message, error) {
	if !slices.ContainsFunc(messages, hasNumbers) {
		return messages, nil
	}
	at := 0
	inorder.Edit(&messages, func(m *Message) bool {
		if n.broken == nil {
			at++
		}
		inContent := n.parts(&m.Content)
		return n.object(&m.Metadata, place{item: true}) || inContent
	})
	if n.broken != nil {
		return nil, n.failed("message " + strconv.Itoa(at))
	}
	return messages, nil
}

// Original returns the provider's value for a number of the request or of the latest answer's first candidate. It
// reports false for any other text, and for a call that had no ref.
func (n *Numbering) Original(number string) (string, bool) {
	for ; n != nil; n = n.answer {
		if value, ok := n.originals[number]; ok {
			return value, true
		}
	}
	return "", false
}

func (n *Numbering) clone() *Numbering {
	return &Numbering{
		counts:    maps.Clone(n.counts),
		numbers:   maps.Clone(n.numbers),
		originals: maps.Clone(n.originals),
		latest:    maps.Clone(n.latest),
		open:      slices.Clone(n.open),
		early:     maps.Clone(n.early),
		ofTasks:   n.ofTasks,
	}
}

// number returns the number of a value, which is the next of its kind for a new value.
func (n *Numbering) number(kind, value string) string {
	if number, ok := n.numbers[value]; ok {
		return number
	}
	number := n.next(kind)
	n.numbers[value], n.originals[number] = number, value
	return number
}

// next returns the next number of a kind.
func (n *Numbering) next(kind string) string {
	if n.counts == nil {
		n.counts, n.numbers = map[string]int{}, map[string]string{}
		n.originals, n.latest, n.early = map[string]string{}, map[string]string{}, map[string]string{}
	}
	n.counts[kind]++
	return kind + "_" + strconv.Itoa(n.counts[kind])
}

// parts numbers a list of parts, and reports whether that changed it.
func (n *Numbering) parts(parts *[]Part) (edited bool) {
	return slices.ContainsFunc(*parts, mayHaveNumbers) && inorder.Edit(parts, n.part)
}

// mayHaveNumbers reports whether a part may contain numbered values. Most parts are plain texts and need no further
// checks.
func mayHaveNumbers(p Part) bool {
	return p.ToolRequest != nil || p.ToolResponse != nil || p.Media != nil || p.Metadata != nil || p.Custom != nil ||
		p.Unknown != nil
}

func hasNumbers(m Message) bool {
	return len(m.Metadata) > 0 || slices.ContainsFunc(m.Content, mayHaveNumbers)
}

func (n *Numbering) part(part *Part) (edited bool) {
	switch {
	case part.ToolRequest != nil:
		edited = n.ref(part)
	case part.ToolResponse != nil:
		edited = n.result(part)
	case part.Media != nil:
		if kind := resourceKind(part.Media.URL); kind != "" {
			media := *part.Media
			media.URL = n.number(kind, media.URL)
			part.Media, edited = &media, true
		}
	}
	for _, o := range []*Object{&part.Metadata, &part.Custom, &part.Unknown} {
		edited = n.object(o, place{item: true}) || edited
	}
	return edited
}

// result numbers a tool's result. It does not change the output of the caller's tools. The result of a provider's own
// tool is returned to the provider unread, so ids in it are numbered.
func (n *Numbering) result(part *Part) bool {
	edited := n.ref(part)
	response := *part.ToolResponse
	inContent := n.parts(&response.Content)
	isProviders := part.Metadata["type"] != nil
	inOutput := isProviders && n.value(&response.Output, place{name: "output"})
	if inContent || inOutput {
		part.ToolResponse = &response
	}
	return edited || inContent || inOutput
}

// object numbers the members of o, which is at p, in the order of their names. It reports whether that changed o.
func (n *Numbering) object(o *Object, p place) (edited bool) {
	if len(*o) == 0 {
		return false
	}
	out := *o
	p.kind = jsontext.WordOf(out["type"])
	for _, name := range inorder.Names(out) {
		text := out[name]
		if !n.value(&text, p.member(name)) {
			continue
		}
		if !edited {
			out, edited = maps.Clone(out), true
		}
		out[name] = text
	}
	*o = out
	return edited
}

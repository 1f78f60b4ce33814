package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// A node is a JSON value. It keeps the order of members and duplicate members.
type node struct {
	names []string // of an object's members, in their original spelling
	items []*node  // members or elements
	list  bool
	leaf  string // a string, number or word in its original spelling; empty for an object or an array
}

func leaf(v any) *node {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: a string
	}
	return &node{leaf: string(text)}
}

// parseNode reads one JSON value.
func parseNode(text []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := nextNode(d)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	return n, err
}

func nextNode(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return leaf(token), nil
	}
	n := &node{list: delim == '['}
	for d.More() {
		if !n.list {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, string(leaf(name).leaf))
		}
		item, err := nextNode(d)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err = d.Token()
	return n, err
}

func (n *node) String() string {
	if n.leaf != "" {
		return n.leaf
	}
	parts := make([]string, len(n.items))
	for i, item := range n.items {
		if parts[i] = item.String(); !n.list {
			parts[i] = n.names[i] + ":" + parts[i]
		}
	}
	if n.list {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (n *node) clone() *node {
	c := *n
	c.names, c.items = slices.Clone(n.names), slices.Clone(n.items)
	for i := range c.items {
		c.items[i] = c.items[i].clone()
	}
	return &c
}

// isText reports whether a node is a string.
func (n *node) isText() bool { return strings.HasPrefix(n.leaf, `"`) }

// text returns the value of a string.
func (n *node) text() (text string) {
	_ = json.Unmarshal([]byte(n.leaf), &text)
	return text
}

// A member is a member of an object in a stream.
type member struct {
	event int
	of    *node
	at    int
}

func (m member) name() string { return (&node{leaf: m.of.names[m.at]}).text() }
func (m member) value() *node { return m.of.items[m.at] }
func (m member) set(v *node)  { m.of.items[m.at] = v }

// insert inserts a member after m.
func (m member) insert(name string, v *node) {
	m.of.names = slices.Insert(m.of.names, m.at+1, leaf(name).leaf)
	m.of.items = slices.Insert(m.of.items, m.at+1, v)
}

func (m member) remove() {
	m.of.names = slices.Delete(m.of.names, m.at, m.at+1)
	m.of.items = slices.Delete(m.of.items, m.at, m.at+1)
}

// members appends all members under n.
func (n *node) members(event int, all []member) []member {
	for i, item := range n.items {
		if !n.list {
			all = append(all, member{event, n, i})
		}
		all = item.members(event, all)
	}
	return all
}

// lists appends all arrays under n that are not empty.
func (n *node) lists(all []*node) []*node {
	if n.list && len(n.items) > 0 {
		all = append(all, n)
	}
	for _, item := range n.items {
		all = item.lists(all)
	}
	return all
}

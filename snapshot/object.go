package snapshot

import "slices"

// A need says when a member is present.
type need uint8

const (
	required need = iota
	nullable      // present, and null where there is no value (design R6)
	ifAny         // present where it is not empty
)

// A member is one member of the objects that are kept in a T.
type member[T any] struct {
	name   string
	need   need
	decode func(*cursor, *T)
	encode func(*builder, *T) // writes the value
	empty  func(*T) bool
}

// field returns the member that is kept at the given place of a T.
func field[T, V any](name string, need need, c codec[V], at func(*T) *V) member[T] {
	return member[T]{
		name: name,
		need: need,
		decode: func(cur *cursor, t *T) {
			if need == nullable && cur.kind() == 'n' {
				cur.skip()
				return
			}
			if v := at(t); c.decode(cur, v) && need == ifAny && c.empty(*v) {
				cur.report(ruleEmpty, "must be left out where it is empty")
			}
		},
		encode: func(b *builder, t *T) {
			if v := *at(t); need == nullable && c.empty(v) {
				b.text = append(b.text, "null"...)
			} else {
				c.encode(b, v)
			}
		},
		empty: func(t *T) bool { return c.empty(*at(t)) },
	}
}

// An object is the schema of a JSON object: its members in the order in which files have
// them, and what is to be checked when all are read.
type object[T any] struct {
	members []member[T]
	check   func(c *cursor, t *T, has func(name string) bool) // may be nil
}

func (o object[T]) codec() codec[T] {
	return codec[T]{decode: o.decode, encode: o.encode, empty: func(T) bool { return false }}
}

func (o object[T]) decode(c *cursor, t *T) bool {
	if c.kind() != '{' {
		return c.mismatch("an object")
	}
	found := len(c.found)
	var seen uint64 // bit i: member i
	next := 0       // files have the members in order, so mostly the next one is at hand
	c.members(func(name string) {
		i := o.index(name, next)
		if i < 0 {
			c.report(ruleUnknown, "is no member of the format")
			c.skip()
			return
		}
		seen |= 1 << i
		next = i + 1
		o.members[i].decode(c, t)
	})
	for i, m := range o.members {
		if m.need != ifAny && seen>>i&1 == 0 {
			c.report(ruleMissing, "is required", m.name)
		}
	}
	if o.check != nil {
		o.check(c, t, func(name string) bool { return seen>>o.index(name, 0)&1 == 1 })
	}
	return len(c.found) == found
}

// A part is some of an object's members, by name: nil stands for the whole of a member, else it
// is a list of objects, and the part that of each.
type part map[string]part

// without returns all members of o but those named.
func (o object[T]) without(names ...string) part {
	rest := part{}
	for _, m := range o.members {
		if !slices.Contains(names, m.name) {
			rest[m.name] = nil
		}
	}
	return rest
}

// only returns o with the members alone that are in p, to be written.
func (o object[T]) only(p part) object[T] {
	var some object[T]
	for _, m := range o.members {
		if _, ok := p[m.name]; ok {
			some.members = append(some.members, m)
		}
	}
	return some
}

// index returns the index of the named member, searching from the given one on; -1: none.
func (o object[T]) index(name string, from int) int {
	for n := range o.members {
		if i := (from + n) % len(o.members); o.members[i].name == name {
			return i
		}
	}
	return -1
}

func (o object[T]) encode(b *builder, t T) {
	b.text = append(b.text, '{')
	first := true
	for _, m := range o.members {
		if m.need == ifAny && m.empty(&t) {
			continue
		}
		if !first {
			b.text = append(b.text, ',')
		}
		first = false
		b.text = append(b.text, '"')
		b.text = append(b.text, m.name...)
		b.text = append(b.text, `":`...)
		b.enter(step{name: m.name, member: true})
		m.encode(b, &t)
		b.leave()
	}
	b.text = append(b.text, '}')
}

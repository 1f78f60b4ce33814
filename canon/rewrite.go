package canon

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// canonicalize returns the canonical form of src; policy says what to do with numbers that do not fit. An error is an
// *Error.
func canonicalize(src []byte, policy numberPolicy) ([]byte, error) {
	if Canonical(src) && (policy == rejectNumbers || !bytes.Contains(src, []byte(keptName+`":`))) {
		return bytes.Clone(src), nil // no name ends in $number
	}
	doc, err := jsontext.ParseStrict(src)
	if err != nil {
		return nil, err
	}
	w := writer{dst: make([]byte, 0, len(src)), policy: policy}
	if err := w.value(doc.Root(), 0); err != nil {
		return nil, err
	}
	return w.dst, nil
}

// A writer writes values in canonical form.
type writer struct {
	dst    []byte
	policy numberPolicy
	open   []member // members of the objects being written, innermost last
}

type member struct {
	name  string
	value jsontext.Value
}

// value writes v, which is nested in depth arrays and objects.
func (w *writer) value(v jsontext.Value, depth int) error {
	raw := v.Raw()
	switch raw[0] {
	case '{':
		return w.object(v, depth+1)
	case '[':
		return w.array(v, depth+1)
	case '"':
		w.dst = jsontext.AppendCanonical(w.dst, raw)
	case 't', 'f', 'n':
		w.dst = append(w.dst, raw...)
	default:
		return w.number(v, depth)
	}
	return nil
}

func (w *writer) array(v jsontext.Value, depth int) error {
	w.dst = append(w.dst, '[')
	for i, e := range v.Elements() {
		w.dst = jsontext.AppendComma(w.dst, i)
		if e.NumberKind() == jsontext.PlainNumber { // the usual case in embeddings, which have many
			w.dst = append(w.dst, e.Raw()...)
			continue
		}
		if err := w.value(e, depth); err != nil {
			return jsontext.Within(strconv.Itoa(i), err)
		}
	}
	w.dst = append(w.dst, ']')
	return nil
}

func (w *writer) object(v jsontext.Value, depth int) error {
	first := len(w.open)
	defer func() { w.open = w.open[:first] }()
	for name, value := range v.Members() {
		w.open = append(w.open, member{name, value})
	}
	members := w.open[first:]
	if len(members) == 1 && w.policy != rejectNumbers {
		written, err := w.single(v, &members[0])
		if written || err != nil {
			return err
		}
	}
	byName := func(a, b member) int { return jsontext.CompareNames(a.name, b.name) }
	if !slices.IsSortedFunc(members, byName) {
		slices.SortFunc(members, byName)
	}
	w.dst = append(w.dst, '{')
	for i, m := range members {
		w.dst = append(jsontext.AppendText(jsontext.AppendComma(w.dst, i), m.name), ':')
		if err := w.value(m.value, depth); err != nil {
			return jsontext.Within(m.name, err)
		}
	}
	w.dst = append(w.dst, '}')
	return nil
}

// number writes a number, which is nested in depth arrays and objects.
func (w *writer) number(v jsontext.Value, depth int) error {
	text := v.Raw()
	dst, err := appendNumber(w.dst, text, v.NumberKind())
	if err != nil {
		if w.policy == keepNumbers && depth == MaxDepth {
			err = fmt.Errorf("%w: no level left to keep the number in an object", ErrDepth)
		}
		if w.policy != keepNumbers || depth == MaxDepth {
			return &Error{Offset: v.Offset(), Err: err}
		}
		dst = fmt.Appendf(w.dst, `{"%s":"%s"}`, keptName, text)
	}
	w.dst = dst
	return nil
}

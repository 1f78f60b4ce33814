package modelio

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A jsonWriter appends JSON text. The first error stays, and what follows it is of no use.
type jsonWriter struct {
	buf  []byte
	path []string
	err  *FormatError
}

// writeJSON returns the JSON text of value; what names its type for errors.
func writeJSON[T any](what string, value *T, write func(*jsonWriter, *T)) ([]byte, error) {
	var w jsonWriter
	write(&w, value)
	if w.err != nil {
		w.err.Type = what
		return nil, w.err
	}
	return w.buf, nil
}

// fail notes a problem at the place below where the writer is.
func (w *jsonWriter) fail(below, problem string) {
	if w.err == nil {
		w.err = &FormatError{Pointer: jsontext.PointerTo(w.path...) + below, Problem: problem}
	}
}

// text writes a string. What is no UTF-8 would come back as other text, so it is refused.
func (w *jsonWriter) text(s string) {
	if !utf8.ValidString(s) {
		w.fail("", "string is not UTF-8")
		return
	}
	w.buf = jsontext.AppendText(w.buf, s)
}

// raw writes a value as it is spelled, if it is one that can be read again.
func (w *jsonWriter) raw(value json.RawMessage) {
	if _, err := parseJSON(value); err != nil {
		err := err.(*FormatError) // it makes no other
		w.fail(err.Pointer, err.Problem)
		return
	}
	w.buf = append(w.buf, value...)
}

// object writes the members that fields writes, which must come sorted by name, and those of
// unknown at their places among them. A field wins over an unknown member of its name.
func (w *jsonWriter) object(unknown Object, fields func(*members)) {
	m := members{w: w, unknown: unknown}
	for name := range unknown {
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	w.buf = append(w.buf, '{')
	m.empty = len(w.buf)
	fields(&m)
	for len(m.names) > 0 {
		m.nextUnknown()
	}
	w.buf = append(w.buf, '}')
}

// members writes the members of one object.
type members struct {
	w       *jsonWriter
	unknown Object
	names   []string // of the unknown members not yet written, sorted
	empty   int      // length of the buffer where nothing is written yet
}

func (m *members) nextUnknown() {
	name := m.names[0]
	m.names = m.names[1:]
	m.put(name, func() { m.w.raw(m.unknown[name]) })
}

func (m *members) put(name string, value func()) {
	if len(m.w.buf) > m.empty {
		m.w.buf = append(m.w.buf, ',')
	}
	m.w.path = append(m.w.path, name)
	m.w.text(name)
	m.w.buf = append(m.w.buf, ':')
	value()
	m.w.path = m.w.path[:len(m.w.path)-1]
}

// field writes the member of a field that is set.
func (m *members) field(name string, value func()) {
	for len(m.names) > 0 && m.names[0] < name {
		m.nextUnknown()
	}
	if len(m.names) > 0 && m.names[0] == name {
		m.names = m.names[1:]
	}
	m.put(name, value)
}

// spelled reports whether unknown holds the member name as it was read: null, or a zero value
// that its field could not tell from an absent one.
func (m *members) spelled(name string) bool {
	_, ok := m.unknown[name]
	return ok
}

// required writes a string, also when it is empty.
func (m *members) required(name, value string) {
	if value != "" || !m.spelled(name) {
		m.field(name, func() { m.w.text(value) })
	}
}

// text writes a string unless it is empty.
func (m *members) text(name, value string) {
	if value != "" {
		m.field(name, func() { m.w.text(value) })
	}
}

func (m *members) optionalText(name string, value *string) {
	if value != nil {
		m.field(name, func() { m.w.text(*value) })
	}
}

func (m *members) optionalBool(name string, value *bool) {
	if value != nil {
		m.field(name, func() { m.w.buf = strconv.AppendBool(m.w.buf, *value) })
	}
}

// trueOnly writes a boolean if it is true.
func (m *members) trueOnly(name string, value bool) {
	if value {
		m.optionalBool(name, &value)
	}
}

// nonzero writes a number unless it is zero.
func (m *members) nonzero(name string, value int64) {
	if value != 0 {
		m.optionalInt(name, &value)
	}
}

func (m *members) optionalInt(name string, value *int64) {
	if value != nil {
		m.field(name, func() { m.w.buf = strconv.AppendInt(m.w.buf, *value, 10) })
	}
}

func (m *members) raw(name string, value json.RawMessage) {
	if value != nil {
		m.field(name, func() { m.w.raw(value) })
	}
}

func (m *members) object(name string, value Object) {
	if value != nil {
		m.field(name, func() { m.w.object(value, func(*members) {}) })
	}
}

// writeOptional writes a value that may be absent, with write.
func writeOptional[T any](m *members, name string, value *T, write func(*jsonWriter, *T)) {
	if value != nil {
		m.field(name, func() { write(m.w, value) })
	}
}

// writeRequiredList writes a list, also when it is nil, as an empty one.
func writeRequiredList[T any](m *members, name string, values []T, write func(*jsonWriter, *T)) {
	if values == nil && !m.spelled(name) {
		values = []T{}
	}
	writeList(m, name, values, write)
}

// writeList writes a list unless it is nil, each value with write.
func writeList[T any](m *members, name string, values []T, write func(*jsonWriter, *T)) {
	if values == nil {
		return
	}
	m.field(name, func() {
		w := m.w
		w.buf = append(w.buf, '[')
		for i := range values {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.path = append(w.path, strconv.Itoa(i))
			write(w, &values[i])
			w.path = w.path[:len(w.path)-1]
		}
		w.buf = append(w.buf, ']')
	})
}

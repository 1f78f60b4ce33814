package fields_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// A parcel keeps what it does not know.
type parcel struct {
	To      string                     `json:"to"`
	Stamps  []stamp                    `json:"stamps" is:"required"`
	Note    string                     `json:"note,omitzero"`
	Inside  json.RawMessage            `json:"inside,omitzero"`
	Fragile *bool                      `json:"fragile,omitzero"`
	Unknown map[string]json.RawMessage `json:"-" is:"unknown"`
}

// A stamp refuses what it does not know.
type stamp struct {
	Motif  string            `json:"motif" is:"shout"`
	Labels map[string]string `json:"labels"`
	Place  struct {
		Corner bool `json:"corner,omitzero"`
	} `json:"place,omitzero"`
}

func newFormat() *fields.Format {
	return &fields.Format{
		Named: map[string]fields.Reading{"shout": fields.As(func(r *fields.Reader, v jsontext.Value, s *string) {
			if r.Want(v, "a string") {
				*s = strings.ToUpper(v.Word())
			}
		})},
		Checks: map[reflect.Type]func(*fields.Faults, any){
			reflect.TypeFor[parcel](): func(found *fields.Faults, p any) {
				if len(p.(*parcel).Stamps) > 2 {
					found.In("stamps", func() { found.Report("many", "has %d", len(p.(*parcel).Stamps)) })
				}
			},
		},
		Kind:    fields.Problem{Rule: "kind", Text: "must be %s, is %s"},
		Missing: fields.Problem{Rule: "missing", Text: "is required"},
		Null:    fields.Problem{Rule: "missing", Text: "must not be null"},
		Unknown: func(r *fields.Reader, _ string, known []string) {
			r.Report("unknown", "there are %s", strings.Join(known, ", "))
		},
	}
}

func read(t *testing.T, f *fields.Format, text string) (p parcel, faults []fields.Fault) {
	t.Helper()
	doc, err := jsontext.ParseStrict([]byte(text))
	require.NoError(t, err)
	return p, f.Read(doc.Root(), &p)
}

func TestRoundTrips(t *testing.T) {
	f := newFormat()
	for _, text := range []string{
		`{"stamps":[],"to":""}`,
		`{"aa":1.0,"fragile":false,"inside":null,"note":"","stamps":[],"to":"me","zz":{"b":1, "a":2}}`,
		`{"fragile":null,"note":null,"stamps":null,"to":null}`,
	} {
		p, faults := read(t, f, text)
		require.Empty(t, faults, text)
		written, faults := f.Write(&p)
		require.Empty(t, faults, text)
		require.Equal(t, text, string(written))
	}
	p, faults := read(t, f, `{"to":"a","stamps":[
		{"motif":"b","labels":{"c":"d"},"place":{"corner":true}},{"motif":"e","labels":null}]}`)
	require.Empty(t, faults)
	require.Equal(t, "B", p.Stamps[0].Motif)
	require.Equal(t, map[string]string{"c": "d"}, p.Stamps[0].Labels)
	require.True(t, p.Stamps[0].Place.Corner)
	require.Nil(t, p.Stamps[1].Labels)
}

func TestFaults(t *testing.T) {
	f := newFormat()
	const text = `{"stamps":[{"motif":null,"labels":[]},3,{"motif":"a","place":null,"mtif":0}],"note":1,"fragile":{}}`
	_, faults := read(t, f, text)
	require.Equal(t, []fields.Fault{
		{"/fragile", "kind", "must be a boolean, is an object"},
		{"/note", "kind", "must be a string, is a number"},
		{"/stamps/0/labels", "kind", "must be an object, is a list"},
		{"/stamps/0/motif", "missing", "must not be null"},
		{"/stamps/1", "kind", "must be an object, is a number"},
		{"/stamps/2/place", "kind", "must be an object, is null"},
		{"/stamps/2/mtif", "unknown", "there are labels, motif, place"},
		{"/to", "missing", "is required"},
		{"/stamps", "many", "has 3"},
	}, faults)

	f.FirstOnly = true
	_, faults = read(t, f, text)
	require.Len(t, faults, 1)
}

func TestWriteFaults(t *testing.T) {
	f := newFormat()
	_, faults := f.Write(&parcel{To: "\xff", Inside: json.RawMessage(`{"a":`), Stamps: make([]stamp, 3)})
	require.Equal(t, []fields.Fault{
		{"/inside/a", "", "invalid JSON: unexpected end, want a value"},
		{"/to", "", "string is not UTF-8"},
		{"/stamps", "many", "has 3"},
	}, faults)
}

func TestMembers(t *testing.T) {
	members, unknown := fields.Members(reflect.TypeFor[stamp]())
	require.Equal(t, -1, unknown)
	require.Len(t, members, 3)
	require.Equal(t, "motif", members[0].Name)
	require.Equal(t, "shout", members[0].Is)
	require.True(t, members[0].Required)
	_, unknown = fields.Members(reflect.TypeFor[parcel]())
	require.Equal(t, 5, unknown)
	require.Panics(t, func() { _, _ = new(fields.Format).Write(&stamp{}) }, "a tag names a reading that there is not")
}

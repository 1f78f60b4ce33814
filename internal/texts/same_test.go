package texts_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// fill gives v, and all that it leads to, values that say something. What leads to its own type ends at depth 4.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a word")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(modelio.Object{"member": json.RawMessage(`"a value"`)}))
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`"a text"`))
		case depth < 4:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0), depth)
			fill(v.Index(1), depth)
		}
	}
}

// alter calls one with each single value below v changed, by its path, and then as it was.
func alter(v reflect.Value, path string, one func(path string)) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	with := func(value any, what string) {
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
		one(path + what)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.String:
		with(was.String()+"!", "")
	case reflect.Bool:
		with(false, "")
	case reflect.Pointer:
		with(reflect.Zero(v.Type()).Interface(), " absent")
		alter(v.Elem(), path, one)
	case reflect.Struct:
		for i := range v.NumField() {
			alter(v.Field(i), path+"."+v.Type().Field(i).Name, one)
		}
	case reflect.Map:
		with(modelio.Object{"member": json.RawMessage(`"another"`)}, " value")
		with(modelio.Object{"name": json.RawMessage(`"a value"`)}, " name")
		with(modelio.Object(nil), " absent")
	case reflect.Slice:
		if v.Len() > 0 {
			with(reflect.Zero(v.Type()).Interface(), " absent")
		}
		if v.Type() != reflect.TypeFor[json.RawMessage]() {
			for i := range v.Len() {
				alter(v.Index(i), path, one)
			}
		}
	}
}

// TestSame alters each value that a request can have, so that one that a new field adds is not forgotten.
func TestSame(t *testing.T) {
	var a, b modelio.Request
	fill(reflect.ValueOf(&a).Elem(), 0)
	fill(reflect.ValueOf(&b).Elem(), 0)
	require.True(t, texts.Same{}.Requests(&a, &b))
	n := 0
	alter(reflect.ValueOf(&b).Elem(), "request", func(path string) {
		n++
		require.False(t, texts.Same{}.Requests(&a, &b), path)
	})
	require.Greater(t, n, 100)
	require.True(t, texts.Same{}.Requests(&a, &b))
}

// TestSameWithout holds that no text goes unseen that may look like a placeholder.
func TestSameWithout(t *testing.T) {
	without := texts.Same{Without: "{{"}
	for _, r := range []modelio.Request{
		{Model: "{{"},
		{Messages: []modelio.Message{{Content: []modelio.Part{modelio.TextPart("a {{name}}")}}}},
		{Options: modelio.Object{"a": json.RawMessage(`"{{b"`)}},
		{Options: modelio.Object{"{{": json.RawMessage(`1`)}},
		{Stop: []string{"{{"}},
		{Tools: []modelio.ToolDefinition{{Description: "{{"}}},
	} {
		require.False(t, without.Requests(&r, &r))
		require.True(t, texts.Same{}.Requests(&r, &r))
	}
}

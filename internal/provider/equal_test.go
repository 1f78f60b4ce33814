package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// equalJSON compares the values of two texts. Numbers are equal if their spelling is.
func equalJSON(want, got []byte) error {
	a, err := normalText(want)
	if err != nil {
		return err
	}
	b, err := normalText(got)
	if err != nil {
		return err
	}
	return equalText(a, b)
}

func equalText(want, got string) error {
	if want == got {
		return nil
	}
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-80):min(len(s), i+120)] }
	return fmt.Errorf("not the same:\n want … %s …\n got  … %s …", around(want), around(got))
}

func normalText(text []byte) (string, error) {
	doc, err := jsontext.Parse(text)
	if err != nil {
		return "", err
	}
	return string(appendNormal(nil, doc.Root())), nil
}

// appendNormal appends v recursively, with the members of objects sorted by name.
func appendNormal(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsObject():
		o := maps.Collect(v.Members())
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(o)) {
			dst = append(jsontext.AppendText(dst, name), ':')
			dst = append(appendNormal(dst, o[name]), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), '}')
	case v.IsArray():
		dst = append(dst, '[')
		for _, e := range v.Elements() {
			dst = append(appendNormal(dst, e), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), ']')
	}
	if text, ok := v.Text(); ok {
		return jsontext.AppendText(dst, text)
	}
	return append(dst, v.Raw()...)
}

// equalRequests compares requests. nil and empty differ. Raw values are compared as JSON values, since encoding does
// not keep the order of members.
func equalRequests(want, got *modelio.Request) error {
	return equalText(describe(want), describe(got))
}

// describe returns a text that two values share only if they are equal.
func describe(v any) string { return string(appendDescribed(nil, reflect.ValueOf(v))) }

func appendDescribed(dst []byte, v reflect.Value) []byte {
	if raw, ok := v.Interface().(json.RawMessage); ok && raw != nil {
		doc, err := jsontext.Parse(raw)
		if err != nil {
			return fmt.Appendf(dst, "%q: %v", raw, err)
		}
		return appendNormal(dst, doc.Root())
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(dst, "nil"...)
		}
		return appendDescribed(append(dst, '&'), v.Elem())
	case reflect.Struct:
		dst = append(dst, '{')
		for i := range v.NumField() {
			dst = append(append(dst, v.Type().Field(i).Name...), ": "...)
			dst = append(appendDescribed(dst, v.Field(i)), ", "...)
		}
		return append(dst, '}')
	case reflect.Map:
		dst = append(dst, '{')
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			dst = append(strconv.AppendQuote(dst, key.String()), ": "...)
			dst = append(appendDescribed(dst, v.MapIndex(key)), ", "...)
		}
		return append(dst, '}')
	case reflect.Slice:
		if v.IsNil() {
			return append(dst, "nil"...)
		}
		dst = append(dst, '{')
		for i := range v.Len() {
			dst = append(appendDescribed(dst, v.Index(i)), ", "...)
		}
		return append(dst, '}')
	case reflect.String:
		return strconv.AppendQuote(dst, v.String())
	}
	return fmt.Appendf(dst, "%#v", v.Interface())
}

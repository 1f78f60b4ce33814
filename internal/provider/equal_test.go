package provider

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// equalJSON compares two texts by what they say. Numbers are equal if they are spelled alike.
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
	return string(rebuild(doc.Root())), nil
}

// rebuild writes v again, value by value.
func rebuild(v jsontext.Value) json.RawMessage {
	switch {
	case v.IsObject():
		o := v.Object()
		for name, m := range v.Members() {
			o[name] = rebuild(m)
		}
		return jsontext.ObjectText(o)
	case v.IsArray():
		var all []json.RawMessage
		for _, e := range v.Elements() {
			all = append(all, rebuild(e))
		}
		return jsontext.List(all)
	}
	if text, ok := v.Text(); ok {
		return jsontext.Text(text)
	}
	return v.Raw()
}

// equalRequests compares requests, in which nil and empty are not the same; raw values by
// what they say, as encoding does not keep the order of members.
func equalRequests(want, got *modelio.Request) error {
	return equalText(describe(reflect.ValueOf(want)), describe(reflect.ValueOf(got)))
}

// describe returns a text that two values share only if they are equal.
func describe(v reflect.Value) string {
	if raw, ok := v.Interface().(json.RawMessage); ok && raw != nil {
		text, err := normalText(raw)
		if err != nil {
			return fmt.Sprintf("%q: %v", raw, err)
		}
		return text
	}
	var all []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return "&" + describe(v.Elem())
		}
		return "nil"
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, v.Type().Field(i).Name+": "+describe(v.Field(i)))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			all = append(all, describe(key)+": "+describe(v.MapIndex(key)))
		}
		slices.Sort(all)
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		for i := range v.Len() {
			all = append(all, describe(v.Index(i)))
		}
	default:
		return fmt.Sprintf("%#v", v.Interface())
	}
	return "{" + strings.Join(all, ", ") + "}"
}

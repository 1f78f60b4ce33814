// Package secret knows what must not be stored: the values of this process's credentials
// (design R12).
package secret

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Value is the value of a variable that must not be stored.
type Value struct{ Variable, value string }

// Values are all of them.
type Values []Value

// endings are what the names of variables with credentials end with.
var endings = []string{"_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY"}

// least is the length, in bytes, of the shortest value that is taken for a credential. Like
// all of them it has a digit: words do not.
const least = 16

// Of returns the secrets of an environment.
func Of(environment []string) (all Values) {
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		ends := func(ending string) bool { return strings.HasSuffix(strings.ToUpper(name), ending) }
		if len(value) >= least && strings.ContainsFunc(value, unicode.IsDigit) && slices.ContainsFunc(endings, ends) {
			all = append(all, Value{name, value})
		}
	}
	return all
}

// In returns the first of the values that a text holds, as it is or as in a URL.
func (all Values) In(text []byte) (Value, bool) {
	for _, v := range all {
		if bytes.Contains(text, []byte(v.value)) || bytes.Contains(text, []byte(url.QueryEscape(v.value))) {
			return v, true
		}
	}
	return Value{}, false
}

// Find returns the first of the values that a JSON text holds in a string or in the name of a member,
// and the RFC 6901 pointer of that.
func (all Values) Find(text []byte) (v Value, pointer string, found bool) {
	doc, err := jsontext.Parse(text)
	if err != nil {
		v, found = all.In(text)
		return v, "", found
	}
	return all.find(doc.Root())
}

func (all Values) find(at jsontext.Value) (v Value, pointer string, found bool) {
	if text, ok := at.Text(); ok {
		v, found = all.In([]byte(text))
		return v, "", found
	}
	for name, member := range at.Members() {
		v, pointer, found = all.find(member)
		if !found {
			v, found = all.In([]byte(name))
		}
		if found {
			return v, jsontext.PointerTo(name) + pointer, true
		}
	}
	for i, element := range at.Elements() {
		if v, pointer, found = all.find(element); found {
			return v, "/" + strconv.Itoa(i) + pointer, true
		}
	}
	return Value{}, "", false
}

package reading

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A view is a value as a program sees it. more are the further values of a repeated member if the program merges them.
type view struct {
	value jsontext.Value
	more  []jsontext.Value
	way   *way
}

// parse returns the value of a text. It reports false if programs end with an error.
func (w *way) parse(text []byte) (view, bool) {
	if jsontext.InvalidUTF8(text) >= 0 {
		text = []byte(string([]rune(string(text)))) // replaces invalid UTF-8 like encoding/json
	}
	if w.begins {
		text = first(text)
	}
	doc, err := jsontext.ParseLenient(bytes.TrimSpace(text))
	if err != nil || w.strict && isMistyped(doc.Root()) {
		return view{}, false
	}
	return view{value: doc.Root(), way: w}, true
}

// first returns the first of the values in a text.
func first(text []byte) []byte {
	var value json.RawMessage
	if json.NewDecoder(bytes.NewReader(text)).Decode(&value) != nil {
		return nil
	}
	return value
}

// at returns the member at a path.
func (v view) at(path ...string) view {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v view) member(name string) view {
	found := view{way: v.way}
	found.collect(v.value, name)
	for _, value := range v.more {
		found.collect(value, name)
	}
	return found
}

// collect adds the members of an object that have a name.
func (v *view) collect(object jsontext.Value, name string) {
	for its, member := range object.Members() {
		switch {
		case its != name && !(v.way.folds && strings.EqualFold(its, name)), v.way.first && v.value.Present():
		case v.way.merges && v.value.Present():
			v.more = append(v.more, member)
		default:
			v.value = member
		}
	}
}

// last returns the value that remains after merging.
func (v view) last() jsontext.Value {
	last := v.value
	for _, value := range v.more {
		if !value.IsNull() {
			last = value
		}
	}
	return last
}

func (v view) isText() bool { return v.last().IsString() }

// text returns what a program reads where it expects a text. Other values may be converted to text: objects always,
// unless they are empty; numbers and literals by programs that are not strict; and any value by gjson. Otherwise the
// result is empty.
func (v view) text() string {
	last := v.last()
	switch text, ok := last.Text(); {
	case ok:
		return text
	case last.IsString():
		return replaced(last)
	case v.way == nil || !last.Present() || last.IsNull():
		return ""
	case isScalar(last) && v.way.strict:
		return ""
	case isScalar(last):
		return spelledShort(last)
	}
	v.way.odd = true
	if v.way.first || last.IsObject() && !last.IsEmpty() {
		return string(last.Raw())
	}
	return ""
}

// spelledShort returns a number, true or false in gjson's text form: an integer as it is, and any other number without
// trailing zeros.
func spelledShort(v jsontext.Value) string {
	raw := string(v.Raw())
	if number, err := strconv.ParseFloat(raw, 64); err == nil && strings.ContainsAny(raw, ".eE") {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return raw
}

// replaced returns a text in which lone surrogates are replaced.
func replaced(v jsontext.Value) (text string) {
	_ = json.Unmarshal(v.Raw(), &text)
	return text
}

// has reports whether an object has one of the members with a value other than null.
func (v view) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		last := v.at(name).last()
		return last.Present() && !last.IsNull()
	})
}

// input returns a value as it is spelled, or the text of a string.
func (v view) input() string {
	if v.isText() {
		return v.text()
	}
	return string(v.last().Raw())
}

// withoutStatus returns an object in one spelling, without its status and the members that are null.
func (v view) withoutStatus() string {
	var all map[string]any
	canonical, err := canon.JSON(v.last().Raw())
	if err != nil || json.Unmarshal(canonical, &all) != nil {
		return string(v.last().Raw())
	}
	maps.DeleteFunc(all, func(name string, m any) bool { return name == "status" || m == nil })
	text, _ := json.Marshal(all) // it was JSON
	return string(text)
}

// number returns an integer; 0 for any other value.
func (v view) number() int64 {
	if n, ok := v.last().Count(); ok {
		return *n
	}
	if n, ok := v.last().Number(); ok {
		f, _ := n.Float64()
		return int64(f)
	}
	return 0
}

// texts returns the texts of the blocks in a list.
func (v view) texts() (all []view) {
	for _, block := range v.each() {
		all = append(all, block.at("text"))
	}
	return all
}

// isBlocks reports whether a value is a list of blocks of content, in Mistral's form.
func (v view) isBlocks() bool {
	for _, e := range v.last().Elements() {
		if !slices.Contains([]string{"text", "thinking", "reference"}, e.Member("type").Word()) {
			return false
		}
	}
	return v.last().Head().Present()
}

func (v view) isTrue() bool { return string(v.last().Raw()) == "true" }

// each yields the elements of an array. For openai-go a list that contains a value other than an object is empty.
func (v view) each() iter.Seq2[int, view] {
	return func(yield func(int, view) bool) {
		if v.way.first && isOfOthers(v.last()) {
			return
		}
		for i, element := range v.last().Elements() {
			if !yield(i, view{value: element, way: v.way}) {
				return
			}
		}
	}
}

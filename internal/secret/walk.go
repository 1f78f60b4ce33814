package secret

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Holds reports whether one of the strings of a value, such as a record, is secret. It copies no text: a record is
// large. It looks once at what it is asked of again: in a conversation, each request has the messages of those before.
// The name of a member is looked at together with what it names. Texts that are in the memory of beside are left to who
// looks at that, where they stand as they are.
func (s *Scanner) Holds(value any, beside []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.Looker()
	l.clean, l.beside = s.clean, beside
	return l.holds(reflect.ValueOf(value))
}

// A Looker looks for secrets in values that share memory, at what they share once.
type Looker struct {
	scanner *Scanner
	view    view
	looked  map[unsafe.Pointer]int // at how many elements of the slices that begin here, and at maps
	clean   map[string]bool        // of the scanner; nil means texts are not kept
	beside  []byte                 // memory that is looked at by others
}

// Looker returns a looker that has looked at nothing.
func (s *Scanner) Looker() *Looker {
	return &Looker{scanner: s, view: view{index: s.index}, looked: map[unsafe.Pointer]int{}}
}

// Holds is [Scanner.Holds], without what values before it have shown to be clean.
func (l *Looker) Holds(value any) bool {
	l.scanner.mu.RLock()
	defer l.scanner.mu.RUnlock()
	return l.holds(reflect.ValueOf(value))
}

func (l *Looker) holds(at reflect.Value) bool {
	switch at.Kind() {
	case reflect.String:
		return l.secret(at.String(), false)
	case reflect.Pointer:
		return !at.IsNil() && l.holds(at.Elem())
	case reflect.Struct:
		for i := range at.NumField() {
			if member := at.Field(i); member.CanInterface() && l.holds(member) { // which it can where it is exported
				return true
			}
		}
	case reflect.Map:
		if at.Len() == 0 || l.looked[at.UnsafePointer()] > 0 {
			return false // a range would allocate
		}
		l.looked[at.UnsafePointer()] = 1
		for name, value := range at.Seq2() {
			if l.holds(name) || l.holds(value) {
				return true
			}
			const most = 1000 // bytes of a value that its name may make a secret
			if text, ok := value.Interface().(json.RawMessage); ok && len(text) < most {
				if _, found := l.view.find(fmt.Appendf(nil, "%q:%s", name, text)); found {
					return true
				}
			}
		}
	case reflect.Slice:
		if at.Type().Elem().Kind() == reflect.Uint8 {
			text := at.Bytes()
			return l.secret(unsafe.String(unsafe.SliceData(text), len(text)), true)
		}
		from := l.looked[at.UnsafePointer()]
		l.looked[at.UnsafePointer()] = max(from, at.Len())
		for i := from; i < at.Len(); i++ {
			if l.holds(at.Index(i)) {
				return true
			}
		}
	}
	return false
}

// secret reports whether a text holds a secret. One that is lent may be written to later.
func (l *Looker) secret(text string, lent bool) bool {
	const long = 64 // bytes, from which on looking costs more than knowing
	at := uintptr(unsafe.Pointer(unsafe.StringData(text))) - uintptr(unsafe.Pointer(unsafe.SliceData(l.beside)))
	if at < uintptr(len(l.beside)) || l.clean[text] {
		return false
	}
	_, found := l.view.find(unsafe.Slice(unsafe.StringData(text), len(text))) // nothing writes to it
	if !found && l.clean != nil && len(text) >= long {
		if lent {
			text = strings.Clone(text)
		}
		l.clean[text] = true
	}
	return found
}

// Hide masks the strings of what value points to. Call it before texts are cut, since no part of a secret is found.
// Names of members stay, since other code looks for them.
func (s *Scanner) Hide(value any) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := hider{view{index: s.index}, map[unsafe.Pointer]int{}}
	v.hide(reflect.ValueOf(value))
}

// A hider masks strings, and masks memory that values share once, as [Looker] looks once.
type hider struct {
	view
	done map[unsafe.Pointer]int // by where a slice begins: how many elements were masked
}

func (v *hider) hide(at reflect.Value) {
	switch at.Kind() {
	case reflect.String:
		if at.CanSet() {
			at.SetString(v.mask(at.String()))
		}
	case reflect.Pointer:
		if !at.IsNil() {
			v.hide(at.Elem())
		}
	case reflect.Struct:
		for i := range at.NumField() {
			if at.Type().Field(i).IsExported() {
				v.hide(at.Field(i))
			}
		}
	case reflect.Map:
		for name, value := range at.Seq2() {
			hidden := reflect.New(value.Type()).Elem()
			hidden.Set(value)
			v.hide(hidden)
			at.SetMapIndex(name, hidden)
		}
	case reflect.Slice:
		if at.Type().Elem().Kind() == reflect.Uint8 {
			if masked := v.mask(string(at.Bytes())); at.CanSet() && masked != string(at.Bytes()) {
				if !json.Valid([]byte(masked)) {
					masked = string(jsontext.Text(masked))
				}
				at.SetBytes([]byte(masked))
			}
			return
		}
		begin := at.UnsafePointer()
		for i := v.done[begin]; i < at.Len(); i++ {
			v.hide(at.Index(i))
		}
		v.done[begin] = max(v.done[begin], at.Len())
	}
}

package secret

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Holds reports whether a string in a value, such as a record, is secret. It copies no text, because a record is large,
// and examines repeated texts once, because each request of a conversation contains the earlier messages. The name of a
// member is examined together with its value. Texts within the memory of beside are skipped if they are plain, because
// the caller examines that memory itself.
func (s *Scanner) Holds(value any, beside []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.Looker()
	l.clean, l.beside = s.clean, beside
	return l.walk(reflect.ValueOf(value))
}

// Hide masks the strings in the value that value points to. Call it before texts are shortened, because a part of a
// secret is not found. Names of members are kept, because other code looks them up.
func (s *Scanner) Hide(value any) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.Looker()
	l.hides = true
	l.walk(reflect.ValueOf(value))
}

// A Looker examines values that share memory, and skips the parts that it has already examined.
type Looker struct {
	scanner *Scanner
	view    view
	looked  map[unsafe.Pointer]int // number of elements examined, by the start of a slice; also maps
	hides   bool                   // it masks secrets, instead of stopping at the first
	clean   map[string]bool        // the scanner's; nil if texts are not remembered
	beside  []byte                 // memory that the caller examines itself
}

// Looker returns a looker that has not examined anything yet.
func (s *Scanner) Looker() *Looker {
	return &Looker{scanner: s, view: view{index: s.index}, looked: map[unsafe.Pointer]int{}}
}

// Holds is [Scanner.Holds], except that it skips parts that earlier calls have found clean.
func (l *Looker) Holds(value any) bool {
	l.scanner.mu.RLock()
	defer l.scanner.mu.RUnlock()
	l.view.inflated = 0
	return l.walk(reflect.ValueOf(value))
}

// walk examines a value, and reports whether it has stopped at a secret.
func (l *Looker) walk(at reflect.Value) (stopped bool) {
	switch at.Kind() {
	case reflect.String:
		if !l.hides {
			return l.secret(at.String(), false)
		}
		if at.CanSet() {
			at.SetString(l.view.mask(at.String()))
		}
	case reflect.Pointer:
		return !at.IsNil() && l.walk(at.Elem())
	case reflect.Struct:
		for i := range at.NumField() {
			if member := at.Field(i); member.CanInterface() && l.walk(member) { // unexported fields are skipped
				return true
			}
		}
	case reflect.Map:
		if at.Len() == 0 || l.looked[at.UnsafePointer()] > 0 {
			return false // a range loop would allocate
		}
		l.looked[at.UnsafePointer()] = 1
		for name, value := range at.Seq2() {
			if l.member(at, name, value) {
				return true
			}
		}
	case reflect.Slice:
		if at.Type().Elem().Kind() == reflect.Uint8 {
			return l.bytes(at)
		}
		from := l.looked[at.UnsafePointer()]
		l.looked[at.UnsafePointer()] = max(from, at.Len())
		for i := from; i < at.Len(); i++ {
			if l.walk(at.Index(i)) {
				return true
			}
		}
	}
	return false
}

// member examines a member of a map.
func (l *Looker) member(of, name, value reflect.Value) (stopped bool) {
	if l.hides {
		hidden := reflect.New(value.Type()).Elem()
		hidden.Set(value)
		l.walk(hidden)
		of.SetMapIndex(name, hidden)
		return false
	}
	if l.walk(name) || l.walk(value) {
		return true
	}
	const most = 1000 // maximum bytes of a value that its name may make a secret
	text, ok := value.Interface().(json.RawMessage)
	if !ok || len(text) >= most {
		return false
	}
	_, found := l.view.find(fmt.Appendf(nil, "%q:%s", name, text))
	return found
}

// bytes examines bytes, which are JSON.
func (l *Looker) bytes(at reflect.Value) (stopped bool) {
	text := at.Bytes()
	if !l.hides {
		return l.secret(unsafe.String(unsafe.SliceData(text), len(text)), true)
	}
	if masked := l.view.mask(string(text)); at.CanSet() && masked != string(text) {
		if !json.Valid([]byte(masked)) {
			masked = string(jsontext.Text(masked))
		}
		at.SetBytes([]byte(masked))
	}
	return false
}

// secret reports whether a text contains a secret. The memory of a lent text may change later.
func (l *Looker) secret(text string, lent bool) bool {
	const long = 64 // bytes: for longer texts, remembering is cheaper than examining
	at := uintptr(unsafe.Pointer(unsafe.StringData(text))) - uintptr(unsafe.Pointer(unsafe.SliceData(l.beside)))
	if at < uintptr(len(l.beside)) || l.clean[text] {
		return false
	}
	_, found := l.view.find(unsafe.Slice(unsafe.StringData(text), len(text))) // never written to
	if !found && l.clean != nil && len(text) >= long {
		if lent {
			text = strings.Clone(text)
		}
		l.clean[text] = true
	}
	return found
}

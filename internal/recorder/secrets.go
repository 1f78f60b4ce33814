package recorder

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"unsafe"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/secret"
)

// scanner returns what knows the secrets of the process: those of its environment when the recorder was
// opened, and those of now. A variable that the test set is gone again when its cleanups have run.
func (r *Recorder) scanner() *secret.Scanner {
	r.makeSecrets.Do(func() {
		r.secrets = secret.New()
		r.secrets.Environment(r.environment)
	})
	r.secrets.Environment(os.Environ())
	return r.secrets
}

// learn notes the credentials of a call, whatever knows it. Replay needs them for a failure only.
func (r *Recorder) learn(what fmt.Stringer) {
	scanner := r.scanner()
	if w, ok := what.(*wire); ok {
		scanner.Request(w.Header, w.asked, provider.IsCredential)
	}
}

// refuseSecrets returns the failure of a recording that would store a secret. Of an answer both what it
// says and its bytes are looked at.
func (r *Recorder) refuseSecrets(goldens []*golden) error {
	scanner := r.scanner()
	for _, g := range goldens {
		if holds(reflect.ValueOf(g.snapshot), scanner.Holds) {
			text, err := g.snapshot.SF()
			if err != nil {
				return err
			}
			hit, _ := scanner.Find(text)
			return r.leaked(hit, g.take.provider, strings.TrimPrefix(hit.Pointer, "/snapshots/0"))
		}
		if hit, found := scanner.Find(g.raw); found {
			return r.leaked(hit, g.take.provider, strings.TrimSpace("in the bytes of the answer "+hit.Pointer))
		}
		for _, medium := range g.take.media {
			if hit, found := scanner.Find(medium); found {
				return r.leaked(hit, g.take.provider, "in its media")
			}
		}
	}
	return nil
}

// holds reports whether one of the strings in a value is secret. It copies none of them: a record is large.
// The name of a member is looked at together with what it names.
func holds(v reflect.Value, secret func(string) bool) bool {
	switch v.Kind() {
	case reflect.String:
		return secret(v.String())
	case reflect.Pointer:
		return !v.IsNil() && holds(v.Elem(), secret)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && holds(v.Field(i), secret) {
				return true
			}
		}
	case reflect.Map:
		for name, value := range v.Seq2() {
			if holds(name, secret) || holds(value, secret) {
				return true
			}
			if text, ok := value.Interface().(json.RawMessage); ok && len(text) < 1000 &&
				secret(fmt.Sprintf("%q:%s", name, text)) {
				return true
			}
		}
	case reflect.Slice:
		if text := v; text.Type().Elem().Kind() == reflect.Uint8 {
			return secret(unsafe.String(unsafe.SliceData(text.Bytes()), text.Len())) // nothing writes to it
		}
		for i := range v.Len() {
			if holds(v.Index(i), secret) {
				return true
			}
		}
	}
	return false
}

func (r *Recorder) leaked(hit secret.Hit, provider, place string) *Failure {
	rule := `traceforgetest.Pattern("key", regexp.MustCompile("…"))`
	if name, ok := strings.CutPrefix(hit.What, "the value of "); ok && !strings.Contains(name, " ") {
		rule = fmt.Sprintf("traceforgetest.Value(%q, os.Getenv(%q))", strings.ToLower(name), name)
	}
	return failuref(fmt.Sprintf("%s call holds %s: nothing was recorded", provider, hit.What), "  "+place,
		"keep it out of prompts and answers, or have it replaced in what is kept: traceforgetest.Scrub("+rule+")")
}

// plain returns a failure as it may be printed: without secrets, and without what drives terminals and
// logs.
func (r *Recorder) plain(f *Failure) *Failure {
	scanner := r.scanner()
	f.Text = plaintext.Text(scanner.Mask(f.Text))
	f.brief = plaintext.Line(scanner.Mask(f.brief))
	return f
}

// Plain returns a text as it may be printed: see plain.
func (r *Recorder) Plain(text string) string { return plaintext.Text(r.scanner().Mask(text)) }

// hide takes secrets out of differences before they are cut to what is shown, which could leave a part.
func (r *Recorder) hide(differences []drift.Difference) {
	scanner := r.scanner()
	mask := func(text json.RawMessage) json.RawMessage {
		if text == nil {
			return nil
		}
		return json.RawMessage(scanner.Mask(string(text)))
	}
	for i := range differences {
		d := &differences[i]
		d.Recorded, d.Got = mask(d.Recorded), mask(d.Got)
	}
}

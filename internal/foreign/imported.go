package foreign

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An Import brings calls that another tool recorded into a store.
type Import struct {
	Scratch string // a directory that is removed afterwards
	Config  []byte // config.json of the store; nil means it has none
	Shown   string // how messages name the store
}

// An Imported is the document of a test whose calls were recorded by another tool.
type Imported struct {
	store.Put
	Calls   int      // that are records
	Retried int      // that are none, since a later try did better
	Unknown int      // records of which the recording leaves headers out that their API asks for
	Unkept  []Unkept // that cannot be records
}

// An Unkept is a call that cannot be a record.
type Unkept struct {
	Number  int      `json:"interaction"` // in its file; the first is 1
	Line    int      `json:"line"`
	Method  string   `json:"method,omitempty"` // empty means the call cannot be read
	URL     string   `json:"url,omitempty"`
	Why     string   `json:"why"`
	WaysOut []string `json:"ways_out,omitempty"` // options of the recorder
}

// Test makes the calls of a recording again, and returns the document that an update would write of them, by the
// recorder's rules. A call that cannot be kept is left out, and no other; where all are, there is no document. source
// is where the test stands.
func (im *Import) Test(rec *cassette.Recording, source snapshot.Source) (*Imported, error) {
	made := &Imported{}
	calls := rec.Calls()
	for {
		dir, err := im.storeDir()
		if err != nil {
			return nil, err
		}
		unkept, err := im.run(dir, source, calls)
		if err != nil {
			return nil, err
		}
		if len(unkept) == 0 {
			return made, made.load(dir, source, len(calls))
		}
		made.Unkept = append(made.Unkept, unkept...)
		calls = slices.DeleteFunc(calls, func(c cassette.Call) bool {
			return slices.ContainsFunc(unkept, func(u Unkept) bool { return u.Number == c.Number() })
		})
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
}

// storeDir returns the directory of a store of its own, with the rules of the store that is brought to.
func (im *Import) storeDir() (string, error) {
	dir, err := os.MkdirTemp(im.Scratch, "")
	if err != nil || im.Config == nil {
		return dir, err
	}
	return dir, os.WriteFile(filepath.Join(dir, "config.json"), im.Config, 0o600)
}

// again answers with the recorded answer of the call under way. It is a [recorder.Archive].
type again struct{ call cassette.Call }

func (a *again) RoundTrip(req *http.Request) (*http.Response, error) { return a.call.Answer(req), nil }

func (a *again) MakesNoCalls() {}

// run makes calls as a test with the source does. Where one cannot be kept nothing is recorded.
func (im *Import) run(dir string, source snapshot.Source, calls []cassette.Call) (unkept []Unkept, err error) {
	if len(calls) == 0 {
		return nil, nil
	}
	upstream, at, told := &again{}, source, ""
	r, err := recorder.Open(recorder.Options{
		Dir: dir, Shown: im.Shown, Package: source.Package, Test: source.Test, Mode: recorder.Update, Upstream: upstream,
		Source: func() snapshot.Source { return at },
		Fail:   func() {}, Tell: func(f *recorder.Failure) { told = f.Text },
	})
	if err != nil {
		return nil, err
	}
	byNumber := map[int]cassette.Call{}
	for _, c := range calls {
		upstream.call, byNumber[c.Number()] = c, c
		at.Line = c.Number() // by which failures tell whose they are
		if err := r.Try(c.Request()); err != nil {
			unkept = append(unkept, notKept(c, err))
		}
	}
	for _, f := range r.Unkept() {
		unkept = append(unkept, notKept(byNumber[f.Source.Line], f))
	}
	r.Finish(recorder.Outcome{Failed: len(unkept) > 0})
	if len(unkept) == 0 && told != "" {
		return nil, errors.New(told)
	}
	return unkept, nil
}

// notKept says why a call is no record. The first line of a failure's text is the reason. The request is indented
// below it, and the ways out follow.
func notKept(c cassette.Call, err error) Unkept {
	u := Unkept{Number: c.Number(), Line: c.Line(), Method: c.Method(), URL: c.URL(), Why: err.Error()}
	var f *recorder.Failure
	if !errors.As(err, &f) {
		return u
	}
	lines := strings.Split(f.Text, "\n")
	u.Why = strings.TrimPrefix(lines[0], u.Method+" "+u.URL+" ")
	for _, line := range lines[1:] {
		if strings.Contains(line, "traceforgetest.") {
			u.WaysOut = append(u.WaysOut, strings.TrimPrefix(strings.TrimSpace(line), "or "))
		}
	}
	return u
}

// load reads the document that was recorded of so many calls.
func (made *Imported) load(dir string, source snapshot.Source, calls int) error {
	if calls == 0 {
		return nil
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	files, err := s.List()
	if err != nil || len(files) == 0 {
		return errors.Join(err, errors.New("no call of it stood"))
	}
	name := snapshot.DocumentName(source.Package, source.Test)
	doc, err := s.Load(name, filepath.Dir(files[0]))
	if err != nil {
		return err
	}
	records := doc.Records()
	raw, media := map[int][]byte{}, map[canon.Hash][]byte{}
	for i := range records {
		records[i].Source.Line = source.Line
		of := cmp.Or(records[i].Provider, filepath.Dir(files[0]))
		if records[i].Source.Unknown = unknownHeaders(of, &records[i].Request); records[i].Source.Unknown != nil {
			made.Unknown++
		}
		if raw[records[i].Number()], err = doc.Raw(i); err != nil {
			return err
		}
		for _, m := range records[i].Media() {
			if media[m.Hash], err = doc.Media(m.Hash); err != nil {
				return err
			}
		}
	}
	made.Put = store.PutOf(name, records)
	made.Raw, made.Media = raw, media
	made.Calls, made.Retried = len(records), calls-len(records)
	return nil
}

// unknownHeaders returns the headers that a provider asks for and a recorded request lacks, as where a recorder left them out.
func unknownHeaders(provider string, req *modelio.Request) []string {
	const version = "anthropic-version"
	said, _ := jsontext.Parse(req.Options["$headers"])
	if provider != "anthropic" || said != nil && said.Root().Member(version).Present() {
		return nil
	}
	return []string{version}
}

package foreign

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	Config  []byte // config.json of the store; nil if it has none
	Shown   string // how messages name the store
}

// An ImportedDocument is the document of a test whose calls were recorded by another tool.
type ImportedDocument struct {
	store.Put
	Calls   int      // calls that became records
	Retried int      // calls that did not, because a later attempt was successful
	Unknown int      // records whose recording lacks headers that the API requires
	Unkept  []Unkept // calls that cannot become records
}

// An Unkept is a call that cannot become a record.
type Unkept struct {
	Number  int      `json:"interaction"` // number of the call in its file, from 1
	Line    int      `json:"line"`
	Method  string   `json:"method,omitempty"` // empty if the call cannot be read
	URL     string   `json:"url,omitempty"`
	Why     string   `json:"why"`
	WaysOut []string `json:"ways_out,omitempty"` // options of the recorder that would keep it
}

// Test makes the calls of a recording again, and returns the document that an update would write for them under the
// recorder's rules. Calls that cannot be kept are left out; if there are no others, there is no document. source is the
// location of the test.
func (im *Import) Test(rec *cassette.Recording, source snapshot.Source) (*ImportedDocument, error) {
	made := &ImportedDocument{}
	for _, l := range rec.Lost {
		made.Unkept = append(made.Unkept, Unkept{Number: l.Number, Line: l.Line, Why: l.Why})
	}
	calls := slices.Clone(rec.Calls)
	for {
		dir, err := im.StoreDir()
		if err != nil {
			return nil, err
		}
		unkept, err := im.run(dir, source, calls)
		if err != nil {
			return nil, err
		}
		if len(unkept) == 0 {
			slices.SortStableFunc(made.Unkept, func(a, b Unkept) int { return a.Number - b.Number })
			return made, made.load(dir, source, len(calls))
		}
		made.Unkept = append(made.Unkept, unkept...)
		calls = slices.DeleteFunc(calls, func(c *cassette.Call) bool {
			return slices.ContainsFunc(unkept, func(u Unkept) bool { return u.Number == c.Number })
		})
	}
}

// StoreDir returns the directory of a separate store with the rules of the target store.
func (im *Import) StoreDir() (string, error) {
	dir, err := os.MkdirTemp(im.Scratch, "")
	if err != nil || im.Config == nil {
		return dir, err
	}
	return dir, os.WriteFile(filepath.Join(dir, "config.json"), im.Config, 0o600)
}

// An archive serves the recorded answer of the current call. It is a [recorder.Archive].
type archive struct {
	answer func(*http.Request) *http.Response
}

func (a *archive) MakesNoCalls() {}

// RoundTrip never fails.
func (a *archive) RoundTrip(req *http.Request) (*http.Response, error) { return a.answer(req), nil }

// run makes calls as a test at source would. If one cannot be kept, nothing is recorded.
func (im *Import) run(dir string, source snapshot.Source, calls []*cassette.Call) (unkept []Unkept, err error) {
	if len(calls) == 0 {
		return nil, nil
	}
	upstream, at, told := &archive{}, source, ""
	r, err := recorder.Open(recorder.Options{
		Dir: dir, Shown: im.Shown, Package: source.Package, Test: source.Test, Mode: recorder.Update, Upstream: upstream,
		Source: func() snapshot.Source { return at },
		Fail:   func() {}, Tell: func(f *recorder.Failure) { told = f.Text },
	})
	if err != nil {
		return nil, err
	}
	byNumber := map[int]*cassette.Call{}
	for _, c := range calls {
		upstream.answer, byNumber[c.Number] = c.Answer, c
		at.Line = c.Number // failures identify a call by this line
		if err := r.Try(c.Request()); err != nil {
			unkept = append(unkept, notKept(c, err))
		}
	}
	for _, f := range r.Unkept() {
		unkept = append(unkept, notKept(byNumber[f.Source.Line], f))
	}
	r.Finish(recorder.TestEnd{Failed: len(unkept) > 0})
	if len(unkept) == 0 && told != "" {
		return nil, errors.New(told)
	}
	return unkept, nil
}

// notKept describes why a call is not a record. In a failure's text the first line is the reason, the indented lines
// are the request, and the ways out follow.
func notKept(c *cassette.Call, err error) Unkept {
	u := Unkept{Number: c.Number, Line: c.Line, Method: c.Method(), URL: c.URL(), Why: err.Error()}
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

// load reads the document that was recorded from a number of calls.
func (made *ImportedDocument) load(dir string, source snapshot.Source, calls int) error {
	if calls == 0 {
		return nil
	}
	var err error
	if made.Put, err = recorded(dir, snapshot.DocumentName(source.Package, source.Test)); errors.Is(err, fs.ErrNotExist) {
		return errors.New("no call of it stood")
	}
	if err != nil {
		return err
	}
	records := made.Document.Snapshots
	for i := range records {
		records[i].Source.Line = source.Line
		of := cmp.Or(records[i].Provider, made.Provider)
		if records[i].Source.Unknown = unknownHeaders(of, &records[i].Request); records[i].Source.Unknown != nil {
			made.Unknown++
		}
	}
	made.Calls, made.Retried = len(records), calls-len(records)
	return nil
}

// recorded returns the document with a name that was recorded in a separate store.
func recorded(dir, name string) (store.Put, error) {
	s, err := store.Open(dir)
	if err != nil {
		return store.Put{}, err
	}
	doc, err := s.Load(name, "openai") // or under another provider
	if err != nil {
		return store.Put{}, err
	}
	return doc.Put(nil)
}

// unknownHeaders returns the headers that a provider requires and a recorded request lacks, because the recorder left
// them out.
func unknownHeaders(provider string, req *modelio.Request) []string {
	const version = "anthropic-version"
	if provider != "anthropic" || jsontext.ValueOf(req.Options["$headers"]).Member(version).Present() {
		return nil
	}
	return []string{version}
}

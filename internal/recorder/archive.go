package recorder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An Archive is an upstream that makes no calls: it answers from earlier recordings. Each answer says where it comes
// from, see [Provenance.In]. A call without a recording gets an error. The records name their origin, so R7 does not
// ask whether they are deterministic, and they cost no tokens.
type Archive interface {
	http.RoundTripper
	MakesNoCalls() // marks the type, and does nothing
}

// A Provenance says where a recorded answer comes from.
type Provenance struct {
	From     string        // for reviewers: "imported from go-vcr testdata/TestChat.yaml, interaction 2"
	Time     time.Time     // when the call was made; if zero, the time of the import is used
	Latency  time.Duration // of the call; 0 if unknown
	Scripted canon.Hash    // hash of the script's step that answered; empty if it was no script
}

// MigratedFrom begins the origin of a record that was migrated.
const MigratedFrom = "migrated from "

// archive returns the archive that answers the calls of the test, or nil if they are made live.
func (o *Options) archive() Archive {
	a, _ := o.Upstream.(Archive)
	return a
}

// Imports reports whether the calls of the test are answered from an archive or a script, so that no keys are needed.
func (o *Options) Imports() bool { return o.archive() != nil || o.script() != nil }

// upstream makes a live call, or takes its answer from an archive. A call that the archive does not have fails in a way
// that no client tries again.
func (r *Recorder) upstream(live *http.Request, w *wire, tk *take) (*http.Response, error) {
	if tk.step != nil {
		return tk.step.HTTP()
	}
	if err := context.Cause(live.Context()); err != nil {
		return nil, err
	}
	live = live.WithContext(context.WithValue(live.Context(), takenKey{}, r.run.taken))
	a := r.run.archive()
	if a == nil {
		if err := r.sessions.join(tk.codec.Session, live); err != nil {
			return nil, err
		}
		return r.run.upstreamOf(live.Context()).RoundTrip(live)
	}
	resp, err := a.RoundTrip(live)
	if err != nil {
		return nil, r.notImported(w, tk, err)
	}
	return resp, nil
}

// notImported fails a call that is not in what the test is imported from. The error says why.
func (r *Recorder) notImported(what fmt.Stringer, tk *take, err error) error {
	tk.end(dropped, nil)
	f := failuref(tk.who()+" call is not in what it is imported from", indent(r.run.summary(tk.request)),
		indent(err.Error()))
	return r.report.failCall(what, tk.id(), f)
}

// takenKey is the key of what returns the origins in the context of a live call, where a transport around a recording
// passes it on.
type takenKey struct{}

// Taken returns the origins of the records that have answered the test of a live call. A recording does not answer with
// the same calls again.
func Taken(live *http.Request) []string {
	if taken, ok := live.Context().Value(takenKey{}).(func() []string); ok {
		return taken()
	}
	return nil
}

func (r *run) taken() (origins []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.answered {
		from := ""
		if a.take == nil {
			from = r.tape.records[a.record].Source.Origin
		} else if a.take.origin != nil {
			from = a.take.origin.record.Source.Origin
		}
		if from != "" {
			origins = append(origins, from)
		}
	}
	return origins
}

// In returns a header that says where an answer comes from, see [ProvenanceHeader].
func (p Provenance) In(header http.Header) http.Header {
	text, _ := json.Marshal(p)
	with := http.Header{}
	maps.Copy(with, header)
	with.Set(ProvenanceHeader, processWord+string(text))
	return with
}

// date gives a record the times of the recorded call.
func (p *Provenance) date(s *snapshot.Snapshot) {
	if !p.Time.IsZero() {
		s.Timestamp = p.Time.UTC().Truncate(time.Millisecond)
	}
	s.Response.LatencyMS = p.Latency.Milliseconds()
}

// Try makes a call as RoundTrip does, and reads the answer to its end. The error says why the call cannot be recorded.
func (r *Recorder) Try(req *http.Request) error {
	w, err := r.run.readWire(req)
	if err != nil {
		return err
	}
	resp, err := r.roundTrip(req, w)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}

// Unkept returns why calls of the test cannot be recorded, each with the source of its call. The test has failed if
// there are any.
func (r *Recorder) Unkept() []*Failure {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	before := len(r.report.failures)
	for _, tk := range r.revision.kept() {
		if f := asA[*Failure](r.run.refuseSecrets(tk)); f != nil {
			f.Source = tk.source
			r.report.fail(f)
		}
	}
	final, told := r.run.finalKeys(), map[key]bool{}
	for _, tk := range r.run.takes {
		if !r.run.transient(tk) || final[tk.key] {
			continue
		}
		if f := r.run.unfinishedFailure(tk); f != nil && told[tk.key] { // the test was told of the first try only
			f.Source = tk.source
			r.report.fail(f)
		}
		told[tk.key] = true
	}
	return r.report.failures[before:]
}

// RecordingsEnv is the variable with the URL of a server that answers from recordings of other tools: import --run has
// one.
const RecordingsEnv = "TRACEFORGE_RECORDINGS"

// Recordings are those of a server, for the calls of one test. They are an [Archive].
type Recordings struct{ URL, Package, Test string }

// A RecordedCall is what the server is asked.
type RecordedCall struct {
	Of                Recordings
	Method, URL, Type string
	Body              []byte
	Taken             []string // see [Taken]
}

// A RecordedAnswer is what the server says.
type RecordedAnswer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Missing string // why no recording answers
}

// toRecordings is separate from the default client, which tests may have replaced.
var toRecordings = http.Client{Transport: &http.Transport{}}

// MakesNoCalls makes them an [Archive].
func (a *Recordings) MakesNoCalls() {}

// RoundTrip answers from a recording.
func (a *Recordings) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := RecordedCall{
		Of: *a, Method: req.Method, URL: PublicURL(req.URL).String(), Type: req.Header.Get("Content-Type"), Taken: Taken(req),
	}
	if req.Body != nil {
		asked.Body, _ = io.ReadAll(req.Body) // the recorder has read the body, so this cannot fail
	}
	text, _ := json.Marshal(asked)
	resp, err := toRecordings.Post(a.URL, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var said RecordedAnswer
	if err := errors.Join(json.NewDecoder(resp.Body).Decode(&said), resp.Body.Close()); err != nil || said.Missing != "" {
		return nil, errors.Join(err, errors.New(said.Missing))
	}
	_, from, _ := strings.Cut(said.Header.Get(ProvenanceHeader), " ") // behind the word of the server's process
	said.Header.Set(ProvenanceHeader, processWord+from)
	body := io.NopCloser(bytes.NewReader(said.Body))
	return &http.Response{StatusCode: said.Status, Header: said.Header, Body: body, ContentLength: -1, Request: req}, nil
}

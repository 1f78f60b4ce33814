package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// RecordingsEnv is the variable with the URL of a server that answers from recordings of other tools: import --run has one.
const RecordingsEnv = "TRACEFORGE_RECORDINGS"

// Recordings are those of a server, for the calls of one test. They are an [Archive].
type Recordings struct{ URL, Package, Test string }

// A RecordedCall is what the server is asked.
type RecordedCall struct {
	Of                Recordings
	Method, URL, Type string
	Body              []byte
}

// A RecordedAnswer is what the server says.
type RecordedAnswer struct {
	Status  int
	Header  http.Header
	Body    []byte
	From    Provenance
	Missing string // why there is no answer
}

// toRecordings is apart from the default client, which tests may have replaced.
var toRecordings = http.Client{Transport: &http.Transport{}}

// RoundTrip answers from a recording.
func (a *Recordings) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, _, err := a.Recorded(req)
	return resp, err
}

// Recorded is RoundTrip, and says where the answer is from.
func (a *Recordings) Recorded(req *http.Request) (_ *http.Response, from Provenance, err error) {
	asked := RecordedCall{Of: *a, Method: req.Method, URL: PublicURL(req.URL).String(), Type: req.Header.Get("Content-Type")}
	if req.Body != nil {
		asked.Body, _ = io.ReadAll(req.Body) // of bytes, as the recorder has read it
	}
	text, _ := json.Marshal(asked)
	resp, err := toRecordings.Post(a.URL, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, from, err
	}
	var said RecordedAnswer
	if err := errors.Join(json.NewDecoder(resp.Body).Decode(&said), resp.Body.Close()); err != nil || said.Missing != "" {
		return nil, from, errors.Join(err, errors.New(said.Missing))
	}
	body := io.NopCloser(bytes.NewReader(said.Body))
	return &http.Response{StatusCode: said.Status, Header: said.Header, Body: body, ContentLength: -1, Request: req}, said.From, nil
}

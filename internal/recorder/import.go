package recorder

import (
	"errors"
	"io"
	"net/http"
)

// Try makes a call as RoundTrip does, and reads the answer to its end. Why the call cannot be recorded is the error.
func (r *Recorder) Try(req *http.Request) error {
	w, err := r.readWire(req)
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

// Unkept returns why calls of the test cannot be recorded, each with the source of its call. Where there are any the
// test has failed.
func (r *Recorder) Unkept() []*Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.failures)
	for tk, g := range r.goldens() {
		var f *Failure
		if err := r.refuseSecrets([]*golden{g}); errors.As(err, &f) {
			f.Source = tk.source
			r.fail(f)
		}
	}
	return r.failures[before:]
}

package traceforgetest

import (
	"io"
	"net/http"
	"strings"
)

// An Option changes how a [Recorder] works. Options are made by the functions of this package.
type Option interface {
	apply(*Recorder)
}

type option func(*Recorder)

func (o option) apply(r *Recorder) { o(r) }

// Dir names the store's directory. A relative path starts at the test's working directory,
// which go test sets to the package's. The default is $TRACEFORGE_DIR, else .ai-snapshots
// beside the go.mod found from the working directory upwards.
func Dir(path string) Option {
	return option(func(r *Recorder) { r.opts.Dir = path })
}

// Upstream names what makes the live calls while recording. The default, also for nil, is
// [http.DefaultTransport]. It is never used in replay.
func Upstream(rt http.RoundTripper) Option {
	return option(func(r *Recorder) { r.opts.Upstream = rt })
}

// Ignore leaves parts of the request out of the comparison, by RFC 6901 pointers into the
// request as it stands in the snapshot file: "/messages/0/content" or
// "/provider_options/user". A token * stands for every element of a list: "/messages/*/content". The
// snapshot lists the pointers and keeps what was sent. What varies inside a text is better replaced with
// [Scrub]: where a whole text is ignored, no change of it is seen.
func Ignore(pointers ...string) Option {
	return option(func(r *Recorder) { r.opts.Ignored = append(r.opts.Ignored, pointers...) })
}

// Nondeterministic lifts the rules that a request must set its temperature to 0 and, where
// the API has one, a seed (SF "Determinism Requirements"). The reason is stored in each
// snapshot; it must not be empty.
func Nondeterministic(reason string) Option {
	return option(func(r *Recorder) { r.opts.Nondeterministic, r.opts.Lifted = reason, true })
}

// Incomplete allows a stream that was cut, by the caller or by the network, to become a
// golden snapshot: for tests of exactly that. The snapshot is marked.
func Incomplete() Option {
	return option(func(r *Recorder) { r.opts.Incomplete = true })
}

// TransportErrors records errors of the transport (a refused or reset connection, a timeout, an
// unknown host, a failed TLS handshake) like answers, and replays them as errors of the same
// kind: errors.Is and errors.As find what they found while recording. Without it such a call is
// not recorded.
func TransportErrors() Option {
	return option(func(r *Recorder) { r.opts.TransportErrors = true })
}

// PassThrough names hosts whose requests are no model calls, such as those of telemetry and of
// OAuth. While recording they are passed on and not recorded; in replay they get an error that
// names the host, and do not fail the test. A host stands for its subdomains too.
func PassThrough(hosts ...string) Option {
	return option(func(r *Recorder) { r.opts.PassThrough = append(r.opts.PassThrough, hosts...) })
}

// ContentEncoding names how to decode answers of a Content-Encoding besides gzip and deflate, such
// as "br" and "zstd", so that what is stored is readable. Calls are made without the caller's
// Accept-Encoding; it takes a server that compresses unasked to need this.
func ContentEncoding(name string, decode func(io.Reader) (io.Reader, error)) Option {
	return option(func(r *Recorder) {
		if r.opts.Decoders == nil {
			r.opts.Decoders = map[string]func(io.Reader) (io.Reader, error){}
		}
		r.opts.Decoders[strings.ToLower(name)] = decode
	})
}

// StreamTiming records when each event of a stream arrives, and replays the events at that
// pace, for tests of user interfaces. Without it a replayed stream comes at once. A snapshot
// that has no times, since it was recorded without the option, is replayed at once too.
func StreamTiming() Option {
	return option(func(r *Recorder) { r.opts.Timing = true })
}

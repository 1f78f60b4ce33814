package traceforgetest

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// An Option changes how a [Recorder] works. Options are made by the functions of this package:
//
//   - [Scrub] and [Ignore] say what does not count as a change;
//   - [Nondeterministic] and [Allow] lift rules of recording;
//   - [Record], [PassThrough] and [KeepHeaders] say which HTTP calls and headers are recorded;
//   - [Check] and [Live] are for tests that always make live calls;
//   - [Upstream], [Dir], [ContentEncoding] and [StreamTiming] set up the recorder itself.
//
// The zero Option changes nothing.
type Option struct {
	name string
	args any // its arguments: options with equal arguments are equal
	set  func(*Recorder)
}

// differing returns the name of an option that a and b do not share, or have with different arguments; "" if there is
// none. The order of different options does not matter.
func differing(a, b []Option) string {
	byName := func(given []Option) map[string][]any {
		args := map[string][]any{}
		for _, o := range given {
			args[o.name] = append(args[o.name], o.args)
		}
		return args
	}
	was, is, either := byName(a), byName(b), byName(slices.Concat(a, b))
	for _, name := range inorder.Names(either) {
		if !slices.EqualFunc(was[name], is[name], equalArgs) {
			return name
		}
	}
	return ""
}

// equalArgs compares upstreams by their SameAs method or else by identity, and data by value.
func equalArgs(a, b any) bool {
	if rt, ok := a.(http.RoundTripper); ok {
		if same, ok := a.(interface{ SameAs(http.RoundTripper) bool }); ok {
			other, _ := b.(http.RoundTripper)
			return same.SameAs(other)
		}
		return reflect.TypeOf(rt).Comparable() && a == b
	}
	return reflect.DeepEqual(a, b)
}

// callerLine returns the file and line of its caller's caller. Functions passed on the same line count as equal.
func callerLine() string {
	_, file, line, _ := runtime.Caller(2)
	return file + ":" + strconv.Itoa(line)
}

// Dir sets the store's directory. A relative path is relative to the test's working directory, which go test sets to
// the package's directory. The default is $TRACEFORGE_DIR, or else .ai-snapshots next to the nearest go.mod at or above
// the directory in which the test binary was started. If there is none, the search starts at the working directory.
func Dir(path string) Option {
	return Option{"Dir", path, func(r *Recorder) { r.opts.Dir = path }}
}

// Upstream sets the transport that makes the live calls while recording. The default, also for nil, is
// [http.DefaultTransport]. Replay does not use it, with one exception: it asks a script (package script) which step
// answers a call, so that an edited step is drift.
func Upstream(rt http.RoundTripper) Option {
	return Option{"Upstream", rt, func(r *Recorder) {
		script, is := recorder.ScriptOf(rt)
		if before, was := r.opts.Upstream.(recorder.Script); was && is && before != script {
			r.wrong = errors.New("Upstream: a recorder has one script: give its steps to one script.New")
		}
		if r.opts.Upstream = rt; is {
			r.opts.Upstream = script
		}
	}}
}

// Ignore leaves parts of the request out of the comparison. The parts are RFC 6901 pointers into the request of the
// snapshot file, such as "/messages/0/content" and "/provider_options/user". The token * stands for every element of a
// list: "/messages/*/content". The snapshot lists the pointers and keeps what was sent. If only a value inside a text
// varies, use [Scrub] instead: in a text that is ignored, no change is noticed at all.
func Ignore(pointers ...string) Option {
	return Option{"Ignore", pointers, func(r *Recorder) { r.opts.Ignored = append(r.opts.Ignored, pointers...) }}
}

// Nondeterministic lifts the rules that a request must set its temperature to 0 and, where the API has one, a seed (SF
// "Determinism Requirements"). The reason is stored in each snapshot and must not be empty. If every test of a package
// needs the option, put it into a helper of the package; if every test of the repository does, into config.json.
func Nondeterministic(reason string) Option {
	return Option{"Nondeterministic", reason, func(r *Recorder) { r.opts.Nondeterministic, r.opts.Lifted = reason, true }}
}

// An Allowance is something that a recorder refuses unless the test passes it to [Allow].
type Allowance uint8

const (
	// CutStreams records streams that were cut by the caller or by the network. The snapshot says how the stream
	// ended, and replay ends it in the same way: with an error, or as if it were complete. If the caller's context
	// cut the stream, replay waits up to 5 seconds for the context to end again; after that, a deadline of the context
	// counts as passed.
	CutStreams = Allowance(recorder.CutStreams)
	// TransportErrors records transport errors as if they were answers, and replays errors of the same kind. These are
	// a refused or reset connection, a timeout, an unknown host, or a failed TLS handshake. errors.Is and errors.As
	// work on them as they did while recording. Other errors that a model returns are replayed by their text. Errors
	// that carry the status of an answer, as those of SDKs and Genkit do, are not recorded. A call that its caller
	// cancelled, such as the slower of two hedged calls, is recorded: replay ends it when the caller cancels it again,
	// after 5 seconds at the latest, and does not fail if the call is not made.
	TransportErrors = Allowance(recorder.TransportErrors)
	// RetryableErrors records answers with status 408, 429 and 5xx like any others, for tests of retries. A 429 and the
	// 200 of the next attempt are two snapshots of one request, which replay returns in that order. Retry-After is
	// replayed too, so a client waits just as long. Without this allowance only the successful attempt is recorded. A
	// stream of status 200 in which such an error comes counts like them if a later attempt succeeds.
	RetryableErrors = Allowance(recorder.RetryableErrors)
	// NoCalls permits a test that makes no call, for example one row of a table test. A test that has snapshots still
	// fails if they are not called.
	NoCalls = Allowance(recorder.NoCalls)
)

// Allow lifts rules of recording, for tests of the very cases that the rules refuse.
func Allow(what ...Allowance) Option {
	return Option{"Allow", what, func(r *Recorder) {
		for _, w := range what {
			r.opts.Allowed |= recorder.Allowance(w)
		}
	}}
}

// Record names hosts whose calls are recorded although they are not model calls: web pages, searches, downloads, access
// tokens. A host includes its subdomains. Such a call consists of its method, its URL without credentials, and its
// body. Replay returns the bytes of the answer, binary or not, and the headers that are kept (see [KeepHeaders]). The
// call fails on drift like any other, but no determinism rule applies to it. A call that looks like an API call, with a
// JSON body or a version in its path, is recorded without this option.
func Record(hosts ...string) Option {
	return Option{"Record", hosts, func(r *Recorder) { r.opts.Recorded = append(r.opts.Recorded, hosts...) }}
}

// KeepHeaders names headers of answers that the code under test reads. Headers that SDKs act on are always kept, such
// as Content-Type, Location, Retry-After and the request ids of errors. A name that ends in * stands for every name
// with that prefix. A header alone does not make an answer count as changed, so snapshots that already exist get the
// header only with TRACEFORGE_UPDATE=all. Headers that carry secrets, such as Set-Cookie and Authorization, and headers
// that describe the transfer, such as Content-Encoding, are never kept: naming one fails the test at once.
func KeepHeaders(names ...string) Option {
	return Option{"KeepHeaders", names, func(r *Recorder) { r.opts.KeptHeaders = append(r.opts.KeptHeaders, names...) }}
}

// PassThrough names hosts that receive no model calls and whose answers do not matter, such as telemetry. While
// recording, calls to them are passed on and not recorded. In replay they are refused with an answer that names the
// host, and do not fail the test. A host includes its subdomains. Use [Record] for hosts whose answers the test needs.
func PassThrough(hosts ...string) Option {
	return Option{"PassThrough", hosts, func(r *Recorder) { r.opts.PassThrough = append(r.opts.PassThrough, hosts...) }}
}

// ContentEncoding adds a decoder for a Content-Encoding other than gzip and deflate, such as "br" or "zstd", so that
// answers are stored in readable form. It is needed only for servers that compress without being asked, because calls
// are made without the caller's Accept-Encoding.
func ContentEncoding(name string, decode func(io.Reader) (io.Reader, error)) Option {
	return Option{"ContentEncoding", []string{name, callerLine()}, func(r *Recorder) {
		if r.opts.Decoders == nil {
			r.opts.Decoders = map[string]func(io.Reader) (io.Reader, error){}
		}
		r.opts.Decoders[strings.ToLower(name)] = decode
	}}
}

// StreamTiming records when each event of a stream arrives, and replays the events at that pace, for tests of user
// interfaces. Without it a stream is replayed at once. So is a snapshot that was recorded without it and has no times.
func StreamTiming() Option {
	return Option{"StreamTiming", nil, func(r *Recorder) { r.opts.Timing = true }}
}

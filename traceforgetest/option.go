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
//   - [Scrub] and [Ignore] say what is no change;
//   - [Nondeterministic] and [Allow] lift rules of recording;
//   - [Record], [PassThrough] and [KeepHeaders] say what of HTTP is recorded;
//   - [Check] and [Live] are for tests that always make live calls;
//   - [Upstream], [Dir], [ContentEncoding] and [StreamTiming] set up the recorder itself.
//
// The zero Option changes nothing.
type Option struct {
	name string
	args any // what it was given: options are equal where these are
	set  func(*Recorder)
}

// differing returns the name of an option that only one of two recorders was given, or that they were given differently; "" for
// none. The order of different options says nothing.
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

// equalArgs compares upstreams as they say, or else by what they point to, and data by its value.
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

// callerLine returns the line that called the function which calls it: functions are equal where one line gave them.
func callerLine() string {
	_, file, line, _ := runtime.Caller(2)
	return file + ":" + strconv.Itoa(line)
}

// Dir names the store's directory. A relative path starts at the test's working directory,
// which go test sets to the package's. The default is $TRACEFORGE_DIR, else .ai-snapshots
// beside the go.mod found upwards from where the test binary was started, which is the package's
// directory also for a test that has changed its own. Without one it is found from the working directory.
func Dir(path string) Option {
	return Option{"Dir", path, func(r *Recorder) { r.opts.Dir = path }}
}

// Upstream names what makes the live calls while recording. The default, also for nil, is [http.DefaultTransport].
// Replay makes no call of it. It asks a script (package script), and nothing else, which step answers, so that an
// edited step is drift.
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

// Ignore leaves parts of the request out of the comparison, by RFC 6901 pointers into the request of the snapshot
// file. Examples are "/messages/0/content" and "/provider_options/user". A token * stands for every element of a
// list: "/messages/*/content". The snapshot lists the pointers and keeps what was sent. A value that varies inside a
// text is better replaced with [Scrub]: where a whole text is ignored, no change of it is seen.
func Ignore(pointers ...string) Option {
	return Option{"Ignore", pointers, func(r *Recorder) { r.opts.Ignored = append(r.opts.Ignored, pointers...) }}
}

// Nondeterministic lifts the rules that a request sets its temperature to 0 and, where the API has one, a seed (SF
// "Determinism Requirements"). The reason is stored in each snapshot; it must not be empty. Where each test of a
// package needs it, it belongs into a helper of the package, and where each of the repository does, into config.json.
func Nondeterministic(reason string) Option {
	return Option{"Nondeterministic", reason, func(r *Recorder) { r.opts.Nondeterministic, r.opts.Lifted = reason, true }}
}

// An Allowance is what a recorder refuses unless a test allows it with [Allow].
type Allowance uint8

const (
	// CutStreams lets a stream that was cut, by the caller or by the network, become a golden snapshot. The
	// snapshot says how it ended, and replay ends it so: with an error, or as if it were whole. Where the caller's
	// context cut it, that has 5 seconds to do so again; then a deadline that it has counts as passed.
	CutStreams = Allowance(recorder.CutStreams)
	// TransportErrors records errors of the transport like answers, and replays them as errors of the same kind. They
	// are a refused or reset connection, a timeout, an unknown host, and a failed TLS handshake. errors.Is and
	// errors.As find in them what they found while recording. Of another error that a model returns the text is kept.
	// One with the status of an answer, as SDKs and Genkit make, is not recorded. A call that its caller cancelled, as
	// the slower one of two, is: replay ends it when its caller cancels it again, after 5 seconds at the latest, and
	// does not need it.
	TransportErrors = Allowance(recorder.TransportErrors)
	// RetryableErrors records answers of status 408, 429 and 5xx like any other, for tests of what follows them. A
	// 429 and the 200 of the next try are two snapshots of one request, which replay gives in this order. A
	// Retry-After is replayed too, so a client waits as long. Without it only the try that did better is recorded.
	RetryableErrors = Allowance(recorder.RetryableErrors)
	// NoCalls lets a test make no call, as some rows of a table do. A test that has snapshots still fails where they
	// are not called.
	NoCalls = Allowance(recorder.NoCalls)
)

// Allow lifts rules, for tests of exactly the cases that they refuse.
func Allow(what ...Allowance) Option {
	return Option{"Allow", what, func(r *Recorder) {
		for _, w := range what {
			r.opts.Allowed |= recorder.Allowance(w)
		}
	}}
}

// Record names hosts whose calls are recorded as they are where they are no model calls: pages, searches, downloads,
// tokens. A host stands for its subdomains too. Such a call is its method, its URL without credentials, and its body;
// of its answer programs get the bytes, binary ones too, and the headers that are kept (see [KeepHeaders]). It fails
// on drift like any other call, and no rule of determinism holds for it. A call that looks like an API's, with a body
// of JSON or a version in its path, is recorded without this option.
func Record(hosts ...string) Option {
	return Option{"Record", hosts, func(r *Recorder) { r.opts.Recorded = append(r.opts.Recorded, hosts...) }}
}

// KeepHeaders names headers of answers that the code under test reads. Always kept are the content type, where to go
// and when to try again, and the request ids of errors. A name that ends in * stands for all that begin so. A header
// that changes with each call changes no snapshot whose answer stays what it was, so one that is there already gets
// the header with TRACEFORGE_UPDATE=all. Headers that carry a secret, such as Set-Cookie and Authorization, and those
// that say how bytes came, are never kept: their names fail the test at once.
func KeepHeaders(names ...string) Option {
	return Option{"KeepHeaders", names, func(r *Recorder) { r.opts.KeptHeaders = append(r.opts.KeptHeaders, names...) }}
}

// PassThrough names hosts that get no model calls, and give answers that do not matter, such as those of telemetry.
// While recording they are passed on and not recorded; in replay they are refused with an answer that names the host,
// and do not fail the test. A host stands for its subdomains too. Use [Record] for hosts whose answers a test needs.
func PassThrough(hosts ...string) Option {
	return Option{"PassThrough", hosts, func(r *Recorder) { r.opts.PassThrough = append(r.opts.PassThrough, hosts...) }}
}

// ContentEncoding names how to decode answers of a Content-Encoding besides gzip and deflate, such as "br" and
// "zstd", so that they are stored readable. Only servers that compress unasked need it, since calls are made without
// the caller's Accept-Encoding.
func ContentEncoding(name string, decode func(io.Reader) (io.Reader, error)) Option {
	return Option{"ContentEncoding", []string{name, callerLine()}, func(r *Recorder) {
		if r.opts.Decoders == nil {
			r.opts.Decoders = map[string]func(io.Reader) (io.Reader, error){}
		}
		r.opts.Decoders[strings.ToLower(name)] = decode
	}}
}

// StreamTiming records when each event of a stream arrives, and replays the events at that
// pace, for tests of user interfaces. Without it a replayed stream comes at once. A snapshot
// that has no times, since it was recorded without the option, is replayed at once too.
func StreamTiming() Option {
	return Option{"StreamTiming", nil, func(r *Recorder) { r.opts.Timing = true }}
}

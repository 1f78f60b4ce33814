package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// toGoVCR is the value of export --to.
const toGoVCR = "go-vcr"

// An exporter writes the calls that a run of the tests replayed as cassettes of another tool.
type exporter struct {
	*call
	sources *coverage.Sources
	seen    map[page.Test]bool
	names   []string            // headers that the cassettes omit
	files   map[string]bool     // cassettes written
	left    map[string][]string // omitted calls, by reason
}

// export runs the tests and writes a cassette for each. The cassettes have the requests as the run sent them, since
// go-vcr compares bytes, and the answers from the store.
func export(c *call) error {
	if c.value("to") != toGoVCR || c.value("output") == "" {
		return usagef("--to %s -o DIR names the tool that the files are for, and where to write them", toGoVCR)
	}
	os.Setenv(usage.SentEnv, "1")
	run, err := c.runNamed()
	if err != nil {
		return err
	}
	sources, stores, err := c.storesOfTests()
	if err != nil {
		return err
	}
	x := &exporter{call: c, sources: sources, seen: map[page.Test]bool{}, files: map[string]bool{},
		left: map[string][]string{}}
	for _, r := range run.receipts {
		s, err := stores(r)
		if err != nil {
			return err
		}
		x.test(r, s)
	}
	return x.end(run.code)
}

// test writes the cassette of a test. A test that ran twice is written once.
func (x *exporter) test(r usage.Receipt, s *store.Store) {
	test := page.Test{Package: r.Package, Name: r.Test}
	doc, err := s.Load(snapshot.DocumentName(r.Package, r.Test), "openai")
	if x.seen[test] || errors.Is(err, fs.ErrNotExist) {
		return
	}
	x.seen[test] = true
	if err != nil {
		x.leave(err.Error(), r.Test)
		return
	}
	byRecord := map[string]*usage.Sent{}
	for i := range r.Sent {
		byRecord[r.Sent[i].Record] = cmp.Or(byRecord[r.Sent[i].Record], &r.Sent[i])
	}
	var calls []cassette.Exchange
	records := doc.Records()
	for i := range records {
		answer := &records[i].Response
		raw, err := doc.Raw(i)
		sent := byRecord[records[i].ID]
		if why := unfit(&records[i], raw, err, sent); why != "" {
			x.leave(why, fmt.Sprintf("%s call %d", r.Test, records[i].Number()))
			continue
		}
		calls = append(calls, cassette.Exchange{
			Sent: sent, Status: answer.Status, Header: answer.Headers, Body: raw,
			Latency: time.Duration(answer.LatencyMS) * time.Millisecond,
		})
		for _, name := range sent.Headers {
			if _, has := sent.Values[name]; !has {
				x.names = append(x.names, name)
			}
		}
	}
	if len(calls) > 0 {
		x.write(test, calls)
	}
}

func (x *exporter) leave(why, what string) { x.left[why] = append(x.left[why], what) }

// unfit returns why a call cannot be stored in a cassette; "" if it can.
func unfit(record *snapshot.Snapshot, raw []byte, err error, sent *usage.Sent) string {
	core, _ := snapshot.RequestCore(&record.Request, nil)
	switch {
	case record.Response.Error != nil && record.Response.RawOutputRef == "":
		return "an error of the transport, which go-vcr does not keep"
	case sent == nil:
		return "no call over HTTP that the run made: a tool, a wrapped model, a WebSocket, or a test that failed before"
	case err != nil:
		return err.Error()
	case record.Response.Incomplete != "":
		return "an answer that was cut, which go-vcr would end as if it were whole"
	case len(scrub.Names(string(core)+string(raw))) > 0:
		return "a value that Scrub or Volatile keeps out of files, where go-vcr would have it"
	case sent.Secret:
		return "a credential in the URL, which go-vcr compares whole"
	}
	return ""
}

// write writes a cassette to the place where its test looks for it.
func (x *exporter) write(test page.Test, calls []cassette.Exchange) {
	_, dir := x.sources.Find(test.Package)
	below, name := shown(dir), filepath.FromSlash(test.Name+".yaml")
	file := filepath.Join(x.value("output"), below, "testdata", name)
	switch {
	case !filepath.IsLocal(below):
		x.leave("a package that is not below this directory, whose folders those of -o are", test.Name)
	case !filepath.IsLocal(name):
		x.leave("a name that leads out of testdata, or that no file can have",
			filepath.ToSlash(name)+" of "+filepath.ToSlash(below))
	case x.files[file]:
		x.leave("a name whose path is that of another test", test.Name)
	default:
		x.fail(x.writeFile(file, test, calls))
	}
}

// writeFile writes a cassette into a file. An existing file is kept.
func (x *exporter) writeFile(file string, test page.Test, calls []cassette.Exchange) error {
	data, err := cassette.WriteGoVCR(calls)
	if err != nil {
		return err
	}
	var f *os.File
	if err = os.MkdirAll(filepath.Dir(file), 0o777); err == nil {
		f, err = os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	}
	var wrong *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		x.leave("a file that is there already and stays as it is", filepath.ToSlash(file))
		return nil
	case errors.As(err, &wrong):
		x.leave(fmt.Sprintf("a file that cannot be made (%v)", wrong.Err), filepath.ToSlash(file))
		return nil
	}
	x.files[file] = true
	x.line(fmt.Sprintf("%s  %s of %s", filepath.ToSlash(file), page.Count(len(calls), "call", "calls"), test.Name))
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// end reports the omitted calls, and how to replay the cassettes.
func (x *exporter) end(code int) error {
	if code != exitClean {
		x.say("go test failed: what it replayed up to then is written")
	}
	for _, why := range slices.Sorted(maps.Keys(x.left)) {
		x.say("left out, %s: %s", why, strings.Join(x.left[why], ", "))
	}
	if len(x.files) == 0 || len(x.left) > 0 {
		code = cmp.Or(code, exitFindings)
	}
	if len(x.files) == 0 {
		x.say("nothing is written")
		return exitWith(code)
	}
	ignored := ""
	if names := page.Distinct(x.names); len(names) > 0 {
		ignored = fmt.Sprintf("cassette.WithIgnoreHeaders(%#v...)", names)
	}
	x.say("%s: a test replays its own with recorder.New(\"testdata/\"+t.Name(), recorder.WithMatcher(cassette.NewDefaultMatcher(%s)))",
		page.Count(len(x.files), "cassette", "cassettes"), ignored)
	return exitWith(code)
}

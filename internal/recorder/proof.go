package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Proven is a [store.Check] that finds records which differ from their raw answers. A reviewer reads the record, and a
// test is served the raw answer; a record is proven if both say the same (design R16). A missing or altered raw answer
// is the finding of another rule.
func Proven(d *store.Doc) (wrong []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		if raw, err := d.Raw(i); err == nil {
			wrong = append(wrong, prove(d, i, raw, &modelio.Numbering{})...)
		}
	}
	return wrong
}

// prove returns where a record differs from its raw answer. numbering is that of the request, or nil if unknown.
func prove(d *store.Doc, i int, raw []byte, numbering *modelio.Numbering) []snapshot.Violation {
	p := &proof{doc: d, index: i, record: &d.Document.Snapshots[i], raw: raw, numbering: numbering}
	p.run()
	return p.wrong
}

// ViolationAt returns a violation of a rule at a path in the i-th record of a document.
func ViolationAt(i int, rule, message string, path ...string) snapshot.Violation {
	pointer := jsontext.PointerTo(append([]string{"snapshots", strconv.Itoa(i)}, path...)...)
	return snapshot.Violation{Pointer: pointer, Rule: rule, Message: message}
}

// A proof compares a record with its raw answer.
type proof struct {
	doc       *store.Doc
	index     int // of the record
	record    *snapshot.Snapshot
	raw       []byte
	numbering *modelio.Numbering
	named     media // media of the answer, by name
	wrong     []snapshot.Violation
}

// Read returns a [store.Check] that finds readings which add, change or leave out a tool call, except for allowed
// kinds.
func Read(allowed []string) store.Check {
	return func(d *store.Doc) (wrong []snapshot.Violation) {
		for i := range d.Document.Snapshots {
			record := &d.Document.Snapshots[i]
			all := record.Response.Readings
			if raw, err := d.Raw(i); record.Response.ReadingsMore > 0 && err == nil { // Proven checks the readings in the record
				p := &proof{doc: d, record: record, raw: raw}
				answer := rawAnswer(record, raw)
				if got, err := p.decode(answer); err == nil {
					all = p.readings(answer, got)
				}
			}
			for _, r := range all {
				if r.IsOfCall() && !slices.Contains(allowed, r.Kind) {
					message := fmt.Sprintf("some programs read %s in the answer; record it again, or if all is well "+
						`have config.json say "readings": [%q]`, reading.Sentence(r), r.Kind)
					wrong = append(wrong, ViolationAt(i, snapshot.RuleReadings, message, "response", "readings"))
					break
				}
			}
		}
		return wrong
	}
}

// decode decodes the raw answer as the recording did.
func (p *proof) decode(answer *provider.Answer) (*modelio.Response, error) {
	codec := CodecNamed(p.record.Request.API, p.record.Provider)
	switch {
	case codec == nil:
		return nil, fmt.Errorf("%q is no API that this traceforge knows", p.record.Request.API)
	case p.record.Response.Note != "":
		return provider.DecodeWhole(answer)
	}
	return codec.DecodeResponse(answer)
}

// readings returns all readings of the raw answer. got is the decoded answer.
func (p *proof) readings(answer *provider.Answer, got *modelio.Response) []snapshot.Reading {
	return reading.Of(answer, p.record.Request.API, cmp.Or(p.record.Provider, p.doc.Provider), got)
}

// file returns the path of the raw answer for messages.
func (p *proof) file() string {
	return path.Join(p.doc.Provider, p.doc.Name, snapshot.RawName(p.record.Number(), &p.record.Response))
}

// report adds a violation at a pointer into the response.
func (p *proof) report(pointer, format string, args ...any) {
	p.reportAt("/response"+pointer, format, args...)
}

// reportAt adds a violation at a pointer into the record.
func (p *proof) reportAt(pointer, format string, args ...any) {
	v := ViolationAt(p.index, snapshot.RuleAnswer, fmt.Sprintf(format, args...))
	v.Pointer += pointer
	p.wrong = append(p.wrong, v)
}

func (p *proof) run() {
	said := &p.record.Response
	checkHeaders(said.Headers, p.report)
	if said.RawOutputRef == "" {
		switch {
		case replayedTransportError(p.record) == nil && !isMigrated(p.record):
			p.report("/raw_output_ref", "is missing, and there is no error of the transport: replay has nothing to serve")
		case replayedTransportError(p.record) != nil && len(said.Candidates) > 0:
			p.report("/error", "says that no answer came, and the record has one: the error is what replay serves")
		}
		return
	}
	api := p.record.Request.API
	codec := CodecNamed(api, p.record.Provider)
	if codec == nil {
		p.report("/raw_output_ref", "cannot be held against the record, as %q is no API that this traceforge knows", api)
		return
	}
	if why := codec.Unlike(&p.record.Request, said.Status < 400); why != "" {
		p.reportAt("/request/api", "is %s, and the request is of another API: %s", api, why)
	}
	p.checkStatus(api)
	answer := rawAnswer(p.record, p.raw)
	p.checkTiming(answer)
	if said.Note != "" {
		if _, err := codec.DecodeResponse(answer); err == nil {
			p.report("/note", "says that %s has no answer of %s, and it has: record it again", p.file(), api)
			return
		}
	}
	got, err := p.decode(answer)
	if err != nil {
		p.report("/raw_output_ref", "names %s, which is no such answer: %v", p.file(), err)
		return
	}
	if said.Incomplete == "" && !got.Complete && got.Error == nil {
		p.report("/incomplete", "is missing: %s ends before its end", p.file())
	}
	p.compareReadings(p.readings(answer, got))
	p.compare(got)
}

// compareReadings reports readings that are only in the raw answer or only in the record.
func (p *proof) compareReadings(all []snapshot.Reading) {
	said := &p.record.Response
	told, more := reading.Told(all)
	for i := range max(len(told), len(said.Readings)) {
		switch {
		case i >= len(said.Readings):
			p.report("/readings", "does not say that programs read %s in %s", reading.Sentence(told[i]), p.file())
		case i >= len(told):
			p.report("/readings", "says that programs read %s in %s, and none does: record it again",
				reading.Sentence(said.Readings[i]), p.file())
		case told[i] != said.Readings[i]:
			p.report(fmt.Sprintf("/readings/%d", i), "is %s, and programs read %s in %s",
				reading.Sentence(said.Readings[i]), reading.Sentence(told[i]), p.file())
		default:
			continue
		}
		return
	}
	if more != said.ReadingsMore {
		p.report("/readings_more", "is %d, must be %d: so many more readings has %s", said.ReadingsMore, more, p.file())
	}
}

// isMigrated reports whether a record was migrated from a layout without raw answers. Such a record is for people:
// replay cannot serve it.
func isMigrated(s *snapshot.Snapshot) bool {
	return strings.HasPrefix(s.Source.Origin, MigratedFrom)
}

// checkStatus reports a status that no server sends.
func (p *proof) checkStatus(api string) {
	switch status := p.record.Response.Status; {
	case isDirect(api) && status != 0:
		p.report("/status", "is %d, and a call that is no HTTP has none", status)
	case !isDirect(api) && (status < 100 || status > 599):
		p.report("/status", "is %d, must be from 100 to 599", status)
	}
}

// checkTiming reports times that do not fit the stream's events, or that make a replay longer than the recording.
func (p *proof) checkTiming(answer *provider.Answer) {
	times := p.record.Response.TimingMS
	if times == nil {
		return
	}
	n := 0
	for events := answer.Events(); events != nil && events.NextRaw() != nil; {
		n++
	}
	if n != len(times) {
		p.report("/timing_ms", "has %d times, and %s has %s", len(times), p.file(), count(n, "event"))
	}
	if !slices.IsSorted(times) || slices.Max(times) > p.record.Response.LatencyMS {
		p.report("/timing_ms", "must rise up to latency_ms at most")
	}
}

// compare reports where the record differs from its decoded raw answer.
func (p *proof) compare(decoded *modelio.Response) {
	said := &p.record.Response
	got, err := p.asRecorded(decoded, p.numbering)
	differ := false
	if err == nil && !store.SameAnswer(got, said) {
		differ, err = p.compareCores(decoded)
	}
	switch {
	case err != nil:
		p.report("/raw_output_ref", "names %s, which cannot be kept: %v", p.file(), err)
		return
	case differ:
		return // other differences would compare two different answers
	}
	sourcesOf(said, got)
	var a, b [16]fact // enough for one candidate without an allocation
	theirs := facts(a[:0], got)
	for n, mine := range facts(b[:0], said) {
		if mine.text != theirs[n].text || !texts.Equal(mine.count, theirs[n].count) {
			p.reportDifference(mine.pointer, mine.value(), theirs[n].value())
		}
	}
}

// asRecorded returns a decoded answer in the form of a record.
func (p *proof) asRecorded(decoded *modelio.Response, n *modelio.Numbering) (*snapshot.Response, error) {
	resp, err := asRecorded(decoded, p.record.Response.Status, n, &p.named)
	if err != nil {
		return nil, err
	}
	return &snapshot.Response{Response: *resp, TokensUsed: resp.Usage.Used()}, nil
}

// compareCores reports the differences of two cores whose bytes differ, and whether there are any. The ids of each are
// numbered again on their own, since the numbers from the request are not known here.
func (p *proof) compareCores(decoded *modelio.Response) (differ bool, err error) {
	alone := p.record.Response
	numbered, err := new(modelio.Numbering).Response(&alone.Response)
	got, err2 := p.asRecorded(decoded, &modelio.Numbering{})
	if err := errors.Join(err, err2); err != nil {
		return false, err
	}
	alone.Response = *numbered
	stored, err := snapshot.ResponseCore(&alone)
	core, err2 := snapshot.ResponseCore(got)
	if err := errors.Join(err, err2); err != nil {
		return false, err
	}
	for _, d := range drift.JSON(stored, core) {
		if !namedThing.Match(d.Recorded) || !namedThing.Match(d.Got) {
			p.reportDifference(d.Pointer, plain(d.Recorded), plain(d.Got))
			differ = true
		}
	}
	return differ, nil
}

// namedThing matches a numbered id of something that a provider keeps under a name. Without the request, such an id is
// not recognised.
var namedThing = regexp.MustCompile(`^"(batch|cachedContent|file)_[0-9]+"$`)

// plain returns a JSON value for a message, a string without quotes.
func plain(value []byte) string {
	if v := jsontext.ValueOf(value); v.IsString() {
		return v.Word()
	}
	return string(value)
}

// A fact is something that a record says of an answer besides its core: a text or a count, with empty or nil for
// nothing.
type fact struct {
	pointer, text string
	count         *int64
}

func (f fact) value() string {
	if f.count != nil {
		return strconv.FormatInt(*f.count, 10)
	}
	return f.text
}

// facts appends the facts of an answer, in the same order for each record.
func facts(all []fact, r *snapshot.Response) []fact {
	u := cmp.Or(r.Usage, &modelio.Usage{})
	all = append(all, []fact{
		{"/model", r.Model, nil},
		{"/tokens_used", "", r.TokensUsed},
		{"/usage/cache_read", "", u.CachedContentTokens},
		{"/usage/cache_write", "", u.CacheWriteTokens},
		{"/usage/cache_write_1h", "", u.CacheWriteHourTokens},
		{"/usage/input", "", u.InputTokens},
		{"/usage/output", "", u.OutputTokens},
		{"/usage/reasoning", "", u.ThoughtsTokens},
		{"/usage/tool_use", "", u.ToolUseTokens},
		{"/usage/total", "", u.TotalTokens},
	}...)
	candidates := r.Candidates
	if len(candidates) == 0 {
		candidates = make([]modelio.Candidate, 1) // files have it so
	}
	for i := range candidates {
		under := ""
		if i > 0 {
			under = fmt.Sprintf("/candidates/%d", i-1)
		}
		all = append(all, fact{under + "/citations", citedText(candidates[i].Citations), nil},
			fact{under + "/finish_reason_raw", candidates[i].FinishReasonRaw, nil})
	}
	return all
}

// resultOf matches a source that is the result of a tool call: the number of the call, and the rest.
var resultOf = regexp.MustCompile(`^call_[0-9]+(:[0-9]+)$`)

// sourcesOf gives the citations of got the record's sources for results of tool calls if the rest agrees. No stored
// request has the ids of the calls, so their numbers cannot be compared.
func sourcesOf(said, got *snapshot.Response) {
	for i := range min(len(said.Candidates), len(got.Candidates)) {
		numbered := said.Candidates[i].Citations
		cites := slices.Clone(got.Candidates[i].Citations)
		for n := range min(len(numbered), len(cites)) {
			if m := resultOf.FindStringSubmatch(numbered[n].Source); m != nil && strings.HasSuffix(cites[n].Source, m[1]) {
				cites[n].Source = numbered[n].Source
			}
		}
		got.Candidates[i].Citations = cites
	}
}

// citedText returns citations as one text, or "".
func citedText(all []modelio.Citation) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	for _, c := range all {
		from, to := "", ""
		if c.Start != nil && c.End != nil {
			from, to = strconv.FormatInt(*c.Start, 10), strconv.FormatInt(*c.End, 10)
		}
		fmt.Fprintf(&b, "%s-%s %q %q %q %q\n", from, to, c.URL, c.Title, c.Quote, c.Source)
	}
	return b.String()
}

// reportDifference reports a place at which the record differs from what is served. Secrets are masked before the texts
// are cut for display, since part of a secret is not recognised.
func (p *proof) reportDifference(pointer, said, served string) {
	const before, most = 20, 80 // bytes of a text
	secrets := secret.New()
	secrets.Environment(os.Environ())
	said, served = secrets.Mask(said), secrets.Mask(served)
	same := 0
	for same < min(len(said), len(served)) && said[same] == served[same] {
		same++
	}
	show := func(text string) string {
		if text == "" {
			return "nothing"
		}
		begin := max(0, min(same, len(text))-before)
		end := min(begin+most, len(text))
		shown := strconv.Quote(strings.ToValidUTF8(text[begin:end], ""))
		if begin > 0 {
			shown = "…" + shown
		}
		if end < len(text) {
			shown += "…"
		}
		return shown
	}
	p.report(pointer, "says %s, and %s, which is what replay serves, says %s", show(said), p.file(), show(served))
}

// An openProof is the proof of a served answer. A whole answer is proven before it is served. A stream is proven at
// its end, when its caller closes it, or at the latest when the test ends: its first event is not delayed, and the
// stream is decoded once.
type openProof struct {
	call   *call
	doc    *store.Doc
	record int

	once    sync.Once
	raw     []byte       // nil if it was proven, or has none
	check   func() error // computes the hash of raw; nil if that was done
	failure *Failure
}

// openProofOf returns the proof of a call that the i-th record answers, with the raw answer, if any. The hash of a
// stream is a part of the proof, unless a fault may take the place of the answer.
func (r *run) openProofOf(c *call, i int) (d *openProof, err error) {
	d = &openProof{call: c, record: i}
	contentType := strings.Join(r.tape.records[i].Response.Headers["content-type"], ", ")
	if len(r.faults.all) == 0 && strings.HasPrefix(contentType, "text/event-stream") {
		d.raw, d.check = r.tape.doc.RawUnchecked(i)
	}
	if d.check == nil {
		d.raw, err = r.raw(i) // may read the document again
	}
	d.doc = r.tape.doc
	return d, err
}

// prove returns the failure of an answer that differs from its record, or nil.
func (s *setup) prove(d *openProof) *Failure {
	d.once.Do(func() {
		if d.check != nil {
			if err := d.check(); err != nil {
				d.failure = s.asFailure(err)
				return
			}
		}
		if wrong := prove(d.doc, d.record, d.raw, &d.call.numbering); len(wrong) > 0 {
			e := &snapshot.Error{File: s.Shown + "/" + d.doc.File(), Violations: wrong}
			brief := fmt.Sprintf("%s, call %d, says one thing and serves another", e.File,
				d.doc.Document.Snapshots[d.record].Number())
			d.failure = failuref(brief, indent(e.Error()), "accept: "+s.Accept)
		}
		d.raw, d.check = nil, nil
	})
	return d.failure
}

// proven returns the failure of an answer that differs from its record. A nil proof, as for an answer of this run, is
// proven.
func (r *report) proven(d *openProof) error {
	if d == nil || r.run.prove(d) == nil {
		return nil
	}
	r.failCall(d.call.what, d.call.id(), d.failure) // a test that has ended was told already
	return d.failure
}

// proveRest proves the streams that were neither read to their end nor closed, and reports sessions over a WebSocket.
func (r *report) proveRest() {
	for _, d := range r.run.proofs {
		if r.run.prove(d) != nil && r.failed[d.call.id()] == nil {
			r.fail(d.failure)
		}
	}
}

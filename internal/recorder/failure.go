package recorder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Failure is why a test fails: one line for the caller of the model, and the text that the test prints when it ends.
type Failure struct {
	Text    string          // "" if another failure of the test says it
	Source  snapshot.Source // of the call; zero if no call failed
	Again   bool            // it was told already, in this test or in another of the process
	brief   string
	ofModel bool         // the call was one of a model
	drift   *usage.Drift // for the receipt; nil if the failure is no drift
	output  string       // where the rest of the text is
}

// Drifted reports whether the failure is in the receipt of the test.
func (f *Failure) Drifted() bool { return f.drift != nil }

// Error returns the line, and where the rest of the text is.
func (f *Failure) Error() string {
	if f.Text == f.brief {
		return "traceforge: " + f.brief
	}
	return "traceforge: " + f.brief + " (see " + cmp.Or(f.output, ofTheTest) + ")"
}

// failuref makes a failure from a line and the indented lines below it.
func failuref(brief string, below ...string) *Failure {
	var text strings.Builder
	text.WriteString(brief)
	for _, block := range below {
		for line := range strings.Lines(block) {
			text.WriteString("\n" + strings.TrimRight(line, "\n"))
		}
	}
	return &Failure{brief: brief, Text: text.String()}
}

// againf is failuref for something that was told already.
func againf(brief string, below ...string) *Failure {
	f := failuref(brief, below...)
	f.Again = true
	return f
}

// file names the test's document, which has been read.
func (r *run) file() string { return r.Shown + "/" + r.tape.doc.File() }

// recordName names a record of the test's document.
func (r *run) recordName(i int) string {
	return fmt.Sprintf("%s, call %d", r.file(), r.tape.records[i].Number())
}

// A Miss is a request that no record answers, and the recorded request that it is compared with. Both are canonical
// JSON with secrets masked.
type Miss struct {
	Request  string
	Recorded string // empty if it is compared with none
}

// tellMiss calls Options.Missed for a call that no record answers. record is the one that it is compared with, or nil.
func (s *setup) tellMiss(c *call, record *snapshot.Snapshot) {
	if s.Missed == nil {
		return
	}
	text := func(req *modelio.Request) string {
		core, _ := snapshot.RequestCore(req, nil) // a request with a key has a core
		return s.plainText(string(core))
	}
	miss := Miss{Request: text(c.request)}
	if record != nil {
		miss.Recorded = text(&record.Request)
	}
	s.Missed(miss)
}

// unrecordedFailure is the failure of a call without a matching snapshot. It is drift if the test has a record left to
// compare the call with, else a missing snapshot.
func (r *report) unrecordedFailure(c *call) *Failure {
	if r.isTold(c) {
		return &Failure{brief: c.title() + " has the error of a tool's call, so it is compared with no record"}
	}
	i, rule := r.run.match(c)
	if rule == hostRules {
		return r.rulesFailure(c, i, rule,
			"a call of "+r.run.tape.records[i].Provider+" before config.json gave its host to "+c.provider)
	}
	if f := r.driftFailure(c); f != nil {
		return f
	}
	r.run.tellMiss(c, nil)
	state := r.run.tested() + " has none recorded"
	if n := len(r.run.tape.records); n > 0 {
		state = fmt.Sprintf("%s has %s, and none fits it", r.run.tested(), count(n, "recorded call"))
	}
	if lanes := r.run.tape.otherLanes(c.knownKey()); len(lanes) > 0 {
		state = fmt.Sprintf("it was made in %s, and is recorded in %s", laneText(c.lane), strings.Join(lanes, " and "))
	}
	obstacle, way := r.obstacle(c), r.wayOutFor(c, "record")
	if rule == laneRule {
		obstacle, way = "", way+" (no call is made)"
	}
	summary := indent(r.run.summary(c.request))
	renamed, move := r.run.renamedFrom(c)
	f := r.alsoMissingFailure(c, renamed, move)
	if f == nil {
		f = failuref(fmt.Sprintf("%s has no snapshot: %s", c.title(), state), summary, r.neighbours(), renamed, obstacle, way)
	}
	return f.missing(c.provider, summary)
}

// missing marks a failure as that of a call compared with no record.
func (f *Failure) missing(provider, summary string) *Failure {
	return f.withDrift(&usage.Drift{Kind: usage.Missing, Provider: provider, Summary: strings.Split(summary, "\n")})
}

// withDrift marks a failure as that of a call that no record answers, with the receipt's drift d.
func (f *Failure) withDrift(d *usage.Drift) *Failure {
	f.drift = d
	return f
}

// isOfCall reports whether no record answers a call, also if it drifted.
func (f *Failure) isOfCall() bool { return f.drift != nil && f.drift.Kind != usage.Uncalled }

// neighbours names the first recorded calls that were not made yet.
func (r *report) neighbours() string {
	const most = 3
	var lines []string
	for i := range r.run.tape.records {
		if r.run.tape.plays[i].played || r.run.tape.plays[i].compared {
			continue
		}
		if len(lines) == most {
			return strings.Join(append(lines, "  …"), "\n")
		}
		lines = append(lines, fmt.Sprintf("not called so far: call %d: %s", r.run.tape.records[i].Number(),
			r.run.lastSaid(&r.run.tape.records[i].Request)))
	}
	return strings.Join(lines, "\n")
}

// lastSaid returns the last line of the summary of a request.
func (s *setup) lastSaid(req *modelio.Request) string {
	lines := strings.Split(strings.TrimSpace(s.summary(req)), "\n")
	return lines[len(lines)-1]
}

func (r *report) surplusFailure(i int) *Failure {
	times := len(r.run.tape.equalTo(r.run.tape.key(i)))
	request := &r.run.tape.records[i].Request
	made, there := "made", "are"
	if request.Tool() != "" {
		made = "called"
	}
	if times == 1 {
		there = "is"
	}
	f := failuref(fmt.Sprintf("%s was %s once too often: there %s %s of it, and this call would be number %d",
		titleOf(r.run.tape.records[i].Provider, request), made, there, count(times, "recording"), times+1),
		"last recorded in "+r.run.recordName(i), r.loop(times), r.wayOut("accept"))
	return f.missing(r.run.tape.records[i].Provider, indent(r.run.summary(request)))
}

// loop returns why a benchmark calls more or less often than the times that were recorded, or "" for other tests.
func (r *report) loop(times int) string {
	if !strings.HasPrefix(r.run.Test, "Benchmark") {
		return ""
	}
	return fmt.Sprintf("a benchmark's loop makes another number of calls in each run: make each call before the loop, "+
		"or run with -benchtime %dx", times)
}

// namingFailure is the failure of a call that names what another answer gave out than when it was recorded.
func (r *report) namingFailure(c *call, i int) *Failure {
	brief := fmt.Sprintf("%s names %s, and its recording %s: it follows another answer", c.title(),
		strings.Join(c.ids, ", "),
		cmp.Or(strings.Join(r.run.tape.records[i].Source.IDs, ", "), "nothing"))
	summary := indent(r.run.summary(c.request))
	return failuref(brief, summary, "recorded in "+r.run.recordName(i), r.wayOut("accept")).missing(c.provider, summary)
}

func (r *report) uncalledFailure(i int) *Failure {
	below := []string{indent(r.run.summary(&r.run.tape.records[i].Request))}
	if r.run.Mode == UpdateNew && len(r.run.takes) > 0 {
		below = append(below, "a call that has no snapshot was made instead, maybe the same one changed: "+
			r.run.updating("new")+" replaces nothing")
	}
	accept := r.run.Accept
	if (search{r.run, r.run.tape}).isBeforeOthers(i) {
		accept = r.run.with("all")
	}
	if times := len(r.run.tape.equalTo(r.run.tape.key(i))); times > 1 {
		below = append(below, r.loop(times))
	}
	f := failuref("recorded call was not made: "+r.run.recordName(i), append(below, "accept: "+accept)...)
	s := &r.run.tape.records[i]
	f.drift = &usage.Drift{Kind: usage.Uncalled, Record: s.ID, Call: s.Number(), Provider: s.Provider,
		File: s.Source.File, Line: s.Source.Line, Summary: strings.Split(below[0], "\n")}
	return f
}

// anyProvider is where the document of a test without calls is looked for first; then come all others.
const anyProvider = "openai"

// noCallFailure is the failure of a test without a call, whose document has not been read. It is nil if the test may
// make none and none is recorded. An update of such a test removes its document.
func (r *run) noCallFailure() *Failure {
	way := cmp.Or(r.astray, r.reaches())
	if r.allows(NoCalls) {
		way = "accept: " + r.Accept
	}
	switch doc, err := r.store.Load(r.name, anyProvider); {
	case r.allows(NoCalls) && (modes[r.Mode].drops || errors.Is(err, fs.ErrNotExist)):
		return nil
	case r.allows(NoCalls) && err != nil:
		return r.asFailure(err)
	case err != nil:
		return failuref("no model call was made", way)
	default:
		recorded := isAre(len(doc.Document.Snapshots), "is", "are")
		return failuref(fmt.Sprintf("no model call was made, but %s recorded", recorded), way)
	}
}

func (s *setup) unknownCallFailure(w *wire) *Failure {
	host := w.URL.Hostname()
	return failuref(fmt.Sprintf("%s is no model call that traceforge knows", w),
		"record it as it is: "+s.given("Record", host),
		"or let it pass while recording, and fail in replay: "+s.given("PassThrough", host))
}

// asFailure turns an error of the store into a Failure, with the command that remedies it.
func (s *setup) asFailure(err error) *Failure {
	if f := asA[*Failure](err); f != nil {
		return f
	}
	text := s.shown(err.Error())
	broken := asA[*snapshot.Error](err)
	altered := errors.Is(err, snapshot.ErrSeal) || errors.Is(err, snapshot.ErrRaw)
	switch {
	case errors.Is(err, snapshot.ErrNewer), strings.HasSuffix(text, snapshot.Unsealed): // included in the text
	case altered && broken != nil && broken.File != "":
		return s.alterationFailure(broken)
	case altered || errors.Is(err, snapshot.ErrVersion):
		text += "\nrecord again: " + s.Accept
	}
	brief, _, _ := strings.Cut(text, "\n")
	return &Failure{brief: brief, Text: text}
}

// shown returns a text with the store's directory as failures name it.
func (s *setup) shown(text string) string {
	return strings.ReplaceAll(filepath.ToSlash(text), filepath.ToSlash(s.Dir), s.Shown)
}

// altered words the error for a file of the store that was altered or is gone: the event first, then the hashes.
func (s *setup) alterationFailure(e *snapshot.Error) *Failure {
	file, what := s.shown(e.File), " was changed after it was recorded"
	bare := snapshot.Error{Violations: e.Violations} // an error without a file names none, and no way out
	text := s.shown(bare.Error())
	if errors.Is(e, fs.ErrNotExist) {
		file, what = strings.TrimSuffix(file, ".json"), " lacks an answer that was recorded"
	}
	bought := "a new answer"
	if doc := s.store.Altered(strings.TrimPrefix(file, s.Shown+"/")); doc != nil {
		text = strings.TrimPrefix(s.alteredAnswers(doc)+"\n"+text, "\n")
		if n := len(doc.Document.Snapshots); n > 1 {
			bought = count(n, "new answer")
		}
	}
	restore := "put back a copy of it, as none was found in git"
	program, named := s.store.GitAt()
	switch _, err := s.store.Git("cat-file", "-e", "HEAD:."+strings.TrimPrefix(file, s.Shown)); {
	case err != nil:
	case s.hasOtherLineEnds(file):
		restore = fmt.Sprintf("git has given the store CRLF line ends: traceforge repair writes the .gitattributes "+
			"that keeps it from that\nthen restore it as it was committed: "+
			"%[1]s rm -rq --cached %[2]s && %[1]s checkout HEAD -- %[2]s", program, gotest.Quote(named))
	default:
		restore = "restore it as it was committed: " + program + " checkout HEAD -- " +
			gotest.Quote(named+strings.TrimPrefix(file, s.Shown))
	}
	return failuref(file+what, indent(text), restore, "or record again, which buys "+bought+": "+s.Accept)
}

// hasOtherLineEnds reports whether a document, or the document beside a file, has line ends that only git writes.
func (s *setup) hasOtherLineEnds(file string) bool {
	data, _ := store.ReadFile(s.store.Path(store.DocumentOf(strings.TrimPrefix(file, s.Shown+"/"))))
	return bytes.Contains(data, []byte("\r\n"))
}

// alteredAnswers names what a document says about answers that their raw answers do not.
func (s *setup) alteredAnswers(doc *store.Doc) string {
	var lines []string
	for _, w := range Proven(doc) {
		lines = append(lines, s.scanner().Mask(w.Pointer+": "+w.Message))
	}
	return strings.Join(lines, "\n")
}

// summary shortens a request to a few lines by which a reader recognises it.
func (s *setup) summary(req *modelio.Request) string {
	line := func(name, text string) string {
		return name + ": " + short(s.scanner().Mask(text)) + "\n"
	}
	if tool := req.Tool(); tool != "" {
		return line(toolNamed(tool), string(req.Messages[0].Content[0].ToolRequest.Input))
	}
	if method := methodOf(req); method != "" {
		return line(method, string(req.Options["params"]))
	}
	var b strings.Builder
	said := func(name string) string { return provider.MetadataWord(req.Options, "$url", name) }
	if path := said("path"); req.Model == "" && path != "" {
		b.WriteString(line("request", strings.TrimSpace(said("method")+" "+path)))
	} else {
		fmt.Fprintf(&b, "model: %s\n", req.Model)
	}
	if req.Prompt != nil {
		b.WriteString(line("prompt", *req.Prompt))
	}
	const most = 4
	for i := range req.Messages {
		if skipped := len(req.Messages) - most; skipped > 0 && i == 1 {
			fmt.Fprintf(&b, "… %d messages\n", skipped)
		}
		if i == 0 || i > len(req.Messages)-most {
			b.WriteString(line(string(req.Messages[i].Role), textOf(req.Messages[i].Content)))
		}
	}
	return b.String()
}

// textOf returns a message's text, or the JSON of its parts if they hold more.
func textOf(parts []modelio.Part) string {
	if len(parts) == 1 && parts[0].Text != nil {
		return *parts[0].Text
	}
	text, _ := json.Marshal(parts) // the parts have a core
	return string(text)
}

func short(text string) string {
	const most = 120 // runes
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// atMost returns the first n of a list, and after begin the number of the others.
func atMost(n int, list []string, begin string) []string {
	if more := len(list) - n; more > 0 {
		return append(list[:n:n], fmt.Sprintf("%sand %d more", begin, more))
	}
	return list
}

func count(n int, noun string) string { return isAre(n, noun, noun+"s") }

func isAre(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

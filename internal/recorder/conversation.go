package recorder

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// refusedServed is the failure of a call that its provider refuses because of an id from a stored answer. The provider
// may no longer know the id. Such a refusal is not recorded.
func (r *Recorder) refusedServed(tk *take, w *wire, resp *http.Response) error {
	if resp.StatusCode < 400 || resp.StatusCode >= 500 {
		return nil
	}
	id := r.run.carriesServed(tk.call, w)
	if id == "" {
		return nil
	}
	const most = 64 << 10 // bytes of a refusal
	said, _ := io.ReadAll(io.LimitReader(resp.Body, most))
	resp.Body.Close()
	tk.end(dropped, nil)
	if plain, err := r.run.decodeContent(resp.Header.Get("Content-Encoding"), said); err == nil {
		said = plain
	}
	brief := fmt.Sprintf("%s answered %s: the call has the id %s of an answer that was served from the store, "+
		"which the provider may not know any more", tk.provider, statusText(resp.StatusCode), id)
	accept := ""
	if t := r.pending.earlier; t != nil && len(t.records) > 0 {
		accept = "or take over the answers that wait: traceforge accept " + r.run.name
	}
	return r.report.failCall(tk.what, tk.id(), failuref(brief, indent(r.run.summary(tk.request)),
		indent(short(r.run.scanner().Mask(string(said)))), r.report.wholeConversation(), accept))
}

// repliesToServed is the failure of a changed reply to a question that the store asked: the server has asked nothing in
// this run.
func (r *Recorder) repliesToServed(w *wire, tk *take) error {
	if s := tk.codec.Session; s == nil || !r.sessions.awaits(s, w) {
		return nil
	}
	tk.end(dropped, nil)
	return r.report.failCall(tk.what, tk.id(),
		failuref(tk.title()+" replies to what an answer from the store asks, and not as it was recorded",
			indent(r.run.summary(tk.request)), r.report.wholeConversation()))
}

// carriesServed returns an id in a request that came from a stored answer, or "". The refs of tool calls do not count:
// no provider looks them up.
func (r *run) carriesServed(c *call, w *wire) string {
	refs := map[string]bool{}
	for i := range c.request.Messages {
		for _, part := range c.request.Messages[i].Content {
			if part.ToolRequest != nil {
				ref, _ := c.numbering.Original(part.ToolRequest.Ref)
				refs[ref] = true
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given.learn(r)
	isIts := func(id string) bool { return !refs[id] && w.names(id) }
	if i := slices.IndexFunc(r.given.served, isIts); i >= 0 {
		return r.given.served[i]
	}
	return ""
}

// follows reports whether a request names an id that the answer of an earlier take made, and not only repeats. The
// provider looks the id up, or no model made it and the request of the record does not have it. meant chooses which
// takes count. recorded is nil for a call without a record, for which the latter do not matter.
func (r *run) follows(c *call, recorded *modelio.Request, meant func(*take) bool) bool {
	w, ok := c.what.(*wire)
	ids, _ := lookedUp(c)
	isNew := func(id string) bool {
		if !w.names(id) {
			return false
		}
		core, _ := snapshot.RequestCore(recorded, nil) // a record has a core
		return !bytes.Contains(core, []byte(id))
	}
	return ok && slices.ContainsFunc(r.takes, func(tk *take) bool {
		if !meant(tk) {
			return false
		}
		if len(ids) > 0 {
			a, _ := tk.received() // an empty one, if it cannot be decoded
			theirs, _ := lookedUp(tk.call)
			made := func(id string) bool { return bytes.Contains(a.Body, []byte(id)) && !slices.Contains(theirs, id) }
			if slices.ContainsFunc(ids, made) {
				return true
			}
		}
		return recorded != nil && slices.ContainsFunc(tk.madeIDs(), isNew)
	})
}

// turnFailure is the failure of a live call of a conversation from the store. This run left out calls after which the
// provider would answer it. It is nil for any other call.
func (r *report) turnFailure(c *call, t *tape) *Failure {
	if !c.speaks() {
		return nil // the usual case
	}
	s := search{r.run, t}
	also := "what waits in " + r.run.Shown + "/.pending"
	switch said := s.unsaid(c); {
	case r.run.Mode == Mixed && s.wasServed(c.talk):
		also = "what was said in it since"
	case len(said) == 0:
		return nil
	case t == r.run.tape:
		also = calls(said) + " of the recording"
	}
	brief := fmt.Sprintf("%s goes on with %s, where its provider has also %s", c.title(), c.talk, also)
	return failuref(brief, indent(r.run.summary(c.request)), r.wholeConversation())
}

// wayOutFor is wayOut for a call without a record: one that an update would refuse needs all calls.
func (r *report) wayOutFor(c *call, verb string) string {
	if len(search{r.run, r.run.tape}.unsaid(c)) > 0 {
		return verb + ": " + r.run.with("all")
	}
	return r.wayOut(verb)
}

// unsaid returns the numbers of unplayed records in the conversation of a call, if an answer from the store began the
// conversation.
func (s search) unsaid(c *call) []int {
	if !c.speaks() || !s.wasServed(c.talk) {
		return nil
	}
	return s.tape.numbers(func(j int) bool {
		of := &s.tape.records[j]
		return s.tape.isUncalled(j) && slices.Contains(of.Source.IDs, c.talk) && !reads(&of.Request)
	})
}

// checkTurns fails a test that would keep answers of a conversation although a call before them is gone.
func (r *Recorder) checkTurns(partial bool) {
	if len(r.report.failures) > 0 || partial || !modes[r.run.Mode].drops {
		return
	}
	for _, t := range []*tape{r.run.tape, r.pending.earlier} {
		for _, number := range t.numbers(func(i int) bool { return (search{&r.run, t}).isBeforeOthers(i) }) {
			brief := fmt.Sprintf("%s was not made, and its provider answered other calls of its conversation after it",
				snapshot.ID(r.run.name, number))
			r.report.fail(failuref(brief, r.report.wholeConversation()))
		}
	}
}

// isBeforeOthers reports whether an unplayed record was said in a conversation from the store, before a call that the
// store has answered in this run.
func (s search) isBeforeOthers(i int) bool {
	gone := &s.tape.records[i]
	isAfter := func(c *call, record *snapshot.Snapshot) bool {
		return c.speaks() && slices.Contains(gone.Source.IDs, c.talk) && gone.Timestamp.Before(record.Timestamp) &&
			s.wasServed(c.talk)
	}
	served := func(d *openProof) bool { return isAfter(d.call, &s.run.tape.records[d.record]) }
	adopted := func(tk *take) bool { return tk.origin != nil && isAfter(tk.call, &tk.origin.record) }
	return s.tape.isUncalled(i) && !reads(&gone.Request) &&
		(slices.ContainsFunc(s.run.proofs, served) || slices.ContainsFunc(s.run.takes, adopted))
}

// speaks reports whether a call says something in a conversation.
func (c *call) speaks() bool { return c.talk != "" && !reads(c.request) }

// reads reports whether a request only asks for what is there.
func reads(r *modelio.Request) bool {
	method := provider.MetadataWord(r.Options, "$url", "method")
	return len(r.Messages) == 0 && (method == "" || method == http.MethodGet)
}

// madeIDs returns the ids that an answer gives out and its request does not have. Those of models and tools do not
// count, since records number them.
func (tk *take) madeIDs() []string {
	w, ok := tk.what.(*wire)
	if tk.made != nil || !ok || tk.codec.Generates || tk.codec.Tools || tk.ending() == underWay {
		return tk.made
	}
	answer, _ := tk.received() // an empty one, if it cannot be decoded
	tk.made = append([]string{}, slices.DeleteFunc(handedOut(answer), w.names)...)
	return tk.made
}

// handedOut returns possible ids in an answer: strings with a member's name like id, and names and addresses of things
// that a provider keeps.
func handedOut(a *provider.Answer) (ids []string) {
	seen := a.Seen()
	if seen == nil {
		return appendIDs(nil, "", jsontext.ValueOf(a.Body))
	}
	for i := range seen {
		ids = appendIDs(ids, "", jsontext.ValueOf(seen[i].Said))
	}
	return ids
}

func appendIDs(ids []string, name string, v jsontext.Value) []string {
	const least = 8 // characters of an id: a shorter one may stand in any text
	for member, value := range v.Members() {
		ids = appendIDs(ids, member, value)
	}
	for _, element := range v.Elements() {
		ids = appendIDs(ids, name, element)
	}
	text := v.Word()
	isPath := strings.Contains(text, "/") && (name == "name" || name == "uri" || strings.HasSuffix(name, "_url"))
	isID := isPath || name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id")
	if isID && len(text) >= least && !strings.ContainsAny(text, " \n") {
		ids = append(ids, text)
	}
	return ids
}

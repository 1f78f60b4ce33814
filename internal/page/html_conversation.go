package page

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An htmlTest is the conversation of a test, as far as it changed.
type htmlTest struct {
	ID     string
	Of     *Difference
	Calls  []htmlCall
	Causes []htmlLink // set when links are known

	sent             map[int]string // last message of a call with a changed answer, in one line
	changed, answers int            // number of changed calls, and of their answers
	causes           []*Cause       // of its calls
	known            map[*Cause]bool
}

// An htmlCall is a call that shows something that no earlier call has shown.
type htmlCall struct {
	Title   string
	Changes []htmlChange // other than messages
	Turns   []htmlTurn
	Answer  []htmlChange
	Said    string // the answer, if it did not change
}

// An htmlTurn is a changed message, or several unchanged ones.
type htmlTurn struct {
	Change *htmlChange
	Fold   string // how many unchanged messages
	Said   []htmlSaid
}

type htmlSaid struct{ Role, Text string }

// conversation returns the page's view of a document's test, or nil.
func (c *Comparison) conversation(d *Difference) *htmlTest {
	if !c.Conversations || c.kept > HTMLLimit {
		return nil
	}
	return &htmlTest{Of: d, sent: map[int]string{}, known: map[*Cause]bool{}}
}

// keep keeps the conversation of a changed test.
func (c *Comparison) keep(t *htmlTest) {
	if t == nil || t.changed == 0 {
		return
	}
	t.ID = fmt.Sprintf("test-%d", len(c.tests)+1)
	c.tests = append(c.tests, t)
	text, _ := json.Marshal(t.Calls) // texts and numbers: about as long as in HTML
	c.kept += len(text)
}

// add adds a changed call, with everything that no earlier call of the test has shown.
func (t *htmlTest) add(call Call, causes []*Cause, now *snapshot.Snapshot) {
	if t == nil {
		return
	}
	t.changed++
	fresh := map[string]bool{} // keys of causes that no earlier call has
	for _, c := range causes {
		if !t.known[c] {
			t.known[c], fresh[c.Key], t.causes = true, true, append(t.causes, c)
		}
	}
	if len(call.Answer) > 0 {
		t.answers++
		t.sent[call.Call] = plaintext.Line(glanceOf(now).Sent)
	}
	if len(fresh) == 0 && len(call.Answer) == 0 {
		return // it continues a changed call, or has the same parameters
	}
	v := htmlCall{Title: plaintext.Line(Where(Place{Call: call.Call, File: call.File, Line: call.Line}))}
	known := 0 // number of messages from the call that it continues
	if now.Continues != nil {
		known = now.Continues.Messages
	}
	changed := map[int][]drift.Change{} // by message
	for _, change := range call.Request {
		switch i, isMessage := messageOf(change); {
		case isMessage:
			changed[i] = append(changed[i], change)
		case fresh[change.Key()]:
			v.Changes = append(v.Changes, htmlChangeOf(change, false))
		}
	}
	v.turns(now, known, changed)
	for _, change := range call.Answer {
		v.Answer = append(v.Answer, htmlChangeOf(change, true))
	}
	if len(v.Answer) == 0 {
		v.Said = plaintext.Text(drift.Head(saidWhole(&now.Response), htmlText))
	}
	t.Calls = append(t.Calls, v)
}

// turns adds the messages from number known on.
func (v *htmlCall) turns(now *snapshot.Snapshot, known int, changed map[int][]drift.Change) {
	var same []htmlSaid
	flush := func() {
		if len(same) > 0 {
			fold := same[0].Role + " message as before"
			if len(same) > 1 {
				fold = fmt.Sprintf("%d messages as before", len(same))
			}
			v.Turns, same = append(v.Turns, htmlTurn{Fold: fold, Said: same}), nil
		}
	}
	messages := now.Request.Messages
	last := len(messages)
	for i := range changed {
		last = max(last, i+1)
	}
	for i := known; i < last; i++ {
		is := false // the message is shown as a change
		for _, change := range changed[i] {
			flush()
			c := htmlChangeOf(change, false)
			v.Turns = append(v.Turns, htmlTurn{Change: &c})
			is = is || change.Fate() != drift.Removed
		}
		if !is && i < len(messages) {
			m := &messages[i]
			same = append(same, htmlSaid{plaintext.Line(string(m.Role)), plaintext.Text(drift.Head(texts(m.Content), htmlText))})
		}
	}
	flush()
}

// Hits summarizes what changed: "3 calls: system, model; 1 answer".
func (t *htmlTest) Hits() string {
	var kinds []string
	for _, cause := range t.causes {
		kinds = append(kinds, nameOf(cause.Change))
	}
	text := Count(t.changed, "call", "calls")
	if len(kinds) > 1 || kinds[0] != OtherAnswers {
		text += ": " + strings.Join(Most(3, kinds, "more"), ", ")
	}
	if t.answers > 0 {
		text += "; " + Count(t.answers, answerChanged, answersChanged)
	}
	return plaintext.Line(text)
}

// More says how many further calls changed; empty if none.
func (t *htmlTest) More() string {
	more := t.changed - len(t.Calls)
	if more == 0 {
		return ""
	}
	return Count(more, "more call has", "more calls have") + " the same changes, and answers as before"
}

// messageOf returns the number of the message that a change concerns.
func messageOf(c drift.Change) (i int, ok bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(c.Pointer, "/messages/"))
	return i, err == nil
}

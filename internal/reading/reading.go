// Package reading finds differences between an answer's record and what programs read from the answer. It parses the
// answer in the same ways as the official SDKs.
//
// A [way] is how one program parses the bytes: its framing, and which members it sees. A [step] is how the events of
// one API, or its complete answer, add to an [account]: the text, the calls and the finish reason that the program
// returns. [Of] makes an account for each way and step of the API, and compares it with the record's.
package reading

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Of returns what programs read in an answer of an API that resp does not say. Readings of calls come first.
func Of(a *provider.Answer, api, host string, resp *modelio.Response) []snapshot.Reading {
	f := finder{}
	if a.Status == http.StatusSwitchingProtocols {
		f.oddFrames(a.Body)
		return f.sorted()
	}
	all, known := byAPI[api]
	if !known || a.Status >= 300 {
		return nil
	}
	if resp != nil && !resp.Complete && a.Seen() != nil {
		if a = withoutHalf(a); len(a.Body) == 0 {
			return nil
		}
	}
	odd := !all.ours && f.odd(a, all.named)
	f.text = f.said.addRecord(resp)
	f.fails = resp != nil && resp.Error != nil
	if all.whole != nil && isWhole(a) {
		for _, w := range all.wholes {
			f.compareWhole(all.whole, &w, a, !odd)
			if odd = odd || w.odd; !odd { // all programs parse it like the first
				break
			}
		}
		return f.sorted()
	}
	if all.partly && a.Seen() == nil {
		return f.sorted()
	}
	for _, w := range all.ways {
		for n, add := range all.steps {
			told := w.accountOf(a, add, f.text)
			if (told.seen || !all.partly || n == 0) && !(n > 0 && slices.Contains(all.several, host)) {
				f.compare(told)
			}
		}
		if odd = odd || w.odd; !odd {
			break
		}
	}
	return f.sorted()
}

// withoutHalf returns a stream without its last line if that breaks off within the name of a field or within its data.
// No program reads such a line, and the record says that the answer is incomplete.
func withoutHalf(a *provider.Answer) *provider.Answer {
	end := bytes.LastIndexByte(a.Body, '\n') + 1
	line := a.Body[end:]
	err := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("data:")))).Decode(&json.RawMessage{})
	begins := func(name string) bool { return strings.HasPrefix(name, string(line)) }
	if !errors.Is(err, io.ErrUnexpectedEOF) && !begins("data: [DONE]") && !slices.ContainsFunc(fields, begins) {
		return a
	}
	cut := *a
	cut.Body = a.Body[:end]
	return &cut
}

// isWhole reports whether programs read an answer as one JSON value rather than as a stream, whatever its content type.
func isWhole(a *provider.Answer) bool {
	text := bytes.TrimSpace(a.Body)
	return bytes.HasPrefix(text, []byte("{")) || a.Seen() == nil && !bytes.HasPrefix(text, []byte("["))
}

// compareWhole compares a program's reading of a complete answer with the record. A plain answer is read as decoding
// has parsed it.
func (f *finder) compareWhole(add step, w *way, of *provider.Answer, plain bool) {
	v, ok := view{}, false
	if doc, err := of.Document(); plain && err == nil && of.Seen() == nil {
		v, ok = view{value: doc.Root(), way: w}, true
	} else {
		v, ok = w.parse(first(of.Body))
	}
	if !ok {
		f.compare(&account{failed: true, text: []byte(f.text), calls: f.said.calls})
		return
	}
	a := &account{recorded: f.text}
	add(a, v)
	a.finish = "" // reported elsewhere
	f.compare(a)
}

// accountOf returns a program's account of a stream. recorded is the record's text, which the stream's text should
// equal.
func (w *way) accountOf(answer *provider.Answer, add step, recorded string) *account {
	a := &account{text: make([]byte, 0, len(recorded)), recorded: recorded}
	var before []byte
	events := func(yield func(event) bool) { w.framing(answer, yield) }
	for e := range events {
		a.event++
		last := before
		if before = e.Piece; e.Piece != nil && a.continues(last, e.Piece) {
			continue
		}
		if bytes.HasPrefix(e.Said, []byte("[DONE]")) {
			if w.endless {
				continue
			}
			break
		}
		v, ok := w.parse(e.Said)
		a.name, a.effect, a.failed = e.Name, effect{}, !ok
		if ok {
			add(a, v)
		}
		if a.failed {
			break
		}
	}
	return a
}

// addRecord adds the calls and the finish reason of a record, and returns its text.
func (a *account) addRecord(resp *modelio.Response) (text string) {
	if resp == nil || len(resp.Candidates) == 0 {
		return ""
	}
	c := &resp.Candidates[0]
	for _, part := range c.Message.Content {
		if part.ToolRequest != nil {
			a.add(part.ToolRequest.Name, argumentsOf(string(part.ToolRequest.Input)))
		}
	}
	if a.finish = c.FinishReasonRaw; a.finish == "" && c.FinishReason != modelio.FinishOther {
		a.finish = string(c.FinishReason)
	}
	return texts.Join(c.Message.Content)
}

// argumentsOf returns arguments in one spelling; empty for null and for an empty object, which are no arguments.
func argumentsOf(text string) string {
	for range 2 { // twice, for arguments that are JSON within a text
		var value any
		canonical, err := canon.JSON([]byte(text))
		if err != nil && json.Unmarshal([]byte(text), &value) == nil { // of a repeated member, the last value counts
			canonical, err = json.Marshal(value)
		}
		if err != nil {
			return text
		}
		if text = string(canonical); !strings.HasPrefix(text, `"`) {
			break
		}
		_ = json.Unmarshal(canonical, &text) // it is a text
	}
	if text == "null" || text == "{}" {
		return ""
	}
	return text
}

// A finder collects readings.
type finder struct {
	said  account            // the record's calls and finish reason
	text  string             // the record's text
	fails bool               // the record has an error
	calls []snapshot.Reading // readings about tool calls
	other []snapshot.Reading // further readings
	once  map[snapshot.Reading]bool
}

func (f *finder) add(event int, kind, says string) {
	says = strings.ToValidUTF8(says, "\ufffd")
	if letters := []rune(says); len(says) > longest && len(letters) > longest {
		says = string(letters[:longest]) + "…"
	}
	if r := (snapshot.Reading{Kind: kind, Says: says}); !f.once[r] {
		if f.once == nil {
			f.once = map[snapshot.Reading]bool{}
		}
		f.once[r] = true
		r.Event = event
		if r.IsOfCall() {
			f.calls = append(f.calls, r)
		} else {
			f.other = append(f.other, r)
		}
	}
}

// compare adds a reading for each difference between an account and the record.
func (f *finder) compare(told *account) {
	told.blocked()
	if !told.noText && string(told.text) != f.text {
		f.add(cmp.Or(told.differs, told.event), "text", string(told.text))
	}
	if told.finish != "" && told.finish != f.said.finish {
		f.add(told.event, "finish", told.finish)
	}
	if told.failed && !f.fails {
		f.add(told.event, "error", "")
	}
	for _, c := range told.pending {
		if told.final != nil && !told.final[cmp.Or(c.key, string(c.name))] {
			f.add(c.event, "added-call", c.String())
		}
	}
	if told.noCalls {
		return
	}
	told.settle()
	if len(told.calls) == len(f.said.calls) {
		f.compareCalls(told)
		return
	}
	f.missing(told.calls, f.said.calls, "added-call")
	f.missing(f.said.calls, told.calls, "missing-call")
}

// compareCalls compares calls one by one; there are as many as in the record.
func (f *finder) compareCalls(told *account) {
	for i, c := range told.calls {
		said := f.said.calls[i]
		if !bytes.Equal(c.name, said.name) {
			f.add(c.event, "name", string(c.name))
		}
		if !bytes.Equal(c.arguments, said.arguments) {
			f.add(c.event, "arguments", string(c.arguments))
		}
	}
}

// missing adds a reading for each call that is in all but not in others.
func (f *finder) missing(all, others []*call, kind string) {
	rest := map[string]int{}
	for _, c := range others {
		rest[c.String()]++
	}
	for _, c := range all {
		if rest[c.String()]--; rest[c.String()] < 0 {
			f.add(c.event, kind, c.String())
		}
	}
}

func (c *call) String() string { return string(c.name) + "(" + string(c.arguments) + ")" }

// sorted returns the readings, with those about calls first.
func (f *finder) sorted() []snapshot.Reading { return append(f.calls, f.other...) }

// Most is the maximum number of readings in a record, and longest the maximum number of characters in one.
const (
	Most    = 16
	longest = 2000
)

// Told returns the readings that a record contains, the first [Most], and the number of further ones.
func Told(all []snapshot.Reading) (told []snapshot.Reading, more int) {
	n := min(len(all), Most)
	return all[:n:n], len(all) - n
}

// sentences describe what programs read, by the kind of reading.
var sentences = map[string]string{
	"added-call": "a call of %s", "arguments": "the arguments %s of a call", "missing-call": "no call of %s",
	"name":            "a call of %s",
	"byte-order-mark": "a byte order mark%s", "error": "an error%s", "event-name": "an event by the name %s",
	"finish": "the reason %s for the end", "line": "no field in the line %s",
	"spelling": "the member %s as one of another name", "text": "the text %s",
}

// Sentence describes what programs read, for the end of a sentence.
func Sentence(r snapshot.Reading) string {
	says := r.Says
	if strings.TrimSpace(says) == "" && r.Kind != "byte-order-mark" && r.Kind != "error" {
		says = `"` + says + `"`
	}
	said := fmt.Sprintf(sentences[r.Kind], says)
	if r.Event > 0 {
		said += fmt.Sprintf(" (event %d)", r.Event)
	}
	return said
}

// Sentences returns a [Sentence] for each reading in a record, and one for the number of further ones.
func Sentences(told []snapshot.Reading, more int) (lines []string) {
	for _, r := range told {
		lines = append(lines, Sentence(r))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("%d things more", more))
	}
	return lines
}

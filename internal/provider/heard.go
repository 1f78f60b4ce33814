package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A heard is what a server has said in a session.
type heard struct {
	*modelio.Response
	usage   node // the sums of what it reports
	finish  string
	streams []*said            // of answers that are not complete, and others
	open    map[string]*said   // the last one of each piece
	answers map[string][]*said // those of each answer
	pieces  map[string]string  // the texts that the answer says
	claims  []claim
}

// A said is a text or a sound that comes in pieces.
type said struct {
	piece, kind string
	whole       []byte // so far
	after       int
	isOver      bool
}

// A claim is what is said again of pieces. It is a part of its own where the answer says something else.
type claim struct {
	pieces map[string]string
	after  int
	part   modelio.Part
}

func (s *said) isSound() bool { return strings.HasPrefix(s.kind, "audio") && len(s.whole) > 0 }

// say adds a part that followed so many messages of the client's.
func (h *heard) say(after int, parts ...modelio.Part) {
	content := &h.Candidates[0].Message.Content
	for _, p := range parts {
		jsontext.Keep(&p.Metadata, "after", json.RawMessage(fmt.Append(nil, after)))
		*content = append(*content, p)
	}
}

// grow adds to a piece of an answer.
func (h *heard) grow(answer, piece, kind string, after int, more []byte) {
	if s := h.open[piece]; s != nil && !s.isOver {
		s.whole = append(s.whole, more...)
		return
	}
	s := &said{piece: piece, kind: kind, whole: bytes.Clone(more), after: after}
	h.open[piece], h.streams, h.answers[answer] = s, append(h.streams, s), append(h.answers[answer], s)
}

// part returns what has come of a stream.
func (s *said) part() modelio.Part {
	if s.isSound() {
		text := jsontext.ValueOf(jsontext.Text(base64.StdEncoding.EncodeToString(s.whole)))
		return modelio.Part{Custom: modelio.Object{s.kind: briefText(text)}}
	}
	p := modelio.TextPart(string(s.whole))
	keepType(&p.Metadata, s.kind, "text")
	return p
}

// flush says what is under way.
func (h *heard) flush() {
	for _, s := range h.streams {
		if !s.isOver {
			h.say(s.after, s.part())
			h.pieces[s.piece] = string(s.whole)
		}
	}
	h.streams = nil
	clear(h.open)
	clear(h.answers)
}

// over ends a stream of which the answer says the text elsewhere, if it does.
func (h *heard) over(s *said) {
	switch {
	case s.isOver:
	case s.isSound():
		h.say(s.after, s.part())
	default:
		h.claims = append(h.claims, claim{map[string]string{s.piece: string(s.whole)}, s.after, s.part()})
	}
	s.isOver = true
}

// sayClaims says the claims that are not as the answer is.
func (h *heard) sayClaims() {
	for _, c := range h.claims {
		for piece, text := range c.pieces {
			if text != "" && text != h.pieces[piece] {
				h.say(c.after, c.part)
				break
			}
		}
	}
}

// addCounts adds the counts of v to those of the session.
func addCounts(sum *node, v jsontext.Value) {
	for name, member := range v.Members() {
		if member.IsObject() {
			addCounts(sum.member(name), member)
			continue
		}
		if count, ok := member.Count(); ok {
			was := integer(jsontext.ValueOf([]byte(sum.is(name)))) // 0 at first
			sum.member(name).set(json.RawMessage(fmt.Append(nil, *count+was)))
		}
	}
}

// heardBy returns what decodes the answers of an API of sessions.
//
//go:noinline
func heardBy(
	usage usageNames, take func(h *heard, after int, frame jsontext.Value),
) func(*Answer) (*modelio.Response, error) {
	refused := func(jsontext.Value) (*modelio.Response, error) { return nil, neither("a session") }
	return func(a *Answer) (*modelio.Response, error) {
		if a.Status != http.StatusSwitchingProtocols {
			return a.decode(foldRules{}, refused)
		}
		frames, err := Frames(a.Body)
		if err != nil {
			return nil, err
		}
		h := &heard{Response: looseResponse(), open: map[string]*said{}, answers: map[string][]*said{}, pieces: map[string]string{}}
		h.Complete = false
		for _, f := range frames {
			switch doc, err := jsontext.ParseReplacing(f.Data); {
			case f.Open != "":
			case f.Close != nil:
				h.Complete = true
				if f.Close.ByServer {
					h.say(f.After.Messages, modelio.Part{Custom: modelio.Object{"close": jsontext.ObjectText(map[string]json.RawMessage{
						"code": fmt.Append(nil, f.Close.Code), "reason": jsontext.Text(f.Close.Reason),
					})}})
				}
			case err != nil || !doc.Root().IsObject():
				h.say(f.After.Messages, opaqueFrame(f).Content...)
			default:
				take(h, f.After.Messages, doc.Root())
			}
		}
		h.flush() // answers that were under way
		h.sayClaims()
		if h.usage.members != nil {
			h.Usage = usage.decode(jsontext.ValueOf(h.usage.json()))
			h.Usage.Unknown = nil
		}
		c := &h.Candidates[0]
		c.FinishReason, c.FinishReasonRaw = finishReason(h.finish), h.finish
		return h.Response, nil
	}
}

package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A heard is what a server has sent in a session.
type heard struct {
	*modelio.Response
	usage   node // totals of the reported usage
	finish  string
	streams []*utterance            // of incomplete answers, and others
	open    map[string]*utterance   // the last one for each piece
	answers map[string][]*utterance // those of each answer
	pieces  map[string]string       // texts that the answer contains
	claims  []claim
}

// An utterance is a text or a sound that is sent in pieces.
type utterance struct {
	piece, kind string
	whole       []byte // content so far
	after       int
	isOver      bool
}

// A claim is a repetition of pieces. It becomes a part of its own if the answer differs from it.
type claim struct {
	pieces map[string]string
	after  int
	part   modelio.Part
}

func (s *utterance) isSound() bool { return strings.HasPrefix(s.kind, "audio") && len(s.whole) > 0 }

// say adds a part that followed after messages of the client.
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
	s := &utterance{piece: piece, kind: kind, whole: bytes.Clone(more), after: after}
	h.open[piece], h.streams, h.answers[answer] = s, append(h.streams, s), append(h.answers[answer], s)
}

// part returns the content of a stream so far.
func (s *utterance) part() modelio.Part {
	if s.isSound() {
		text := jsontext.ValueOf(jsontext.Text(base64.StdEncoding.EncodeToString(s.whole)))
		return modelio.Part{Custom: modelio.Object{s.kind: briefText(text)}}
	}
	p := modelio.TextPart(string(s.whole))
	keepType(&p.Metadata, s.kind, "text")
	return p
}

// flush adds what is incomplete.
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

// over ends a stream whose text the answer repeats elsewhere, if it does.
func (h *heard) over(s *utterance) {
	switch {
	case s.isOver:
	case s.isSound():
		h.say(s.after, s.part())
	default:
		h.claims = append(h.claims, claim{map[string]string{s.piece: string(s.whole)}, s.after, s.part()})
	}
	s.isOver = true
}

// sayClaims adds the claims that differ from the answer. Texts that a later claim repeats are said by that one, because
// it is more complete.
func (h *heard) sayClaims() {
	said := map[[2]string]bool{} // pieces of later claims, with their texts
	var differing []claim
	for _, c := range slices.Backward(h.claims) {
		differs := false
		for piece, text := range c.pieces {
			at := [2]string{piece, text}
			differs = differs || text != h.pieces[piece] && !said[at]
			said[at] = true
		}
		if differs {
			differing = append(differing, c)
		}
	}
	for _, c := range slices.Backward(differing) {
		h.say(c.after, c.part)
	}
}

// addCounts adds the counts in v to those of the session.
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

// heardBy returns the decoder of answers for an API with sessions.
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
		h := &heard{
			Response: looseResponse(), pieces: map[string]string{},
			open: map[string]*utterance{}, answers: map[string][]*utterance{},
		}
		h.Complete = false
		for _, f := range frames {
			switch doc, err := jsontext.ParseReplacing(f.Data); {
			case f.Open != "":
			case f.Close != nil:
				h.Complete = true
				if f.Close.ByServer {
					h.say(f.After.Messages,
						modelio.Part{Custom: modelio.Object{"close": jsontext.ObjectText(map[string]json.RawMessage{
							"code": fmt.Append(nil, f.Close.Code), "reason": jsontext.Text(f.Close.Reason),
						})}})
				}
			case err != nil || !doc.Root().IsObject():
				h.say(f.After.Messages, opaqueFrame(f).Content...)
			default:
				take(h, f.After.Messages, doc.Root())
			}
		}
		h.flush() // incomplete answers
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

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
	usage  node // the sums of what it reports
	finish string
	open   []*said // streams of an answer that is not complete
}

// A said is a text or a sound that comes in pieces.
type said struct {
	key, kind string
	whole     []byte // so far
	after     int
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

// grow adds a piece to what grows by a key.
func (h *heard) grow(key, kind string, after int, piece []byte) {
	for _, s := range h.open {
		if s.key == key && s.kind == kind {
			s.whole = append(s.whole, piece...)
			return
		}
	}
	h.open = append(h.open, &said{key, kind, bytes.Clone(piece), after})
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

// flush ends what is under way.
func (h *heard) flush() {
	for _, s := range h.open {
		h.say(s.after, s.part())
	}
	h.open = nil
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
		h := &heard{Response: looseResponse()}
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
		if h.usage.members != nil {
			h.Usage = usage.decode(jsontext.ValueOf(h.usage.json()))
			h.Usage.Unknown = nil
		}
		c := &h.Candidates[0]
		c.FinishReason, c.FinishReasonRaw = finishReason(h.finish), h.finish
		return h.Response, nil
	}
}

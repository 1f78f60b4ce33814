package integration_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// A told is an event of a parsed answer.
type told struct {
	name string // empty if there is none
	json *node  // nil if data is not JSON
	data string // written instead of json, unless empty
	text string // written as the whole event, unless empty
}

func (e told) said() string {
	if e.data == "" && e.json != nil {
		return e.json.String()
	}
	return e.data
}

// A framing is an encoding of the events of an answer.
type framing int

const (
	framedEvents framing = iota // server-sent events
	framedLines                 // JSON lines
	framedAWS                   // the binary frames of AWS
	framedWhole                 // one JSON value, not a stream
)

// A stream is a parsed answer, which can be changed and encoded again.
type stream struct {
	framing     framing
	contentType string
	events      []told
	field       string              // the separator between "data" and its value
	edit        func(string) string // changes the encoded text; nil changes nothing
}

// parseStream parses an answer.
func parseStream(contentType string, body []byte) (*stream, error) {
	s := &stream{contentType: contentType, field: ": "}
	add := func(name, data string) {
		n, err := parseNode([]byte(data))
		if err != nil {
			n = nil
		}
		e := told{name: name, json: n}
		if n == nil {
			e.data = data
		}
		s.events = append(s.events, e)
	}
	switch {
	case strings.HasPrefix(contentType, "text/event-stream"):
		for text := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n\n"), "\n\n") {
			var name, data string
			for line := range strings.SplitSeq(text, "\n") {
				if v, ok := strings.CutPrefix(line, "event: "); ok {
					name = v
				} else if v, ok := strings.CutPrefix(line, "data: "); ok {
					data = v
				} else {
					return nil, fmt.Errorf("a line of an event is %q", line)
				}
			}
			add(name, data)
		}
	case strings.HasPrefix(contentType, "application/x-ndjson"), strings.HasPrefix(contentType, "application/stream+json"):
		s.framing = framedLines
		for line := range strings.Lines(string(body)) {
			add("", strings.TrimSuffix(line, "\n"))
		}
	case strings.HasPrefix(contentType, "application/vnd.amazon.eventstream"):
		s.framing = framedAWS
		for r := bytes.NewReader(body); r.Len() > 0; {
			m, err := eventstream.NewDecoder().Decode(r, nil)
			if err != nil {
				return nil, err
			}
			add(m.Headers.Get(":event-type").String(), string(m.Payload))
		}
	default:
		s.framing = framedWhole
		add("", string(body))
	}
	return s, nil
}

func (s *stream) clone() *stream {
	c := *s
	c.events = make([]told, len(s.events))
	for i, e := range s.events {
		if e.json != nil {
			e.json = e.json.clone()
		}
		c.events[i] = e
	}
	return &c
}

// bytes encodes the answer.
func (s *stream) bytes() []byte {
	var b bytes.Buffer
	for _, e := range s.events {
		switch {
		case e.text != "":
			b.WriteString(e.text)
		case s.framing == framedEvents:
			if e.name != "" {
				b.WriteString("event" + s.field + e.name + "\n")
			}
			b.WriteString("data" + s.field + e.said() + "\n\n")
		case s.framing == framedLines:
			b.WriteString(e.said() + "\n")
		case s.framing == framedWhole:
			b.WriteString(e.said())
		default:
			m := eventstream.Message{Payload: []byte(e.said())}
			m.Headers.Set(":message-type", eventstream.StringValue("event"))
			m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
			if e.name != "" {
				m.Headers.Set(":event-type", eventstream.StringValue(e.name))
			}
			if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
				panic(err) // unreachable: writing to memory never fails
			}
		}
	}
	if s.edit != nil {
		return []byte(s.edit(b.String()))
	}
	return b.Bytes()
}

// members returns all members of all events.
func (s *stream) members(named ...string) (all []member) {
	for i, e := range s.events {
		if e.json == nil || e.data != "" {
			continue
		}
		for _, m := range e.json.members(i, nil) {
			for _, name := range named {
				if m.name() == name {
					all = append(all, m)
				}
			}
			if named == nil {
				all = append(all, m)
			}
		}
	}
	return all
}

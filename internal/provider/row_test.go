package provider

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// eachNamed returns a stream of server-sent events with a different name for each event. So no event counts as like the
// one before it, and a fold parses each.
func eachNamed(a *Answer) (_ *Answer, ok bool) {
	events := a.Events()
	if events == nil || bytes.HasPrefix(a.Body, []byte{0}) {
		return nil, false
	}
	var b bytes.Buffer
	for n := 1; ; n++ {
		event, err := events.Next()
		if err != nil {
			return &Answer{Status: a.Status, ContentType: "text/event-stream", Body: b.Bytes()}, true
		}
		fmt.Fprintf(&b, "event: %d\n", n)
		for line := range bytes.SplitSeq(event.Data, []byte("\n")) {
			fmt.Fprintf(&b, "data: %s\n", line)
		}
		b.WriteString("\n")
	}
}

// requireRows checks that a stream decodes to the same response by rows and event by event.
func requireRows(t *testing.T, codec *Codec, a *Answer) {
	t.Helper()
	other, ok := eachNamed(a)
	if !ok || a.Status >= 300 {
		return
	}
	got, err := codec.DecodeResponse(a)
	want, wantErr := codec.DecodeResponse(other)
	if wantErr != nil {
		require.EqualError(t, err, wantErr.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, string(viewResponse(want)), string(viewResponse(got)))
}

// rowCodecs returns the codecs whose events show their type without a name.
func rowCodecs() (all []*Codec) {
	for _, codec := range Codecs() {
		switch codec.API {
		case chatAPI, messagesAPI, responsesAPI, completionsAPI, ollamaChatAPI, ollamaGenerateAPI, cohereAPI, generateAPI:
			all = append(all, codec)
		}
	}
	return all
}

func TestCorpusRows(t *testing.T) {
	byAPI := map[string]*Codec{}
	for _, codec := range rowCodecs() {
		byAPI[codec.API] = codec
	}
	streams, pieces := 0, 0
	for _, x := range corpus(t) {
		codec, a := byAPI[x.api(t)], x.answer(t)
		if codec == nil || a.Events() == nil {
			continue
		}
		streams++
		var last []byte
		for events := a.Events(); ; {
			event, err := events.Next()
			if err != nil {
				break
			}
			if _, alike := Alike(last, event.Data); alike {
				pieces++
			}
			last = event.Data
		}
		requireRows(t, codec, a)
	}
	require.Greater(t, streams, 100)
	require.Greater(t, pieces, 10_000, "else nothing was seen")
	t.Logf("%d streams, %d pieces of rows", streams, pieces)
}

func TestRows(t *testing.T) {
	chat := func(deltas ...string) string {
		var b strings.Builder
		for _, delta := range deltas {
			fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
		}
		return b.String() + "data: [DONE]\n\n"
	}
	for _, c := range []struct{ name, why, body string }{
		{"texts", "the usual", chat(`{"content":"a"}`, `{"content":"b"}`, `{"content":"c"}`, `{"content":""}`, `{"content":"d"}`)},
		{"escapes", "some are short, and a pair may be split", chat(`{"content":"a\n"}`, `{"content":"\"b\" \\"}`, `{"content":"\ud83d"}`, `{"content":"\ude00"}`, `{"content":"é"}`)},
		{"two_texts", "each grows", chat(`{"content":"a","reasoning":"x"}`, `{"content":"b","reasoning":"x"}`, `{"content":"c","reasoning":"x"}`, `{"content":"d","reasoning":"x"}`)},
		{"names", "a name that is repeated is whole", chat(
			`{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{"}}]}`,
			`{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":" "}}]}`,
			`{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"}"}}]}`)},
		{"quotes", "a member in a text is none", chat(`{"content":"\"content\":\"a"}`, `{"content":"\"content\":\"b"}`, `{"content":"\"content\":\"c"}`)},
		{"lists", "what is listed each time is listed each time", chat(`{"content":"a","x":[1]}`, `{"content":"b","x":[1]}`, `{"content":"c","x":[1]}`)},
		{"same", "a word that is said thrice", chat(`{"content":"ha"}`, `{"content":"ha"}`, `{"content":"ha"}`, `{"content":"ho"}`, `{"content":"ha"}`)},
		{"broken", "an event that is no JSON", chat(`{"content":"a"}`, `{"content":"b"}`, `{"content":"c`, `{"content":"d"}`)},
		{"control", "characters that JSON has not", chat(`{"content":"a"}`, `{"content":"b"}`, "{\"content\":\"c\td\"}", `{"content":"d"}`)},
		{"bytes", "no UTF-8", chat(`{"content":"a"}`, `{"content":"b"}`, "{\"content\":\"\xc3\"}", "{\"content\":\"\xa9\"}")},
		{"blocks", "content that turns into a list", chat(`{"content":"a"}`, `{"content":"b"}`, `{"content":[{"type":"text","text":"c"}]}`, `{"content":"d"}`, `{"content":"e"}`, `{"content":"f"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireRows(t, byName(t, chatAPI), &Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(c.body)})
		})
	}
}

// FuzzRows proves that a row of events has the same content as its events one by one.
func FuzzRows(t *testing.F) {
	f := mutation.New(t)
	codecs := rowCodecs()
	seeds(f, "answer", func(_, _ string, body []byte) {
		for i := range codecs {
			f.Add(i, body)
		}
	})
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		if i < 0 || i >= len(codecs) || len(body) > 1<<16 {
			return
		}
		if codecs[i].API == responsesAPI { // its events have a name if they have no type
			for line := range bytes.Lines(body) {
				if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && !bytes.Contains(data, []byte(`"type"`)) {
					return
				}
			}
		}
		requireRows(t, codecs[i], &Answer{Status: 200, ContentType: "text/event-stream", Body: body})
	})
}

package provider

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
)

// frames encodes lines of the form NAME PAYLOAD. An event named chunk has its payload in base64 in the member bytes,
// like an event of InvokeModelWithResponseStream, unless the payload has that member. A line !NAME PAYLOAD is an
// exception.
func frames(t testing.TB, lines []byte) []byte {
	var all []byte
	for line := range strings.Lines(string(lines)) {
		name, payload, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, ok, line)
		headers := map[string]string{":message-type": "event", ":event-type": name, ":content-type": "application/json"}
		switch {
		case name == "chunk" && !strings.HasPrefix(payload, `{"bytes":`):
			encoded, err := json.Marshal([]byte(payload))
			require.NoError(t, err)
			payload = string(jsontext.ObjectText(modelio.Object{"bytes": encoded, "p": jsontext.Text("abcd")}))
		case strings.HasPrefix(name, "!"):
			headers = map[string]string{":message-type": "exception", ":exception-type": name[1:]}
		}
		all = append(all, frame(headers, payload)...)
	}
	return all
}

// frame encodes one frame with text headers.
func frame(headers map[string]string, payload string) []byte {
	var h []byte
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h = append(append(h, byte(len(name))), name...)
		h = append(h, 7)
		h = append(binary.BigEndian.AppendUint16(h, uint16(len(headers[name]))), headers[name]...)
	}
	return frameOf(h, payload)
}

func TestFrames(t *testing.T) {
	one := frame(map[string]string{":message-type": "event", ":event-type": "messageStart"}, `{"role":"assistant"}`)
	two := frame(map[string]string{":message-type": "event", ":event-type": "metadata"}, `{}`)
	// odd has a header of each type that is not text: true, false, byte, short, integer, long, byte array, timestamp,
	// UUID.
	var odd []byte
	for _, header := range []struct {
		kind  byte
		value string
	}{{0, ""}, {1, ""}, {2, "1"}, {3, "12"}, {4, "1234"}, {5, "12345678"}, {6, "\x00\x02ab"}, {8, "12345678"}, {9, "1234567890123456"}} {
		odd = append(append(odd, 1, 'h', header.kind), header.value...)
	}
	withHeaders := frameOf(odd, `{"a":1}`)
	longHeaders := prelude(preludeSize+checksumSize, 1)
	longHeaders = binary.BigEndian.AppendUint32(longHeaders, crc32.ChecksumIEEE(longHeaders))
	negative := prelude(-1, math.MinInt32)
	damaged := bytes.Clone(two)
	damaged[len(damaged)-6]++
	for _, test := range []struct {
		name, why string
		stream    []byte
		want      []Event
	}{
		{"two", "the usual", append(bytes.Clone(one), two...), []Event{
			{Raw: one, Name: "messageStart", Data: []byte(`{"role":"assistant"}`)}, {Raw: two, Name: "metadata", Data: []byte(`{}`)}}},
		{"headers", "of all types are skipped", withHeaders, []Event{{Raw: withHeaders, Data: []byte(`{"a":1}`)}}},
		{"cut", "a stream that broke off", append(bytes.Clone(one), two[:20]...), []Event{
			{Raw: one, Name: "messageStart", Data: []byte(`{"role":"assistant"}`)}, {Raw: two[:20], Data: two[:20]}}},
		{"damaged_payload", "its checksum is wrong, but not its length", append(bytes.Clone(damaged), one...), []Event{
			{Raw: damaged, Data: damaged}, {Raw: one, Name: "messageStart", Data: []byte(`{"role":"assistant"}`)}}},
		{"damaged_length", "nothing after it can be found", append([]byte{0, 0, 0, 20, 0, 0, 0, 0, 1, 2, 3, 4}, one...), []Event{
			{Raw: append([]byte{0, 0, 0, 20, 0, 0, 0, 0, 1, 2, 3, 4}, one...), Data: append([]byte{0, 0, 0, 20, 0, 0, 0, 0, 1, 2, 3, 4}, one...)}}},
		{"exception", "an error in mid-stream", frame(map[string]string{":message-type": "exception", ":exception-type": "throttlingException"}, `{"message":"slow down"}`), []Event{
			{Raw: frame(map[string]string{":message-type": "exception", ":exception-type": "throttlingException"}, `{"message":"slow down"}`), Name: "throttlingException",
				Data: []byte(`{"error":{"message":"slow down","type":"throttlingException"}}`)}}},
		{"error", "an error of the framing", frame(map[string]string{":message-type": "error"}, ``), []Event{
			{Raw: frame(map[string]string{":message-type": "error"}, ``), Data: []byte(`{"error":{"message":"","type":""}}`)}}},
		{"bad_exception", "one that is not JSON", frame(map[string]string{":message-type": "exception"}, `x`), []Event{
			{Raw: frame(map[string]string{":message-type": "exception"}, `x`), Data: frame(map[string]string{":message-type": "exception"}, `x`)}}},
		{"bad_headers", "cut off", frameOf([]byte{5, 'h'}, ""), []Event{{Raw: frameOf([]byte{5, 'h'}, ""), Data: frameOf([]byte{5, 'h'}, "")}}},
		{"bad_header_type", "not known", frameOf([]byte{1, 'h', 99}, ""), []Event{{Raw: frameOf([]byte{1, 'h', 99}, ""), Data: frameOf([]byte{1, 'h', 99}, "")}}},
		{"bad_headers_size", "beyond the frame", longHeaders, []Event{{Raw: longHeaders, Data: longHeaders}}},
		{"bad_sizes", "negative where an integer has 32 bits", negative, []Event{{Raw: negative, Data: negative}}},
		{"bad_header_length", "cut off in its length", frameOf([]byte{1, 'h', 7, 0}, ""), []Event{{Raw: frameOf([]byte{1, 'h', 7, 0}, ""), Data: frameOf([]byte{1, 'h', 7, 0}, "")}}},
		{"bad_header_size", "beyond the headers", frameOf([]byte{1, 'h', 7, 9, 9}, ""), []Event{{Raw: frameOf([]byte{1, 'h', 7, 9, 9}, ""), Data: frameOf([]byte{1, 'h', 7, 9, 9}, "")}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NotEmpty(t, test.why)
			require.Equal(t, test.want, collect(t, &Events{rest: test.stream, framing: awsFrames}))
		})
	}
}

// prelude encodes the beginning of a frame, by its size and that of its headers.
func prelude(frame, headers int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(frame))
	b = binary.BigEndian.AppendUint32(b, uint32(headers))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// frameOf encodes one frame with raw headers.
func frameOf(headers []byte, payload string) []byte {
	b := prelude(preludeSize+len(headers)+len(payload)+checksumSize, len(headers))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// FuzzFramings proves that splitting loses no byte in any framing.
func FuzzFramings(t *testing.F) {
	f := mutation.New(t)
	f.Add(frames(f, []byte("messageStart {}\n!x {}\nchunk {}\n")))
	f.Add([]byte("{\"a\":1}\n\n {}\r\n{"))
	f.Add([]byte("[{\"a\":\"]\\\"}\"}\n,\r\n{\"b\":[]}]\n"))
	f.Add([]byte("data: a\r\n\r\r\n\ndata: b\rdata:c\n\r"))
	seeds(f, "answer", func(_, _ string, body []byte) { f.Add(body) })
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, framing := range []framing{serverSentEvents, jsonLines, arrayElements, awsFrames} {
			var joined []byte
			for _, e := range collect(t, &Events{rest: stream, framing: framing}) {
				require.NotEmpty(t, e.Raw)
				joined = append(joined, e.Raw...)
			}
			require.Equal(t, string(stream), string(joined))
		}
	})
}

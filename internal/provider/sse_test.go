package provider

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServerSentEvents(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, test := range []struct {
		name, why, stream string
		want              []Event
	}{
		{"lf", "the usual", "data: a\n\ndata: b\n\n", []Event{
			{Raw: []byte("data: a\n\n"), Data: []byte("a")}, {Raw: []byte("data: b\n\n"), Data: []byte("b")}}},
		{"crlf", "some hosts", "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []Event{
			{Raw: []byte("event: e\r\ndata: a\r\n\r\n"), Name: "e", Data: []byte("a")}, {Raw: []byte("data: b\r\n\r\n"), Data: []byte("b")}}},
		{"cr", "the standard allows it", "data: a\r\rdata: b\r\r", []Event{
			{Raw: []byte("data: a\r\r"), Data: []byte("a")}, {Raw: []byte("data: b\r\r"), Data: []byte("b")}}},
		{"mixed_ends", "proxies rewrite some lines", "data: a\r\n\ndata: b\n\r\n", []Event{
			{Raw: []byte("data: a\r\n\n"), Data: []byte("a")}, {Raw: []byte("data: b\n\r\n"), Data: []byte("b")}}},
		{"no_last_empty_line", "real streams end so, and browsers would lose the event", "data: a\n\ndata: b\n", []Event{
			{Raw: []byte("data: a\n\n"), Data: []byte("a")}, {Raw: []byte("data: b\n"), Data: []byte("b")}}},
		{"no_end_at_all", "a stream that was cut", "data: a\n\ndata: b", []Event{
			{Raw: []byte("data: a\n\n"), Data: []byte("a")}, {Raw: []byte("data: b"), Data: []byte("b")}}},
		{"comment", "keep-alives come between events, and with them", ": ping\n\n:x\ndata: a\n\n", []Event{
			{Raw: []byte(": ping\n\n")}, {Raw: []byte(":x\ndata: a\n\n"), Data: []byte("a")}}},
		{"lines_of_data", "they are joined", "data: a\ndata:\ndata:  b\ndata\n\n", []Event{
			{Raw: []byte("data: a\ndata:\ndata:  b\ndata\n\n"), Data: []byte("a\n\n b\n")}}},
		{"no_data", "an event of nothing but a name", "event: ping\nid: 1\nretry: 5\nother: x\n\n", []Event{
			{Raw: []byte("event: ping\nid: 1\nretry: 5\nother: x\n\n"), Name: "ping"}}},
		{"empty_data", "it is there, unlike no data", "data\n\ndata:\n\n", []Event{
			{Raw: []byte("data\n\n"), Data: []byte{}}, {Raw: []byte("data:\n\n"), Data: []byte{}}}},
		{"empty_lines", "every byte belongs to an event", "\n\ndata: a\n\n\n", []Event{
			{Raw: []byte("\n")}, {Raw: []byte("\n")}, {Raw: []byte("data: a\n\n"), Data: []byte("a")}, {Raw: []byte("\n")}}},
		{"byte_order_mark", "is no part of the first field", "\ufeffdata: a\n\n", []Event{
			{Raw: []byte("\ufeffdata: a\n\n"), Data: []byte("a")}}},
		{"long_line", "an image in one line is longer than any buffer", "data: " + long + "\n\n", []Event{
			{Raw: []byte("data: " + long + "\n\n"), Data: []byte(long)}}},
		{"nothing", "an empty stream has no events", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NotEmpty(t, test.why)
			require.Equal(t, test.want, collect(t, &Events{rest: []byte(test.stream), framing: serverSentEvents}))
			a := &Answer{ContentType: "text/event-stream", Body: []byte(test.stream)}
			if events := a.Events(); events != nil {
				require.Equal(t, test.want, collect(t, events), "in memory")
			}
		})
	}
}

// collect returns copies of all events.
func collect(t testing.TB, events *Events) []Event {
	var all []Event
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		e.Raw, e.Data = bytes.Clone(e.Raw), bytes.Clone(e.Data)
		all = append(all, e)
	}
}

func TestIsStreamed(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		streamed                bool
	}{
		{"labelled", "text/event-stream; charset=utf-8", "x: y\n\n", true},
		{"not_labelled", "application/json", "data: {}\n\n", true},
		{"no_label", "", "event: x\ndata: {}\n\n", true},
		{"comment_first", "text/event-stream", ": hi\n\n", true},
		{"json_labelled_so", "text/event-stream", " \r\n{\"error\":{}}", false},
		{"json", "application/json", "{}", false},
		{"html", "text/html", "<html>", false},
		{"empty", "text/event-stream", "", false},
		{"byte_order_mark", "", "\ufeffdata: {}\n\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &Answer{ContentType: test.contentType, Body: []byte(test.body)}
			require.Equal(t, test.streamed, a.Events() != nil)
		})
	}
}

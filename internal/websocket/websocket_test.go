package websocket

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An accepted key is that of RFC 6455 section 1.3.
func TestAccept(t *testing.T) {
	require.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", Accept("dGhlIHNhbXBsZSBub25jZQ=="))
}

// TestMessages: what one end writes the other reads, whatever its length needs in a frame, and who closes is told.
func TestMessages(t *testing.T) {
	a, b := net.Pipe()
	client, server := New(a, true, 1<<20), New(b, false, 1<<20)
	for _, size := range []int{0, 1, 125, 126, 0xffff, 0x10000} {
		for _, ends := range [][2]*Conn{{client, server}, {server, client}} {
			sent := Message{Binary: size%2 == 1, Data: bytes.Repeat([]byte("a"), size)}
			go ends[0].Write(sent)
			got, err := ends[1].Read()
			require.NoError(t, err)
			require.Equal(t, len(sent.Data), len(got.Data))
			require.Equal(t, sent.Binary, got.Binary)
		}
	}
	go client.Close(Refused, strings.Repeat("ö", 100))
	go client.Read()
	_, err := server.Read()
	var closed *CloseError
	require.ErrorAs(t, err, &closed)
	require.Equal(t, Refused, closed.Code)
	require.True(t, strings.HasSuffix(closed.Reason, "ö…"), closed.Reason)
	require.ErrorIs(t, server.Write(Message{}), errClosed)
}

// A stream has what it reads, and drops what it is written.
type stream struct{ io.Reader }

func (stream) Write(p []byte) (int, error) { return len(p), nil }
func (stream) Close() error                { return nil }

// TestFrames: frames as RFC 6455 section 5.7 shows them, and those that it forbids.
func TestFrames(t *testing.T) {
	for _, c := range []struct{ name, frames, want, wrong string }{
		{"text", "\x81\x05Hello", "Hello", ""},
		{"in pieces", "\x01\x03Hel\x80\x02lo", "Hello", ""},
		{"a ping between", "\x01\x03Hel\x89\x00\x80\x02lo", "Hello", ""},
		{"masked by a server", "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "", "only a client masks its frames, and must"},
		{"continuation of nothing", "\x80\x02lo", "", "a message begins with a continuation"},
		{"text inside of a text", "\x01\x03Hel\x81\x02lo", "", "a message begins inside another"},
		{"extension", "\xc1\x05Hello", "", "a frame is of an extension that was not agreed on"},
		{"reserved kind", "\x83\x00", "", "a frame is of a kind that is reserved"},
		{"ping in pieces", "\x09\x00", "", "a control frame is too long, or is in pieces"},
		{"no UTF-8", "\x81\x01\xff", "", "a text is no UTF-8"},
		{"too long", "\x81\x7e\x04\x01", "", "the message is too long"},
		{"cut", "\x81\x05Hel", "", "unexpected EOF"},
		{"nothing", "", "", "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := New(stream{strings.NewReader(c.frames)}, true, 1<<10).Read()
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(m.Data))
		})
	}
}

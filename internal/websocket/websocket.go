// Package websocket reads and writes the messages of a WebSocket connection (RFC 6455) over a byte stream, as client or
// server and without extensions. It neither dials nor listens.
package websocket

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Message is a message assembled from its frames.
type Message struct {
	Binary bool // false for UTF-8 text
	Data   []byte
}

// A CloseError reports how the peer closed the connection.
type CloseError struct {
	Code   int // 1005 if the peer sent none
	Reason string
}

func (e *CloseError) Error() string { return fmt.Sprintf("closed with code %d: %s", e.Code, e.Reason) }

// Close codes of RFC 6455 section 7.4.1.
const (
	Normal        = 1000
	ProtocolError = 1002
	noCode        = 1005
	Unreadable    = 1007
	Refused       = 1008
)

// Opcodes of frames (section 5.2).
const (
	continuation = 0x0
	text         = 0x1
	binaryData   = 0x2
	closing      = 0x8
	ping         = 0x9
	pong         = 0xA
)

const (
	final        = 0x80
	masked       = 0x80
	mostControl  = 125 // bytes
	twoBytes     = 126
	eightBytes   = 127
	mostOfReason = mostControl - 2
)

// A Conn is one end of a connection. One goroutine may read while others write.
type Conn struct {
	stream io.ReadWriteCloser
	in     *bufio.Reader
	asks   bool // this is the client's end, which masks its frames
	limit  int64

	mu     sync.Mutex
	closed bool // a close frame was sent
}

// New returns one end of an established connection; asks is true for the client's end. Messages have at most limit
// bytes.
func New(stream io.ReadWriteCloser, asks bool, limit int64) *Conn {
	return &Conn{stream: stream, in: bufio.NewReader(stream), asks: asks, limit: limit}
}

// ErrTooLong is returned for a message longer than the limit. The reader should close the connection, because the
// sender may not read anything before it has sent the complete message.
var ErrTooLong = errors.New("the message is too long")

// Read returns the next message, and answers pings. The error is a [*CloseError] if the peer has closed the connection,
// and io.EOF or the stream's error if the stream ended without a close frame.
func (c *Conn) Read() (Message, error) {
	var m Message
	begun := false
	for {
		kind, last, payload, err := c.frame(c.limit - int64(len(m.Data)))
		if err != nil {
			return Message{}, err
		}
		switch kind {
		case ping:
			_ = c.write(pong, payload) // later calls report an error
			continue
		case pong:
			continue
		case closing:
			return Message{}, c.wasClosed(payload)
		case continuation:
			if !begun {
				return Message{}, c.fail(ProtocolError, "a message begins with a continuation")
			}
		case text, binaryData:
			if begun {
				return Message{}, c.fail(ProtocolError, "a message begins inside another")
			}
			m.Binary, begun = kind == binaryData, true
		default:
			return Message{}, c.fail(ProtocolError, "a frame is of a kind that is reserved")
		}
		m.Data = append(m.Data, payload...)
		switch {
		case !last:
		case !m.Binary && !utf8.Valid(m.Data):
			return Message{}, c.fail(Unreadable, "a text is no UTF-8")
		default:
			return m, nil
		}
	}
}

// frame reads one frame.
func (c *Conn) frame(limit int64) (kind byte, last bool, payload []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(c.in, head[:]); err != nil {
		return 0, false, nil, err
	}
	kind, last = head[0]&0x0f, head[0]&final != 0
	length := uint64(head[1] &^ masked)
	switch {
	case head[0]&0x70 != 0:
		return 0, false, nil, c.fail(ProtocolError, "a frame is of an extension that was not agreed on")
	case (head[1]&masked != 0) == c.asks:
		return 0, false, nil, c.fail(ProtocolError, "only a client masks its frames, and must")
	case kind >= closing && (length > mostControl || !last):
		return 0, false, nil, c.fail(ProtocolError, "a control frame is too long, or is in pieces")
	}
	var long [8]byte
	switch length {
	case twoBytes:
		_, err = io.ReadFull(c.in, long[6:])
		length = binary.BigEndian.Uint64(long[:])
	case eightBytes:
		_, err = io.ReadFull(c.in, long[:])
		length = binary.BigEndian.Uint64(long[:])
	}
	if err != nil {
		return 0, false, nil, unexpected(err)
	}
	if kind < closing && length > uint64(max(limit, 0)) {
		return 0, false, nil, ErrTooLong
	}
	var mask [4]byte
	if !c.asks {
		_, err = io.ReadFull(c.in, mask[:])
	}
	payload = make([]byte, length)
	if err == nil {
		_, err = io.ReadFull(c.in, payload)
	}
	applyMask(payload, mask)
	return kind, last, payload, unexpected(err)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// applyMask masks or unmasks data. A mask of zeros changes nothing.
func applyMask(data []byte, mask [4]byte) {
	for i := range data {
		data[i] ^= mask[i%4]
	}
}

func (c *Conn) fail(code int, why string) error {
	_ = c.Close(code, why)
	return errors.New("websocket: " + why)
}

// wasClosed answers the peer's close frame.
func (c *Conn) wasClosed(payload []byte) error {
	e := &CloseError{Code: noCode}
	if len(payload) >= 2 {
		e.Code, e.Reason = int(binary.BigEndian.Uint16(payload)), strings.ToValidUTF8(string(payload[2:]), "\ufffd")
	}
	_ = c.Close(e.Code, "")
	return e
}

// Write sends a message in one frame.
func (c *Conn) Write(m Message) error {
	kind := byte(text)
	if m.Binary {
		kind = binaryData
	}
	return c.write(kind, m.Data)
}

// Close sends a close frame, unless one was sent already. The stream stays open for the peer's answer.
func (c *Conn) Close(code int, reason string) error {
	if code == noCode {
		return c.write(closing, nil)
	}
	if len(reason) > mostOfReason {
		const more = "…"
		reason = strings.ToValidUTF8(reason[:mostOfReason-len(more)], "") + more
	}
	return c.write(closing, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

// HangUp closes the stream.
func (c *Conn) HangUp() { c.stream.Close() }

func (c *Conn) write(kind byte, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.closed = kind == closing
	frame := []byte{final | kind}
	mark := byte(0)
	if c.asks {
		mark = masked
	}
	switch n := len(payload); {
	case n < twoBytes:
		frame = append(frame, mark|byte(n))
	case n <= 0xffff:
		frame = binary.BigEndian.AppendUint16(append(frame, mark|twoBytes), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, mark|eightBytes), uint64(n))
	}
	var mask [4]byte
	if c.asks {
		rand.Read(mask[:]) // never fails
		frame = append(frame, mask[:]...)
	}
	begin := len(frame)
	frame = append(frame, payload...)
	applyMask(frame[begin:], mask)
	_, err := c.stream.Write(frame)
	return err
}

// errClosed is returned for a message after a close frame.
var errClosed = errors.New("websocket: the connection is closed")

// Asked reports whether a request asks to open a WebSocket.
func Asked(method string, header http.Header) bool {
	return method == http.MethodGet && strings.EqualFold(header.Get("Upgrade"), "websocket")
}

// NewKey returns a random key for a handshake.
func NewKey() string {
	var key [16]byte
	rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// Accept returns the proof that a server has read a client's key (section 4.2.2).
func Accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

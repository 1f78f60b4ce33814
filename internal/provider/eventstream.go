package provider

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// awsFrames is AWS's binary framing (application/vnd.amazon.eventstream): a prelude of two lengths and their checksum,
// headers, a payload, and a checksum of everything. An event's Name is its :event-type. Data is its payload; for an
// exception, which ends a stream, it is an object with the member error, as in OpenAI's errors. A damaged frame and
// everything after it are one event, whose Data is the bytes themselves.
var awsFrames = framing{frameEnd, frameEvent, ""}

const (
	preludeSize  = 12
	checksumSize = 4
)

func frameEnd(rest []byte) int {
	if size, _ := frameSizes(rest); size > 0 {
		return min(size, len(rest))
	}
	return len(rest)
}

// frameSizes returns the sizes of the frame at the start of buf and of its headers, or 0 if buf has no complete
// prelude.
func frameSizes(buf []byte) (frame, headers int) {
	if len(buf) < preludeSize || binary.BigEndian.Uint32(buf[8:]) != crc32.ChecksumIEEE(buf[:8]) {
		return 0, 0
	}
	frame, headers = int(binary.BigEndian.Uint32(buf)), int(binary.BigEndian.Uint32(buf[4:]))
	if headers < 0 || headers > frame-preludeSize-checksumSize { // negative on 32 bits
		return 0, 0
	}
	return frame, headers
}

// Payload returns the bounds of the payload in an AWS frame. It reports false if b does not start with a complete
// frame.
func Payload(b []byte) (begin, end int, ok bool) {
	size, headers := frameSizes(b)
	if size == 0 || size > len(b) {
		return 0, 0, false
	}
	end = size - checksumSize
	return preludeSize + headers, end, binary.BigEndian.Uint32(b[end:]) == crc32.ChecksumIEEE(b[:end])
}

// Reseal sets the length and the checksums of an AWS frame whose payload was changed.
func Reseal(frame []byte) {
	end := len(frame) - checksumSize
	binary.BigEndian.PutUint32(frame, uint32(len(frame)))
	binary.BigEndian.PutUint32(frame[8:], crc32.ChecksumIEEE(frame[:8]))
	binary.BigEndian.PutUint32(frame[end:], crc32.ChecksumIEEE(frame[:end]))
}

func frameEvent(raw []byte) Event {
	begin, end, ok := Payload(raw)
	if !ok {
		return Event{Raw: raw, Data: raw}
	}
	headers := frameHeaders(raw[preludeSize:begin])
	if headers == nil {
		return Event{Raw: raw, Data: raw}
	}
	payload := raw[begin:end]
	switch headers[":message-type"] {
	case "exception":
		doc, err := jsontext.Parse(payload)
		if err != nil {
			return Event{Raw: raw, Data: raw}
		}
		return failedFrame(raw, headers[":exception-type"], firstWord(doc.Root(), "message", "Message", "originalMessage"))
	case "error":
		return failedFrame(raw, headers[":error-code"], headers[":error-message"])
	}
	return Event{Raw: raw, Name: headers[":event-type"], Data: payload}
}

func failedFrame(raw []byte, kind, message string) Event {
	failure := modelio.Object{"type": jsontext.Text(kind), "message": jsontext.Text(message)}
	return Event{Raw: raw, Name: kind, Data: jsontext.ObjectText(modelio.Object{"error": jsontext.ObjectText(failure)})}
}

// sizesOfHeaders are the sizes of header values by type, for types with a fixed size.
var sizesOfHeaders = map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// frameHeaders returns the headers with text values; nil if they are damaged.
func frameHeaders(b []byte) map[string]string {
	const bytesHeader, textHeader = 6, 7
	headers := map[string]string{}
	for len(b) > 0 {
		nameEnd := 1 + int(b[0])
		if len(b) < nameEnd+1 {
			return nil
		}
		name, kind := string(b[1:nameEnd]), b[nameEnd]
		b = b[nameEnd+1:]
		size, fixed := sizesOfHeaders[kind]
		if !fixed {
			if kind != bytesHeader && kind != textHeader || len(b) < 2 {
				return nil
			}
			size = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < size {
			return nil
		}
		if kind == textHeader {
			headers[name] = string(b[:size])
		}
		b = b[size:]
	}
	return headers
}

package fakeprovider

import (
	"encoding/binary"
	"hash/crc32"
)

// eventStream frames AWS's binary event stream. Each message consists of
//
//	total length, headers' length, CRC of these two, headers, payload, CRC of everything before
//
// with big-endian numbers of 32 bits.
func eventStream() framing {
	return framing{"application/vnd.amazon.eventstream", func(events []event, _ Stream) [][]byte {
		var out [][]byte
		for _, e := range events {
			out = append(out, awsMessage(e))
		}
		return out
	}}
}

func awsMessage(e event) []byte {
	headers := awsHeader(nil, ":event-type", e.name)
	kind := "event"
	if e.failed {
		headers = awsHeader(nil, ":exception-type", e.name)
		kind = "exception"
	}
	headers = awsHeader(headers, ":content-type", "application/json")
	headers = awsHeader(headers, ":message-type", kind)

	const around = 4 + 4 + 4 + 4 // everything except headers and payload
	m := binary.BigEndian.AppendUint32(nil, uint32(around+len(headers)+len(e.data)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), e.data...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

// awsHeader appends a header whose value is a string.
func awsHeader(b []byte, name, value string) []byte {
	const stringType = 7
	b = append(b, byte(len(name)))
	b = append(b, name...)
	b = append(b, stringType)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

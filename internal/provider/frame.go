package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Frame is a message of a session, or its start or end.
type Frame struct {
	After  Place // the client's position, for a frame of the server
	Binary bool
	Data   []byte
	Open   string   // the subprotocol that the server chose; empty if it is not the start
	Close  *Closing // nil if it is not the end
}

// A Closing says who ended a session, and how.
type Closing struct {
	ByServer bool
	Code     int
	Reason   string
}

// AppendFrame appends a frame as a line of a raw answer. A text that is a JSON object on one line is appended
// unchanged.
func AppendFrame(dst []byte, f Frame) []byte {
	dst = append(dst, `{"after":`...)
	dst = fmt.Append(dst, f.After.Messages)
	if f.After.Bytes > 0 {
		dst = fmt.Append(append(dst, `,"bytes":`...), f.After.Bytes)
	}
	if f.Binary {
		dst = append(dst, `,"binary":true`...)
	}
	switch {
	case f.Open != "":
		dst = jsontext.AppendText(append(dst, `,"subprotocol":`...), f.Open)
	case f.Close != nil && f.Close.ByServer:
		dst = fmt.Append(append(dst, `,"close":{"by":"server","code":`...), f.Close.Code)
		dst = append(jsontext.AppendText(append(dst, `,"reason":`...), f.Close.Reason), '}')
	case f.Close != nil:
		dst = append(dst, `,"close":{"by":"client"}`...)
	case isLine(f.Data):
		dst = append(append(dst, `,"json":`...), f.Data...)
	case utf8.Valid(f.Data):
		dst = jsontext.AppendText(append(dst, `,"text":`...), string(f.Data))
	default:
		dst = jsontext.AppendText(append(dst, `,"base64":`...), base64.StdEncoding.EncodeToString(f.Data))
	}
	return append(dst, "}\n"...)
}

// isLine reports whether a text is a JSON object that can be a line.
func isLine(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("{")) || !bytes.HasSuffix(data, []byte("}")) || bytes.ContainsAny(data, "\r\n") {
		return false
	}
	_, err := jsontext.Parse(data)
	return err == nil
}

// ParseFrame parses a line of a raw answer.
func ParseFrame(line []byte) (Frame, error) {
	doc, err := jsontext.Parse(line)
	if err != nil {
		return Frame{}, err
	}
	root := doc.Root()
	after := Place{int(integer(root.Member("after"))), int(integer(root.Member("bytes")))}
	f := Frame{After: after, Binary: string(root.Member("binary").Raw()) == "true"}
	end := root.Member("close")
	text, isText := root.Member("text").Text()
	switch {
	case root.Member("json").IsObject():
		f.Data = root.Member("json").Raw()
	case isText:
		f.Data = []byte(text)
	case root.Member("base64").IsString():
		if f.Data, err = base64.StdEncoding.Strict().DecodeString(root.Member("base64").Word()); err != nil {
			err = errors.New("base64 is not valid")
		}
	case root.Member("subprotocol").IsWord():
		f.Open = root.Member("subprotocol").Word()
	case end.Member("by").Word() == "client":
		f.Close = &Closing{}
	case end.Member("by").Word() == "server":
		f.Close = &Closing{ByServer: true, Code: int(integer(end.Member("code"))), Reason: end.Member("reason").Word()}
	default:
		err = fmt.Errorf("want one of json, text, base64, subprotocol, close")
	}
	return f, err
}

// Frames returns the frames of a session.
func Frames(body []byte) (all []Frame, err error) {
	for line := range bytes.Lines(body) {
		f, err := ParseFrame(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		all = append(all, f)
	}
	return all, nil
}

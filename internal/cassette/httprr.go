package cassette

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const httprrHead = "httprr trace v1"

// readHTTPRR reads a trace of httprr (golang/oscar, and its copies in langchaingo and adk-go). After the first line
// each call is a line with two lengths, the request in proxy form, and the answer. httprr uses the request as the key
// of a map, so the last of equal calls answers, any number of times.
func (r *Recording) readHTTPRR(data []byte) error {
	r.Tool, r.repeats = "httprr", true
	whole := data
	head, data, _ := bytes.Cut(data, []byte("\n"))
	if strings.TrimRight(string(head), "\r") != httprrHead {
		return wrong(1, "is a trace of httprr of another version, %q: want %q; record its calls again with -update",
			head, httprrHead)
	}
	for len(data) > 0 {
		line := 1 + bytes.Count(whole[:len(whole)-len(data)], []byte("\n"))
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		ask, answer, ok := lengths(string(head), len(rest))
		if !ok {
			return r.take(nil,
				wrong(line, "want the lengths of a request and of its answer, as in \"1927 1910\", and so many bytes: "+
					"the trace is corrupt, maybe by line ends that git changed (*.httprr -text in .gitattributes); check it out again"))
		}
		c, err := readTrace(line, rest[:ask], rest[ask:ask+answer])
		if err != nil {
			err = wrong(line, "want an HTTP request and its answer as they are on the wire: %v; "+
				"record the call again with -update", err)
		}
		if err := r.take(c, err); err != nil {
			return err
		}
		data = rest[ask+answer:]
	}
	return nil
}

// lengths reads the two lengths before a call; there is how many bytes follow.
func lengths(line string, there int) (ask, answer int, ok bool) {
	first, second, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	n, errAsk := strconv.ParseUint(first, 10, 31)
	m, errAnswer := strconv.ParseUint(second, 10, 31)
	return int(n), int(m), errAsk == nil && errAnswer == nil && n+m <= uint64(there)
}

// readTrace reads a request and its answer. After scrubbing, their lengths may differ from their headers.
func readTrace(line int, ask, answer []byte) (*Call, error) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(ask)))
	if err != nil {
		return nil, err
	}
	asked := afterHead(ask)
	if len(req.TransferEncoding) > 0 { // the form of a body of unknown length
		if asked, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("the request's chunks: %w", err)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), req)
	if err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	chunked := len(resp.TransferEncoding) > 0
	body, err := io.ReadAll(resp.Body)
	if err != nil && chunked {
		return nil, fmt.Errorf("the answer's chunks: %w", err)
	}
	if !chunked {
		body = afterHead(answer)
	}
	return &Call{
		Line:    line,
		request: request{req.Method, req.URL, meaning(req.Header.Get("Content-Type"), asked)},
		sent:    req.Header, asked: asked,
		status: resp.StatusCode, header: resp.Header, body: body,
	}, nil
}

// afterHead returns the part of a message after its headers.
func afterHead(message []byte) []byte {
	for _, end := range []string{"\r\n\r\n", "\n\n"} {
		if _, body, ok := bytes.Cut(message, []byte(end)); ok {
			return body
		}
	}
	return nil
}

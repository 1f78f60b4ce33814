package cassette

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// An Exchange is an HTTP call to be written, with its answer.
type Exchange struct {
	Sent    *usage.Sent
	Status  int
	Header  map[string][]string
	Body    []byte
	Latency time.Duration
}

// WriteGoVCR returns a cassette of go-vcr v4 with the calls in order.
func WriteGoVCR(calls []Exchange) ([]byte, error) {
	type object map[string]any
	all := make([]object, len(calls))
	for i, c := range calls {
		req, err := http.NewRequest(c.Sent.Method, c.Sent.URL, bytes.NewReader(c.Sent.Body))
		if err != nil {
			return nil, err
		}
		major, minor, _ := http.ParseHTTPVersion(c.Sent.Proto) // a client makes a redirected request without a version
		answered := http.Header{}
		maps.Copy(req.Header, c.Sent.Values)
		for name, values := range c.Header {
			answered[http.CanonicalHeaderKey(name)] = values
		}
		asked := object{
			"proto": c.Sent.Proto, "proto_major": major, "proto_minor": minor, "content_length": c.Sent.Length,
			"host":              c.Sent.Host,
			"transfer_encoding": c.Sent.Encoding, "headers": req.Header, "body": string(c.Sent.Body), "url": c.Sent.URL,
			"method": c.Sent.Method,
		}
		if err := req.ParseForm(); err != nil { // the matcher parses and compares it too
			return nil, err
		}
		asked["form"] = req.Form
		all[i] = object{"id": i, "request": asked, "response": object{
			"proto": "HTTP/1.1", "proto_major": 1, "proto_minor": 1, "content_length": len(c.Body), "headers": answered,
			"body": string(c.Body), "status": fmt.Sprint(c.Status, " ", http.StatusText(c.Status)), "code": c.Status,
			"duration": c.Latency,
		}}
	}
	data, err := yaml.Marshal(object{"version": 2, "interactions": all})
	return append([]byte("---\n"), data...), err
}

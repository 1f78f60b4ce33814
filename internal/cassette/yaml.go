package cassette

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An interaction is a call in the format of go-vcr and vcrpy.
type interaction struct {
	Request struct {
		Method  string   `yaml:"method"`
		URL     string   `yaml:"url"` // go-vcr
		URI     string   `yaml:"uri"` // vcrpy
		Headers headers  `yaml:"headers"`
		Body    body     `yaml:"body"`
		Parsed  *anyJSON `yaml:"parsed_body"` // from a vcrpy serializer that pydantic-ai uses
	} `yaml:"request"`
	Response struct {
		Code     int      `yaml:"code"` // go-vcr
		Status   status   `yaml:"status"`
		Headers  headers  `yaml:"headers"`
		Body     body     `yaml:"body"`
		Parsed   *anyJSON `yaml:"parsed_body"`
		Duration string   `yaml:"duration"` // go-vcr: 1.2s, nanoseconds, or empty
	} `yaml:"response"`
}

// readYAML reads a cassette of go-vcr or vcrpy. It reports a truncated file as such.
func (r *Recording) readYAML(data []byte) error {
	err := r.readCassette(data)
	var at *layoutError
	if !errors.As(err, &at) || !bytes.Contains(data, []byte("interactions:")) {
		return err
	}
	// tools end their files with a newline
	if !bytes.HasSuffix(data, []byte("\n")) || strings.Contains(at.what, "end of stream") {
		what, _, _ := strings.Cut(at.what, "; ")
		return wrong(bytes.Count(data, []byte("\n"))+1, "is cut short here (%s); %s", what, whole)
	}
	return err
}

func (r *Recording) readCassette(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return wrong(lineOf(err, 1), "is no YAML: %v; %s", err, readable)
	}
	if doc.Kind != yaml.DocumentNode {
		return wrong(1, "is empty; %s", readable)
	}
	root := doc.Content[0]
	calls := member(root, "interactions")
	switch {
	case calls == nil && member(root, "http_interactions") != nil:
		return wrong(root.Line, "is a cassette of Ruby's VCR; %s", readable)
	case calls == nil:
		return wrong(root.Line, "has no interactions; %s", readable)
	case calls.Kind != yaml.SequenceNode && calls.Tag != "!!null":
		return wrong(calls.Line, "interactions are no list; %s", readable)
	}
	if err := r.identify(root, calls); err != nil {
		return err
	}
	for i, node := range calls.Content {
		if answer := member(node, "response"); i == len(calls.Content)-1 && member(answer, "code") == nil &&
			member(answer, "status") == nil {
			return wrong(node.Line, "is cut short: interaction %d, the last one, has no response; %s", i+1, whole)
		}
		if err := r.take(r.readInteraction(node)); err != nil {
			return err
		}
	}
	return nil
}

// identify finds out which tool made a cassette, by the members of its requests, and how that tool matches calls.
func (r *Recording) identify(root, calls *yaml.Node) error {
	version := member(root, "version")
	if len(calls.Content) > 0 {
		if first := member(calls.Content[0], "request"); member(first, "uri") != nil {
			r.Tool, r.byURL = "vcrpy", true // VCR.match_on: method, scheme, host, port, path, query
			return nil
		} else if member(first, "url") == nil {
			return wrong(calls.Content[0].Line, "interaction 1 has neither request.url (go-vcr) nor request.uri (vcrpy); %s",
				readable)
		}
	}
	r.Tool = "go-vcr"
	switch {
	case version == nil:
		return wrong(root.Line, "has no version: want 1 (go-vcr v1, v2) or 2 (v3, v4); %s", readable)
	case version.Value != "1" && version.Value != "2":
		return wrong(version.Line, "is version %q of go-vcr: want 1 (go-vcr v1, v2) or 2 (v3, v4); %s",
			version.Value, readable)
	}
	// Before v4, which leaves out empty members, the default matcher compares only method and URL.
	r.byURL = version.Value == "1" ||
		len(calls.Content) > 0 && member(member(calls.Content[0], "request"), "remote_addr") != nil
	return nil
}

func (r *Recording) readInteraction(node *yaml.Node) (*Call, error) {
	var call interaction
	n := r.next()
	if large := largeMapping(node); large != nil {
		return nil, wrong(large.Line,
			"interaction %d has a mapping of more than %d members; correct or remove the interaction", n, mostMembers)
	}
	if err := node.Decode(&call); err != nil {
		return nil, wrong(lineOf(err, node.Line), "interaction %d is not as %s stores one: %v; "+
			"correct or remove the interaction", n, r.Tool, err)
	}
	ask, answer := &call.Request, &call.Response
	if ask.Parsed != nil {
		ask.Body = body(*ask.Parsed)
	}
	if answer.Parsed != nil {
		answer.Body = body(*answer.Parsed)
	}
	latency, err := duration(answer.Duration)
	if err != nil {
		return nil, wrong(node.Line, "interaction %d: response.duration is %q: want a time such as 1.2s; correct it",
			n, answer.Duration)
	}
	kind := http.Header(ask.Headers).Get("Content-Type")
	return &Call{
		Line:    node.Line,
		request: request{ask.Method, parsed(cmp.Or(ask.URL, ask.URI)), meaning(kind, ask.Body)},
		sent:    http.Header(ask.Headers), asked: ask.Body,
		status: cmp.Or(answer.Code, int(answer.Status)), header: http.Header(answer.Headers),
		body: answer.Body, latency: latency,
	}, nil
}

// mostMembers limits the members of a mapping, because the YAML library compares each name with all others.
const mostMembers = 1000

// largeMapping returns a mapping with more members, or nil.
func largeMapping(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.MappingNode && len(node.Content) > 2*mostMembers {
		return node
	}
	for _, inner := range node.Content {
		if large := largeMapping(inner); large != nil {
			return large
		}
	}
	return nil
}

func duration(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil || text == "" {
		return time.Duration(n), nil
	}
	return time.ParseDuration(text)
}

// member returns a member of a mapping, or nil.
func member(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// headers are lists of values or single values, by name.
type headers http.Header

func (h *headers) UnmarshalYAML(node *yaml.Node) error {
	*h = headers{}
	var all map[string]yaml.Node
	if err := node.Decode(&all); err != nil {
		return err
	}
	for name, values := range all {
		list := []string{values.Value}
		if values.Kind != yaml.ScalarNode {
			if err := values.Decode(&list); err != nil {
				return err
			}
		}
		for _, value := range list {
			http.Header(*h).Add(name, value)
		}
	}
	return nil
}

// A body is a text, bytes (!!binary) or, in answers of vcrpy, one of these in a mapping as string. Any other mapping is
// what a Python client was given to send as JSON.
type body []byte

func (b *body) UnmarshalYAML(node *yaml.Node) error {
	if inner := member(node, "string"); inner != nil {
		node = inner
	} else if node.Kind == yaml.MappingNode {
		return (*anyJSON)(b).UnmarshalYAML(node)
	}
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a body is a text", node.Line)
	}
	switch node.Tag {
	case "!!null":
	case "!!binary":
		var text string
		if err := node.Decode(&text); err != nil {
			return err
		}
		*b = body(text)
	default:
		*b = body(node.Value)
	}
	return nil
}

// anyJSON is a YAML value that was sent as JSON.
type anyJSON []byte

func (j *anyJSON) UnmarshalYAML(node *yaml.Node) error {
	var value any
	if err := node.Decode(&value); err != nil {
		return err
	}
	text, err := jsontext.Marshal(value)
	*j = text
	return err
}

// A status is a number, or vcrpy's mapping of code and message. go-vcr's text repeats its code.
type status int

func (s *status) UnmarshalYAML(node *yaml.Node) error {
	if code := member(node, "code"); code != nil {
		return code.Decode((*int)(s))
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// lineOf returns the first line that an error of the YAML library names, or another if it names none.
func lineOf(err error, other int) int {
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		return line
	}
	return other
}

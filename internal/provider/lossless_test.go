package provider

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A lossless proves without an encoder that decoding loses nothing: no two bodies with different content decode to the
// same request (design R6). The proof covers only the bodies that it gets, so tests also add small changes of each. The
// zero value is ready to use.
type lossless struct {
	bodies map[[sha256.Size]byte]string // bodies by the descriptions of their requests
	shapes map[string]int               // number of changes by the place of a value
}

// add decodes the request of w and records it. It fails if another body decoded to the same request. It also checks by
// encoding, if there is an encoder.
func (l *lossless) add(codec *Codec, w *Wire) (*modelio.Request, error) {
	req, err := codec.DecodeRequest(w)
	if err != nil {
		return nil, err
	}
	body, err := bodyText(codec, w)
	if err != nil {
		return nil, err
	}
	described := describe(req)
	sum := sha256.Sum256([]byte(described))
	if other, ok := l.bodies[sum]; ok && other != body {
		return nil, fmt.Errorf("another body decodes to the same request: %w", equalText(other, body))
	}
	if l.bodies == nil {
		l.bodies, l.shapes = map[[sha256.Size]byte]string{}, map[string]int{}
	}
	l.bodies[sum] = body
	if Encoders[codec.API] != nil {
		err = roundTrip(codec, w, req, body, described)
	}
	return req, err
}

// passing are the paths of members whose presence is kept, but not their number or text, by the name of the API.
var passing = map[string][][]string{GenericAPI: awsTokens, "mcp": append([][]string{{"id"}}, mcpPassing...)}

// bodyText returns the content of w's body: a JSON value, a form without its boundary, or bytes.
func bodyText(codec *Codec, w *Wire) (string, error) {
	if root, err := w.root(); err == nil {
		for _, path := range passing[codec.API] {
			if root, err = without(root, path); err != nil {
				return "", err
			}
		}
		return string(appendNormal(nil, root)), nil
	} else if len(w.Body) > 0 && !errors.Is(err, jsontext.ErrSyntax) {
		return "", err
	}
	_, parameters, _ := mime.ParseMediaType(w.ContentType)
	return strings.ReplaceAll(string(w.Body), parameters["boundary"], "boundary"), nil
}

// without returns v with the number or text at path replaced by a 1.
func without(v jsontext.Value, path []string) (jsontext.Value, error) {
	at := v.Member(path...)
	if _, number := at.Number(); !number && !at.IsString() {
		return v, nil
	}
	start := at.Offset()
	text := string(v.Raw())
	doc, err := jsontext.Parse([]byte(text[:start] + "1" + text[start+int64(len(at.Raw())):]))
	if err != nil {
		return v, err
	}
	return doc.Root(), nil
}

// addChanged adds the body of w with each of its values changed, removed, or moved, one at a time. It changes a
// sufficient number of the values at the same place of an API's bodies, not all.
func (l *lossless) addChanged(codec *Codec, w *Wire) error {
	const enough = 2
	root, err := w.root()
	if err != nil {
		return nil
	}
	fresh := func(shape string) bool {
		shape = codec.API + shape
		l.shapes[shape]++
		return l.shapes[shape] <= enough
	}
	var failed error
	changes(root, "", fresh, func(body json.RawMessage) {
		other := &Wire{Method: w.Method, URL: w.URL, ContentType: w.ContentType, Body: body}
		if failed != nil || !codec.Match(other) {
			return
		}
		_, err := l.add(codec, other)
		if refused := (*WireError)(nil); err != nil && !errors.As(err, &refused) {
			failed = fmt.Errorf("changed: %w", err)
		}
	})
	return failed
}

// changes calls visit with the results of changing one value of v whose place is fresh.
func changes(v jsontext.Value, shape string, fresh func(shape string) bool, visit func(json.RawMessage)) {
	switch {
	case v.IsObject():
		for name, m := range v.Members() {
			inner := shape + jsontext.PointerTo(name)
			if fresh(inner) {
				visit(jsontext.ObjectText(v.Rest(name)))
			}
			changes(m, inner, fresh, func(changed json.RawMessage) {
				o := v.Object()
				o[name] = changed
				visit(jsontext.ObjectText(o))
			})
		}
	case v.IsArray():
		var all list
		for _, e := range v.Elements() {
			all = append(all, e.Raw())
		}
		with := func(at int, elements ...json.RawMessage) {
			visit(jsontext.List(append(append(append(list{}, all[:at]...), elements...), all[at+1:]...)))
		}
		for i, e := range v.Elements() {
			inner := shape + "/*"
			if fresh(inner) {
				with(i)
				with(i, all[i], all[i])
			}
			if i > 0 && fresh(inner+" swapped") {
				swapped := append(list{}, all...)
				swapped[i-1], swapped[i] = all[i], all[i-1]
				visit(jsontext.List(swapped))
			}
			changes(e, inner, fresh, func(changed json.RawMessage) { with(i, changed) })
		}
	case fresh(shape + " leaf"):
		if text, ok := v.Text(); ok {
			visit(jsontext.Text(text + "x"))
			visit(jsontext.Text(""))
			visit(json.RawMessage("null"))
			return
		}
		for _, other := range []string{"0", "1.0", "true", "false", "null", `"x"`, "[]", "{}"} {
			visit(json.RawMessage(other))
		}
	}
}

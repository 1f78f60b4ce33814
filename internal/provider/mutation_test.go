package provider

import (
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// All mutants take many times as long, most of all with -race; .ci/check all tries them.
var oneIn = flag.Int("mutants", 31, "try one mutant in this many")

// sample passes on one mutant in *oneIn.
func sample(visit func(json.RawMessage)) func(json.RawMessage) {
	n := 0
	return func(mutant json.RawMessage) {
		if n++; n%*oneIn == 0 {
			visit(mutant)
		}
	}
}

// mutants calls visit with every text that results from replacing a value of v, dropping or doubling a member or an
// element, or adding one.
func mutants(v jsontext.Value, visit func(json.RawMessage)) {
	for _, replacement := range []string{`null`, `5`, `-1.0e3`, `true`, `""`, `"x"`, `{}`, `[]`, `["x"]`, `[{}]`, `{"a":{}}`, `"\ud800"`, `[{"type":"text","text":"x"}]`, `"{\"b\":1,\"a\":2}"`} {
		visit(json.RawMessage(replacement))
	}
	switch {
	case v.IsObject():
		for name, m := range v.Members() {
			visit(jsontext.ObjectText(v.Rest(name)))
			mutants(m, func(mutant json.RawMessage) {
				o := v.Object()
				o[name] = mutant
				visit(jsontext.ObjectText(o))
			})
		}
		for _, name := range []string{"type", "role", "content", "id", "name", "extra", "tool_calls", "function", "input", "arguments", "url", "source", "text"} {
			for _, added := range []string{`null`, `"x"`, `{"a":1}`} {
				o := v.Object()
				if _, there := o[name]; !there {
					o[name] = json.RawMessage(added)
					visit(jsontext.ObjectText(o))
				}
			}
		}
	case v.IsArray():
		var all []json.RawMessage
		for _, e := range v.Elements() {
			all = append(all, e.Raw())
		}
		for i, e := range v.Elements() {
			visit(jsontext.List(append(append([]json.RawMessage{}, all[:i]...), all[i+1:]...)))
			visit(jsontext.List(append(append([]json.RawMessage{}, all[:i+1]...), all[i:]...)))
			mutants(e, func(mutant json.RawMessage) {
				other := append([]json.RawMessage{}, all...)
				other[i] = mutant
				visit(jsontext.List(other))
			})
		}
	}
}

// TestMutants proves for every small change to every request of testdata the property that FuzzRequest proves for
// random inputs: nothing is lost.
func TestMutants(t *testing.T) {
	eachCase(t, func(t *testing.T, codec *Codec, archive *txtar.Archive) {
		at := homeOf(t, codec)
		var proof lossless
		for _, s := range archive.Files {
			if s.Name == "url" {
				at = parseURL(t, &s)
			}
			doc, err := jsontext.Parse(s.Data)
			if s.Name != "request" || err != nil {
				continue
			}
			mutants(doc.Root(), sample(func(body json.RawMessage) {
				w := &Wire{Method: at.Method, URL: at.URL, ContentType: at.ContentType, Body: body}
				if !codec.Match(w) {
					return
				}
				_, err := proof.add(codec, w)
				if refused := (*WireError)(nil); err != nil && !errors.As(err, &refused) {
					t.Errorf("%s: %v", body, err)
				}
			}))
			if t.Failed() {
				return
			}
		}
	})
}

// eachCase runs test for each file of testdata, in parallel.
func eachCase(t *testing.T, test func(t *testing.T, codec *Codec, archive *txtar.Archive)) {
	for _, file := range cases(t) {
		api := filepath.Base(filepath.Dir(file))
		t.Run(api+"/"+filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			test(t, byName(t, api), archive)
		})
	}
}

// TestMutantAnswers proves that no small change to an answer of testdata makes a codec panic.
func TestMutantAnswers(t *testing.T) {
	eachCase(t, func(t *testing.T, codec *Codec, archive *txtar.Archive) {
		try := func(body []byte) {
			resp, err := codec.DecodeResponse(&Answer{Status: 200, Body: body})
			if err != nil {
				require.ErrorAs(t, err, new(*WireError))
				return
			}
			for _, c := range resp.Candidates {
				role, last := modelio.RoleModel, len(c.Message.Content)-1
				if last >= 0 && codec.Tools && c.Message.Content[last].ToolResponse != nil { // the result of a tool of MCP
					role = modelio.RoleTool
				}
				require.Equal(t, role, c.Message.Role)
				require.NotEmpty(t, c.FinishReason)
			}
		}
		for _, s := range archive.Files {
			if !strings.HasPrefix(s.Name, "answer ") {
				continue
			}
			if doc, err := jsontext.Parse(s.Data); err == nil {
				mutants(doc.Root(), sample(func(body json.RawMessage) { try(body) }))
				continue
			}
			stream := (&Answer{ContentType: "text/event-stream", Body: s.Data}).Events()
			if stream == nil {
				continue
			}
			events := collect(t, stream)
			for i, e := range events {
				doc, err := jsontext.Parse(e.Data)
				if err != nil {
					continue
				}
				mutants(doc.Root(), sample(func(data json.RawMessage) {
					var body []byte
					for j, other := range events {
						if j != i {
							body = append(body, other.Raw...)
							continue
						}
						body = append(append(append(body, "data: "...), data...), "\n\n"...)
					}
					try(body)
				}))
			}
		}
	})
}

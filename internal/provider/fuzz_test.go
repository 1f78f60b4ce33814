package provider

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// seeds calls seed with each body of testdata of the given kind.
func seeds(f testing.TB, kind string, seed func(api string, arguments string, body []byte)) {
	for _, file := range cases(f) {
		archive, err := txtar.ParseFile(file)
		require.NoError(f, err)
		for _, s := range archive.Files {
			if name, arguments, _ := strings.Cut(s.Name, " "); name == kind {
				seed(filepath.Base(filepath.Dir(file)), arguments, s.Data)
			}
		}
	}
}

// FuzzRequest proves that a request and the same request with one changed value decode differently, and that encoding
// gives the same JSON value.
func FuzzRequest(t *testing.F) {
	f := mutation.New(t)
	seeds(f, "request", func(api, _ string, body []byte) { f.Add(api, body) })
	f.Fuzz(func(t *testing.T, api string, body []byte) {
		t.Parallel()
		for _, codec := range Codecs() {
			if codec.API != api {
				continue
			}
			w := homeOf(t, codec)
			w.Body = body
			if !codec.Match(&w) {
				return
			}
			var proof lossless
			req, err := proof.add(codec, &w)
			if err != nil {
				require.ErrorAs(t, err, new(*WireError))
				return
			}
			require.Equal(t, api, req.API)
			if len(body) < 4<<10 { // a long body has too many values to change
				require.NoError(t, proof.addChanged(codec, &w))
			}
		}
	})
}

// FuzzResponse proves that no body makes a codec panic, and that an error status always gives an Error.
func FuzzResponse(t *testing.F) {
	f := mutation.New(t)
	seeds(f, "frames", func(api, _ string, lines []byte) { f.Add(api, 200, "", frames(f, lines)) })
	seeds(f, "answer", func(api, arguments string, body []byte) {
		_, contentType, _ := strings.Cut(arguments, " ")
		f.Add(api, 200, contentType, body)
		f.Add(api, 400, contentType, body)
	})
	f.Fuzz(func(t *testing.T, api string, status int, contentType string, body []byte) {
		for _, codec := range Codecs() {
			if codec.API != api {
				continue
			}
			resp, err := codec.DecodeResponse(&Answer{Status: status, ContentType: contentType, Body: body})
			if err != nil {
				require.ErrorAs(t, err, new(*WireError))
				require.Less(t, status, 300)
				return
			}
			if status >= 300 {
				require.NotNil(t, resp.Error)
			}
			for _, c := range resp.Candidates {
				require.NotEmpty(t, c.FinishReason)
				_, err := json.Marshal(c.Message)
				if err != nil {
					require.Contains(t, err.Error(), "lone surrogate")
				}
			}
		}
	})
}

// FuzzParse proves that parse accepts the same texts as encoding/json, except those that it exists to refuse, and that
// its values are equal.
func FuzzParse(t *testing.F) {
	f := mutation.New(t)
	for _, kind := range []string{"request", "answer"} {
		seeds(f, kind, func(_, _ string, body []byte) { f.Add(body) })
	}
	for _, text := range []string{`"\ud800"`, `"\ud83d\ude00"`, `[1.5e+3,-0,0.0]`, `{"a":{"a":[{}]}}`, "01", "[1,]", "\"\xff\"", `"\u12"`, "1e", "{\"\\u0061\":1,\"a\":2}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := jsontext.Parse(text)
		if err != nil {
			if json.Valid(text) {
				require.Regexp(t, "duplicate member name|member name with a lone surrogate|nested too deep|not UTF-8", err.Error())
			}
			return
		}
		require.True(t, json.Valid(text))
		require.Equal(t, string(bytes.TrimSpace(text)), string(doc.Root().Raw()))
		var want any
		require.NoError(t, decodeAny(text, &want))
		var got any
		require.NoError(t, decodeAny(appendNormal(nil, doc.Root()), &got))
		require.Equal(t, want, got)
	})
}

func decodeAny(text []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

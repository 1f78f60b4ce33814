package fakeprovider

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
)

// openAIEmbeddings is OpenAI's embeddings format.
type openAIEmbeddings struct{ openAI }

var _ = serve(func(c *Call) format {
	if strings.HasSuffix(c.Path, ollamaEmbeddingsPath) {
		return nil
	}
	return atOpenAI(openAIEmbeddings{}, "/embeddings")(c)
})

func (openAIEmbeddings) name() string { return "openai.embeddings" }

func (f openAIEmbeddings) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	c.Stream = false
	if !body.has("input") {
		return missing("input")
	}
	inputs, ok := texts(body["input"])
	if !ok || len(inputs) == 0 {
		return invalid("", "",
			"'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.")
	}
	c.asks(inputs...)
	c.dimensions = defaultDimensions
	if fail := integer(body, "dimensions", 1, 3072, &c.dimensions); fail != nil {
		return fail
	}
	c.packed = body.str("encoding_format") == "base64"
	return nil
}

func (openAIEmbeddings) whole(x *exchange) []byte {
	var data []object
	for i, v := range x.vectors() {
		var embedding any = v
		if x.call.packed {
			embedding = pack(v)
		}
		data = append(data, object{{"object", "embedding"}, {"index", i}, {"embedding", embedding}})
	}
	u := x.usage()
	return indented(object{
		{"object", "list"},
		{"data", data},
		{"model", x.model()},
		{"usage", object{{"prompt_tokens", u.Input}, {"total_tokens", u.Input}}},
	})
}

// pack returns a vector as base64 of its float32s, little-endian.
func pack(v []float64) string {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// stream is never called: read clears Call.Stream.
func (openAIEmbeddings) stream(*exchange) []event { return nil }

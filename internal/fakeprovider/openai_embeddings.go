package fakeprovider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// openAIEmbeddings is OpenAI's embeddings format.
type openAIEmbeddings struct{ openAI }

var _ = serve(atOpenAI(openAIEmbeddings{}, "/embeddings"))

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
		return invalid("", "", "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.")
	}
	for _, in := range inputs {
		c.Messages = append(c.Messages, Message{Role: "user", Text: in})
	}
	c.dimensions = defaultDimensions
	if fail := integer(body, "dimensions", 1, 3072, &c.dimensions); fail != nil {
		return fail
	}
	c.packed = body.str("encoding_format") == "base64"
	return nil
}

// defaultDimensions is the length of a vector where the call does not say; real ones are a
// hundred times as long.
const defaultDimensions = 8

// vector returns the embedding of a text, the same every time and on every machine.
func vector(text string, dimensions int) []float64 {
	rng := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(text))))
	v := make([]float64, dimensions)
	for i := range v {
		v[i] = float64(rng.IntN(2001)-1000) / 1000
	}
	return v
}

func (openAIEmbeddings) whole(x *exchange) []byte {
	var data []object
	for i, m := range x.call.Messages {
		v := vector(m.Text, x.call.dimensions)
		if i < len(x.reply.Vectors) {
			v = x.reply.Vectors[i]
		}
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

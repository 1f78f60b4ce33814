package fakeprovider

import (
	"crypto/sha256"
	"math/rand/v2"
)

// defaultDimensions is the default length of a vector. Real vectors are a hundred times as long.
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

// vectors returns an embedding for each text of the call: the script's, or else generated ones.
func (x *exchange) vectors() [][]float64 {
	if x.call.dimensions == 0 {
		x.call.dimensions = defaultDimensions
	}
	vectors := [][]float64{}
	for i, m := range x.call.Messages {
		if i < len(x.reply.Vectors) {
			vectors = append(vectors, x.reply.Vectors[i])
		} else {
			vectors = append(vectors, vector(m.Text, x.call.dimensions))
		}
	}
	return vectors
}

// asks adds texts to the call as messages of the user.
func (c *Call) asks(texts ...string) {
	for _, text := range texts {
		c.Messages = append(c.Messages, Message{Role: "user", Text: text})
	}
}

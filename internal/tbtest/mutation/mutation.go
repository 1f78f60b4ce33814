// Package mutation gives fuzz targets more inputs when go test runs without -fuzz: pseudo-random mutations of their
// seeds.
package mutation

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// An F is a testing.F that also tries mutated seeds.
type F struct {
	*testing.F
	seeds [][]any
}

// New returns f as an F that remembers its seeds.
func New(f *testing.F) *F { return &F{F: f} }

// Add adds a seed.
func (f *F) Add(args ...any) {
	f.seeds = append(f.seeds, args)
	f.F.Add(args...)
}

// Fuzz runs target for each seed and for mutated ones, which are the same in each run: 200 of them, or 2,000 with
// TRACEFORGE_TEST_ALL=1. With -fuzz, Go makes the mutations.
func (f *F) Fuzz(target any) {
	f.Helper()
	if flag.Lookup("test.fuzz").Value.String() == "" && len(f.seeds) > 0 && !testing.Short() {
		count := 200
		if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
			count = 2000
		}
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(f.Name()))
		random := rand.New(rand.NewPCG(hash.Sum64(), 1))
		for range count {
			args := slices.Clone(f.seeds[random.IntN(len(f.seeds))])
			for i, arg := range args {
				args[i] = f.changed(random, i, arg)
			}
			f.F.Add(args...)
		}
	}
	f.F.Fuzz(target)
}

// changed returns the i-th argument of a seed with changes in one to four places.
func (f *F) changed(random *rand.Rand, i int, arg any) any {
	switch arg := arg.(type) {
	case string:
		return string(f.bytes(random, i, []byte(arg)))
	case []byte:
		return f.bytes(random, i, slices.Clone(arg))
	case bool:
		return random.IntN(2) == 0
	case int:
		return arg + random.IntN(9) - 4
	case uint8:
		return arg + uint8(random.IntN(9)) - 4
	case uint:
		return arg + uint(random.IntN(5))
	}
	return arg
}

// tokens are common elements of the formats.
var tokens = []string{
	"\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "\r\n", "\n\n", "data: ", "event: ", "null", "0", "-1", "1e309",
	"9007199254740993", "\\ud800", "\xff", "\u2028", "\ufeff", "é", "漢", "<", "`", "/", "..", "$", "\x00",
}

// bytes changes text: it drops, doubles, moves or overwrites a part, or inserts a token or a part of another seed.
func (f *F) bytes(random *rand.Rand, i int, text []byte) []byte {
	for range 1 + random.IntN(4) {
		from := random.IntN(len(text) + 1)
		to := from + random.IntN(min(len(text)-from, 40)+1)
		at := random.IntN(len(text) + 1)
		part := slices.Clone(text[from:to])
		switch random.IntN(6) {
		case 0:
			text = slices.Delete(text, from, to)
		case 1:
			text = slices.Insert(text, at, part...)
		case 2:
			text = slices.Delete(text, from, to)
			text = slices.Insert(text, min(at, len(text)), part...)
		case 3:
			if from < len(text) {
				text[from] = byte(random.UintN(256))
			}
		case 4:
			text = slices.Insert(text, at, []byte(tokens[random.IntN(len(tokens))])...)
		case 5:
			var other []byte
			switch arg := f.seeds[random.IntN(len(f.seeds))][i].(type) {
			case string:
				other = []byte(arg)
			case []byte:
				other = arg
			}
			begin := random.IntN(len(other) + 1)
			text = slices.Insert(text, at, other[begin:begin+random.IntN(min(len(other)-begin, 40)+1)]...)
		}
	}
	return text
}

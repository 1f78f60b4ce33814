package fuzz

import (
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

func TestIt(t *testing.T) { ask.Ask(t) }

func FuzzIt(f *testing.F) {
	f.Add("text")
	f.Fuzz(func(t *testing.T, s string) {
		if len(strings.ToUpper(strings.ToLower(s))) > 4*len(s) {
			t.Error(s)
		}
	})
}

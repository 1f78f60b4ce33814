package cassette_test

import (
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// Each test finds the cassette that it recorded with go-vcr, which is named after it.
func ExampleOpen() {
	newRecorder := func(t *testing.T) *traceforgetest.Recorder {
		t.Helper()
		old, err := cassette.Open("testdata/" + t.Name() + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		return traceforgetest.New(t, traceforgetest.Upstream(old))
	}
	_ = newRecorder // TRACEFORGE_UPDATE=1 go test ./...
}

// A prompt has changed since the cassette was recorded: the test keeps the old answer, and its record says so.
func ExampleNearest() {
	newRecorder := func(t *testing.T) *traceforgetest.Recorder {
		t.Helper()
		old, err := cassette.Open("testdata/chat.yaml", cassette.Nearest())
		if err != nil {
			t.Fatal(err)
		}
		return traceforgetest.New(t, traceforgetest.Upstream(old))
	}
	_ = newRecorder
}

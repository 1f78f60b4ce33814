package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestUnfit: a cassette has calls over HTTP that the run made and whose answers are whole and there.
func TestUnfit(t *testing.T) {
	transport := refused(1, "dial tcp").Document.Snapshots[0]
	answered, imported := transport, transport
	answered.Response.RawOutputRef = "sha256:1"
	imported.Response.Error = nil
	for _, tt := range []struct {
		record *snapshot.Snapshot
		err    error
		sent   *usage.Sent
		want   string
	}{
		{&transport, nil, &usage.Sent{}, "an error of the transport, which go-vcr does not keep"},
		{&imported, nil, nil, "no call over HTTP that the run made: a tool, a wrapped model, a WebSocket, or a test that failed before"},
		{&answered, errors.New("it is missing"), &usage.Sent{}, "it is missing"},
		{&answered, nil, &usage.Sent{Secret: true}, "a credential in the URL, which go-vcr compares whole"},
		{&answered, nil, &usage.Sent{}, ""},
	} {
		require.Equal(t, tt.want, unfit(tt.record, nil, tt.err, tt.sent))
	}
}

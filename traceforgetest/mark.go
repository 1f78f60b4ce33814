package traceforgetest

import (
	"strconv"
	"testing"
)

// mark sets attributes of the test for readers of go test -json: the outcome of its calls, their number, and the
// tokens of their answers. A run that prints no attributes is not asked for them.
func (r *Recorder) mark() {
	defer func() { _ = recover() }() // a framework's testing.TB may have none
	if !testing.Verbose() {
		return
	}
	calls, err := r.calls.Snapshots()
	if err != nil {
		return // a failure tells of it
	}
	tokens := int64(0)
	for i := range calls {
		if used := calls[i].Response.TokensUsed; used != nil {
			tokens += *used
		}
	}
	r.t.Attr("traceforge", r.calls.Became())
	r.t.Attr("traceforge.calls", strconv.Itoa(len(calls)))
	r.t.Attr("traceforge.tokens", strconv.FormatInt(tokens, 10))
}

package script

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// reply returns the answer in the form that the API's fake sends.
func (s *content) reply(api string) (fakeprovider.Reply, error) {
	r := fakeprovider.Reply{
		Text: strings.Join(s.Pieces, ""), Thinking: s.Reasoning, Signature: s.Signature, Refusal: s.Refusal,
		Finish: apis[api].finish[s.Finish], Vectors: s.Vectors, ID: s.ID, Model: s.Model,
	}
	if len(s.Pieces) > 1 {
		r.Stream.Fragments = s.Pieces
	}
	for _, c := range s.Calls {
		r.ToolCalls = append(r.ToolCalls, fakeprovider.ToolCall{ID: c.ID, Name: c.Tool, Arguments: c.Arguments})
	}
	if s.Usage != nil {
		r.Usage = &fakeprovider.Usage{Input: s.Usage.Input, Output: s.Usage.Output}
	}
	if f := s.Failure; f != nil {
		r.Failure, r.Header = f.of(api)
	}
	if s.Cut != nil {
		r.Cut, r.CutAfter = fakeprovider.CutDrop, *s.Cut
		if s.Failure != nil {
			return r, fmt.Errorf("a failure is not cut")
		}
	}
	return r, nil
}

// of returns the failure in an API's format, with its headers.
func (f *failure) of(api string) (*fakeprovider.Failure, http.Header) {
	header := http.Header{}
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	return &fakeprovider.Failure{
		Status: f.Status, Type: cmp.Or(f.Type, errorTypes[family(api)][f.Status]), Code: f.Code, Param: f.Param,
		Message: f.words(),
	}, header
}

func (f *failure) words() string {
	return cmp.Or(f.Message, strings.ToLower(http.StatusText(f.Status)), fmt.Sprintf("status %d", f.Status))
}

// withStep adds the header by which a recorder recognizes a scripted answer, even through other transports.
func withStep(header http.Header, hash canon.Hash) http.Header {
	return recorder.Provenance{Scripted: hash}.In(header)
}

package recorder

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// CodecNamed returns the codec of an API, including APIs without HTTP, or nil.
func CodecNamed(api, name string) *provider.Codec {
	switch {
	case strings.HasPrefix(api, actionPrefix):
		return modelCodec(api, name)
	case api == modelio.ToolAPI:
		return toolCodec
	}
	codec, _ := provider.Named(api)
	return codec
}

// isDirect reports whether an API is that of models and tools that a test wraps. Their calls have no HTTP and no
// status.
func isDirect(api string) bool { return strings.HasPrefix(api, actionPrefix) || api == modelio.ToolAPI }

// direct returns what answers a call without HTTP: a record, whose answer it has proven, or a take for a live call.
func (r *Recorder) direct(ctx context.Context, what fmt.Stringer, codec *provider.Codec,
	request func() (*modelio.Request, error)) (
	*call, *servedRecord, error) {
	if err := r.report.begin(ctx, what); err != nil {
		return nil, nil, err
	}
	c, err := r.run.directCall(codec, nameIn(ctx, laneKey{}), request)
	if err != nil {
		return nil, nil, r.report.failCall(what, what.String(),
			failuref(fmt.Sprintf("%s: the request cannot be kept: %v", what, err)))
	}
	if g, ok := what.(*Generation); ok {
		r.run.setModelStep(c, g)
	}
	c.what = what
	if err := r.run.endedBefore(ctx, c); err != nil && !codec.Tools { // a tool runs, or is replayed, whatever its context
		return nil, nil, err
	}
	served, err := r.answer(c)
	switch {
	case err != nil:
		err = r.run.inItsTime(ctx, c, err)
	case served.take != nil:
		served.take.setProvenance(snapshot.ProvenanceOf(ctx))
		if c.over != nil && !codec.Tools {
			served.take.end(failed, c.over)
			err = c.over
		}
	case c.over != nil && !codec.Tools:
		err = c.over
	default:
		err = r.report.proven(served.proof)
		if err == nil && served.fault != nil {
			err = served.fault.direct(ctx, served)
		}
	}
	return c, served, err
}

// directCall makes the call of a request without HTTP.
func (r *run) directCall(codec *provider.Codec, lane string, request func() (*modelio.Request, error)) (*call, error) {
	asked, err := request()
	if err != nil {
		return nil, err
	}
	return r.newCall(codec.Provider, lane, codec, asked)
}

// who names the receiver of a request: a provider, a tool, "tools/list of shop".
func who(provider string, req *modelio.Request) string {
	switch tool := req.Tool(); {
	case req.API == modelio.ToolAPI:
		return toolNamed(tool)
	case tool != "":
		return toolNamed(tool) + " of " + provider
	}
	if method := methodOf(req); method != "" {
		return method + " of " + provider
	}
	return provider
}

// answerChanged names the difference of two answers: a tool's result, a tool's description by its server, or a model's
// answer.
func (c *call) answerChanged(was, is *snapshot.Snapshot) (names []string) {
	if tool := c.request.Tool(); tool != "" {
		return []string{"result of " + toolNamed(tool)}
	}
	if c.codec.Session != nil && c.codec.Tools {
		before, after := listedIn(was), listedIn(is)
		same := func(name string) bool { return bytes.Equal(before[name], after[name]) }
		names = slices.DeleteFunc(inorder.Names(before, after), same)
	}
	if len(names) == 0 {
		return []string{"answer"}
	}
	return names
}

// listedIn returns the items of lists in an answer, such as a server's tools, by their names: see [drift.Listed].
func listedIn(s *snapshot.Snapshot) modelio.Object {
	core, _ := snapshot.ResponseCore(&s.Response) // it was written
	items := modelio.Object{}
	for _, part := range jsontext.ValueOf(core).Member("parts").Elements() {
		if name, ok := drift.Listed(part); ok {
			items[name] = part.Raw()
		}
	}
	return items
}

func (c *call) who() string { return who(c.provider, c.request) }

// titleOf names a request: "openai request", "tool add", "tool add of shop", "shop tools/list request".
func titleOf(provider string, req *modelio.Request) string {
	if req.Tool() != "" {
		return who(provider, req)
	}
	if method := methodOf(req); method != "" {
		return provider + " " + method + " request"
	}
	return provider + " request"
}

// methodOf returns the method of a session's message; "" for any other request.
func methodOf(req *modelio.Request) string {
	hasSession := func(codec *provider.Codec) bool { return codec != nil && codec.Session != nil }
	if method := req.Options["method"]; method != nil && hasSession(CodecNamed(req.API, "")) { // most have none
		return jsontext.WordOf(method)
	}
	return ""
}

func (c *call) title() string { return titleOf(c.provider, c.request) }

// answerName names an answer: "openai answer", "result of tool add".
func (c *call) answerName() string {
	if c.request.Tool() != "" {
		return "result of " + c.who()
	}
	return strings.TrimSuffix(c.title(), "request") + "answer"
}

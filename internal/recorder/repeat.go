package recorder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
)

// checkHTTP begins the check of an HTTP call that s answers.
func (r *Recorder) checkHTTP(req *http.Request, w *wire, c *call, s *servedRecord) {
	if !c.codec.Generates && !c.codec.Tools {
		r.checks.noteCreated(s)
	}
	ck := &check{call: c, stored: s}
	switch {
	case c.codec.Tools:
		ck.within = req.Context()
	case provider.IsLoopback(req.URL.Hostname()): // maybe the test's own, which ends with the function that made it
		ck.within = context.WithoutCancel(req.Context())
	}
	req = req.Clone(context.WithoutCancel(req.Context())) // the caller goes on, and may cancel its request
	req.Body = nil
	fresh := func() *wire {
		again := *w
		again.Header = req.Header
		return &again
	}
	ck.again = func() *call {
		c, _ := r.run.identify(fresh()) // the store answered the call, so it has a key
		return c
	}
	ck.make = func(ctx context.Context, tk *take) {
		// the same upstream makes this call too
		ctx = context.WithValue(ctx, upstreamKey{}, req.Context().Value(upstreamKey{}))
		live, sent := req.WithContext(ctx), fresh()
		if r.run.Checking.New != "" {
			live = askInstead(live, sent, r.run.Checking)
		}
		resp, err := r.live(live, sent, tk)
		if err != nil {
			return // the take has the error
		}
		defer resp.Body.Close()
		for piece := make([]byte, 32<<10); tk.ending() == underWay; {
			if _, err := resp.Body.Read(piece); err != nil {
				return
			}
		}
	}
	if r.run.needsKeys && hasNoKey(req) {
		ck.State, ck.Why = usage.CheckUnchecked, "there is no key for "+c.provider
		if names := provider.Facts(c.provider).Keys; len(names) > 0 {
			ck.Why += ": set " + strings.Join(names, " or ")
		}
	} else if named := r.checks.createdBefore(w); named != "" {
		ck.State, ck.Why = usage.CheckUncheckable, named
	} else if o := r.run.Checking; o.New != "" && !namesModel(w, o.Old) {
		ck.State, ck.Why = usage.CheckUncheckable, "the request does not name its model in a way that can be replaced"
	}
	r.checks.begin(ck)
}

// hasNoKey reports whether a request was made with a placeholder for a missing key.
func hasNoKey(req *http.Request) bool {
	for _, values := range req.Header {
		if slices.ContainsFunc(values, provider.HasNoKey) {
			return true
		}
	}
	return provider.HasNoKey(req.URL.RawQuery)
}

// firstNumbers are the numbers that the first thing of each kind gets, of kinds that providers make and look up.
var firstNumbers = []string{
	"response_1", "interaction_1", "conversation_1", "thread_1", "run_1", "step_1", "container_1", "batch_1", "upload_1",
	"file_1", "cachedContent_1", "task_1",
}

// itemNumber matches the number of an id in a URL.
var itemNumber = regexp.MustCompile(`\bitem_[0-9]+\b`)

// talks matches what is said to be in a conversation or thread: its number, or the part of a URL that names it.
var talks = regexp.MustCompile(`^(?:conversation|thread)_|/(?:conversations|sessions|threads)/(item_[0-9]+)`)

// nameIDs notes the ids in a request of what a provider made, and may have forgotten since the recording. These are
// responses, conversations and jobs, and what the URL asks about.
func (c *call) nameIDs() {
	add := func(number, kind string) bool {
		id, ok := c.numbering.Original(number)
		if ok {
			c.ids, c.named = append(c.ids, id), cmp.Or(c.named, kind)
		}
		if ok && talks.MatchString(number) {
			c.talk = cmp.Or(c.talk, id)
		}
		return ok
	}
	for _, first := range firstNumbers {
		kind := strings.TrimSuffix(first, "_1")
		for number, n := first, 2; add(number, kind); n++ {
			number = kind + "_" + strconv.Itoa(n)
		}
	}
	if url := c.request.Options["$url"]; bytes.Contains(url, []byte("item_")) {
		for _, number := range itemNumber.FindAllString(string(url), -1) {
			add(number, "item")
		}
		if named := talks.FindStringSubmatch(string(url)); named != nil {
			c.talk, _ = c.numbering.Original(named[1])
		}
	}
}

// lookedUp returns the ids in a request that a provider looks up: those of the call, and of items that it keeps. what
// names the first of them, or is "". Other things that providers created may come back: ids of tool calls, which only
// have to agree among themselves, signatures, and encrypted reasoning.
func lookedUp(c *call) (ids []string, what string) {
	if ids = slices.Clip(c.ids); c.named == "item" {
		what = "an item"
	} else if c.named != "" {
		what = "a " + c.named
	}
	add := func(number string) {
		if id, ok := c.numbering.Original(number); ok {
			ids, what = append(ids, id), cmp.Or(what, "an item")
		}
	}
	for i := range c.request.Messages {
		m := &c.request.Messages[i]
		if jsontext.WordOf(m.Metadata["type"]) == "reasoning" && m.Metadata["encrypted_content"] == nil {
			add(jsontext.WordOf(m.Metadata["id"]))
		}
		for _, p := range m.Content {
			if jsontext.WordOf(p.Custom["type"]) == "item_reference" {
				add(jsontext.WordOf(p.Custom["id"]))
			}
		}
	}
	return ids, what
}

// noteCreated notes what a call that is not repeated has created: a file, a batch, a store.
func (k *checks) noteCreated(s *servedRecord) {
	said := jsontext.ValueOf(s.body)
	for _, id := range []string{said.Member("id").Word(), said.Member("name").Word()} {
		const least = 6 // characters; providers create no shorter ids
		if len(id) >= least {
			k.created.Set(id, s.record.Number())
		}
	}
}

// createdBefore says that a request names something that an earlier call of the test created, or "".
func (k *checks) createdBefore(w *wire) string {
	least := 0 // the lowest call, so that the message is the same in each run
	for id, call := range k.created.All() {
		if w.names(id) && (least == 0 || call < least) {
			least = call
		}
	}
	if least == 0 {
		return ""
	}
	return "the request names what " + calls([]int{least}) + " made, which is not repeated"
}

// namesModel reports whether the request names the model, so that another can be asked.
func namesModel(w *wire, model string) bool {
	if bodyModel(w.Body, model).Present() {
		return true
	}
	_, ok := replaceSegment(w.URL, model, model)
	return ok
}

// bodyModel returns the member of a body with the name of the model.
func bodyModel(body []byte, model string) jsontext.Value {
	if v := jsontext.ValueOf(body).Member("model"); v.Word() == model {
		return v
	}
	return jsontext.Value{}
}

// askInstead returns a request to another model. sent gets its body, without content encoding.
func askInstead(req *http.Request, sent *wire, o usage.CheckOptions) *http.Request {
	req = req.Clone(req.Context())
	if v := bodyModel(sent.Body, o.Old); v.Present() {
		start := v.Offset()
		end := start + int64(len(v.Raw()))
		sent.sent = slices.Concat(sent.Body[:start], jsontext.Text(o.New), sent.Body[end:])
		req.Header.Del("Content-Encoding")
		req.Header.Del("Content-Length")
	}
	if u, ok := replaceSegment(req.URL, o.Old, o.New); ok {
		req.URL = u
	}
	return req
}

// replaceSegment returns a URL with another model in the segment of its path that names one, as in
// "/v1beta/models/NAME:generateContent" and "/model/NAME/converse".
func replaceSegment(u *url.URL, before, after string) (*url.URL, bool) {
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments {
		verb, named := strings.CutPrefix(segment, before)
		if !named || verb != "" && verb[0] != ':' {
			continue
		}
		segments[i] = after + verb
		other := *u
		other.Path, other.RawPath = strings.Join(segments, "/"), ""
		return &other, true
	}
	return nil, false
}

// checkModel begins the check of a model's call that s answers.
func (r *Recorder) checkModel(g *Generation, c *call, s *servedRecord) {
	text, _ := json.Marshal(g.Request) // the caller may change its own
	again := func() *Generation {
		own := *g
		own.Request = &modelio.GenerateRequest{}
		_ = json.Unmarshal(text, own.Request) // the store answered the request, so it is JSON
		if g.Stream != nil {
			own.Stream = func(context.Context, *modelio.GenerateResponseChunk) error { return nil }
		}
		return &own
	}
	ck := &check{
		call: c, stored: s,
		again: func() *call { return r.run.sameCall(c, again().request) },
		make:  func(ctx context.Context, tk *take) { again().live(ctx, tk) },
	}
	switch {
	case g.Live == nil:
		ck.State, ck.Why = usage.CheckUnchecked, "the test gives Recorder.Model no live model"
	case r.run.Checking.New != "":
		ck.State, ck.Why = usage.CheckUncheckable,
			"it is asked through a value, and only a request's text can name another model"
	}
	r.checks.begin(ck)
}

// sameCall makes again a call without HTTP that the store answered.
func (r *run) sameCall(c *call, request func() (*modelio.Request, error)) *call {
	again, _ := r.directCall(c.codec, c.lane, request)
	return again
}

// checkTool begins the check of a tool's call that s answers, and runs the tool.
func (r *Recorder) checkTool(ctx context.Context, t *ToolCall, c *call, s *servedRecord) {
	ck := &check{
		call: c, stored: s, within: ctx,
		again: func() *call { return r.run.sameCall(c, t.request) },
		make:  func(ctx context.Context, tk *take) { t.live(ctx, tk) },
	}
	if t.Run == nil {
		ck.State, ck.Why = usage.CheckUnchecked, "the test gives Recorder.Tool no tool to run"
	}
	r.checks.begin(ck)
}

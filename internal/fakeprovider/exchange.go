package fakeprovider

import (
	"net/http"
	"slices"
	"strings"
)

// An exchange is one call, its reply and their format.
type exchange struct {
	call   *Call
	format format
	reply  Reply
	mint   *mint

	request, id string // see requestID and answerID
}

// answer renders the reply and sends it.
func (x *exchange) answer(w http.ResponseWriter, r *http.Request) { x.head(w.Header()).send(w, r) }

// head renders the reply and sets its headers.
func (x *exchange) head(header http.Header) delivery {
	d, contentType := x.render()
	header.Set("Content-Type", contentType)
	for k, v := range x.format.header(x) {
		header[http.CanonicalHeaderKey(k)] = v
	}
	if x.reply.Raw != nil {
		header.Set("Content-Type", contentType)
	}
	if x.mint.fixed {
		header.Set("Date", x.mint.now.Format(http.TimeFormat))
	}
	for k, v := range x.reply.Header {
		header[http.CanonicalHeaderKey(k)] = v
	}
	return d
}

// render renders the reply, or an error that describes a mistake in the script.
func (x *exchange) render() (d delivery, contentType string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case scriptError:
			x.reply = Reply{Failure: badScript(string(p))}
			d, contentType = x.renderReply()
		default:
			panic(p)
		}
	}()
	return x.renderReply()
}

// badScript returns the error for a call that the script cannot answer. Its status is not 5xx, since SDKs retry those.
func badScript(message string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Type: "fakeprovider_error", Message: "fakeprovider: " + message}
}

func (x *exchange) renderReply() (d delivery, contentType string) {
	d = delivery{script: x.reply, status: http.StatusOK}
	contentType = "application/json"
	switch {
	case x.reply.Raw != nil:
		raw := x.reply.Raw
		if raw.Status != 0 {
			d.status = raw.Status
		}
		for _, c := range raw.Chunks {
			d.chunks = append(d.chunks, []byte(c))
		}
		d.streamed = true
		return d, raw.ContentType
	case x.reply.Failure != nil && !x.failsInStream():
		f := *x.reply.Failure
		if f.Status == 0 {
			f.Status = http.StatusInternalServerError
		}
		d.status = f.Status
		d.chunks = [][]byte{x.format.failure(x, f)}
	case x.call.Stream:
		framing := x.format.framing(x.call)
		d.chunks = framing.frames(x.events(), x.reply.Stream)
		d.streamed = true
		return d, framing.contentType
	default:
		d.chunks = [][]byte{x.format.whole(x)}
	}
	return d, contentType
}

// failsInStream reports whether the reply fails after a part of the answer.
func (x *exchange) failsInStream() bool {
	return x.reply.Failure != nil && x.call.Stream && x.reply.Stream.FailAfter > 0
}

func (x *exchange) events() []event {
	events := x.format.stream(x)
	if !x.failsInStream() {
		return events
	}
	n := min(x.reply.Stream.FailAfter, len(events))
	return append(events[:n:n], x.format.failureEvents(x, *x.reply.Failure, n)...)
}

// model returns the model that answers.
func (x *exchange) model() string {
	if x.reply.Model != "" {
		return x.reply.Model
	}
	return x.call.Model
}

// choices returns the answers, as many as the call requests.
func (x *exchange) choices() []Reply {
	all := append([]Reply{x.reply}, x.reply.Choices...)
	for len(all) < x.call.Choices {
		all = append(all, all[len(all)-1])
	}
	return all[:x.call.Choices]
}

// toolCalls returns the tool calls of a choice. Calls without an id in the script get a generated one.
func (x *exchange) toolCalls(r Reply, prefix string, n int) []ToolCall {
	calls := slices.Clone(r.ToolCalls)
	for i := range calls {
		calls[i].ID = x.mint.or(calls[i].ID, prefix, alnum, n)
	}
	return calls
}

// usage returns the usage in the script, or else a count of words.
func (x *exchange) usage() Usage {
	if x.reply.Usage != nil {
		return *x.reply.Usage
	}
	var u Usage
	count := func(s string) int { return len(strings.Fields(s)) }
	for _, m := range x.call.Messages {
		u.Input += 3 + count(m.Text) // a message costs a few tokens by itself
		for _, c := range m.ToolCalls {
			u.Input += 1 + count(c.Arguments)
		}
		for _, r := range m.ToolResults {
			u.Input += 1 + count(r.Text)
		}
	}
	for _, c := range x.choices() {
		u.Reasoning += count(c.Thinking)
		u.Output += count(c.Thinking) + count(c.Text) + count(c.Refusal)
		for _, t := range c.ToolCalls {
			u.Output += 2 + count(t.Arguments)
		}
	}
	return u
}

// requestID returns the provider's id for the call, which is in its header and its errors.
func (x *exchange) requestID() string {
	if x.request == "" {
		x.request = x.mint.id("req_01", alnum, 22)
	}
	return x.request
}

// answerID returns the id of the answer: the script's, or else the first generated one.
func (x *exchange) answerID(made string) string {
	if x.id == "" {
		x.id = x.reply.ID
	}
	if x.id == "" {
		x.id = made
	}
	return x.id
}

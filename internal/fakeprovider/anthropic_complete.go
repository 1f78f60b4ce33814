package fakeprovider

// anthropicComplete is Anthropic's text completions format, which is older than messages.
type anthropicComplete struct{ anthropicMessages }

var _ = serve(at(anthropicComplete{}, "/v1/complete"))

func (anthropicComplete) name() string { return "anthropic.complete" }

func (anthropicComplete) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return refusal("The request body is not valid JSON: %v", err)
	}
	for _, name := range []string{"model", "prompt", "max_tokens_to_sample"} {
		if !body.has(name) {
			return refusal("%s: Field required", name)
		}
	}
	c.Model = body.str("model")
	c.Stream = body.flag("stream")
	c.Messages = []Message{{Role: "user", Text: body.str("prompt")}}
	return nil
}

func (f anthropicComplete) whole(x *exchange) []byte {
	return marshal(f.completion(x, x.reply.Text+x.reply.Refusal, f.finish(x.reply)))
}

func (anthropicComplete) completion(x *exchange, text string, finish string) object {
	id := x.answerID(x.mint.id("compl_01", alnum, 22))
	return object{{"type", "completion"}, {"id", id}, {"completion", text}, {"stop_reason", null(finish)},
		{"model", x.model()},
		{"stop", nil}, {"log_id", id}}
}

func (anthropicComplete) finish(r Reply) string {
	if r.Finish != "" {
		return r.Finish
	}
	return "stop_sequence"
}

func (f anthropicComplete) stream(x *exchange) []event {
	var events []event
	for _, piece := range append(x.reply.fragments(), x.reply.Stream.split(x.reply.Refusal, words)...) {
		events = append(events, jsonEvent("completion", f.completion(x, piece, "")))
	}
	events = append(events, jsonEvent("ping", object{{"type", "ping"}}))
	return append(events, jsonEvent("completion", f.completion(x, "", f.finish(x.reply))))
}

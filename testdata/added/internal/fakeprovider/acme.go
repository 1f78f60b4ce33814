package fakeprovider

// acme is the format of a made-up API. It inherits all other methods from Cohere's format.
type acme struct{ cohere }

var _ = serve(at(acme{}, "/v1/judge"))

func (acme) name() string { return "acme.judge" }

func (acme) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	if body.str("question") == "" {
		return badCohere("question is required")
	}
	c.Model = body.str("model")
	c.asks(body.str("question"))
	return nil
}

func (acme) whole(x *exchange) []byte {
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"model", x.model()},
		{"verdict", x.reply.Text},
		{"ended", "stop"},
		{"usage", object{{"in", x.usage().Input}, {"out", x.usage().Output}}},
	})
}

package modelio

import "time"

// A Call is one call of a model: what was asked, what was answered, and by whom. Ids are numbered,
// so that a recording and its replays give equal calls.
type Call struct {
	Provider string // who was asked: "openai"
	Request  *Request
	Response *Response
	Latency  time.Duration // from sending the request to the end of the answer, when it was recorded
}

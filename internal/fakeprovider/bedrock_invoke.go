package fakeprovider

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// invoke is the common part of the formats of Bedrock's InvokeModel. A body is in the format of the model's maker, and
// a stream carries the maker's events in chunks of base64.
type invoke struct{ bedrock }

func (invoke) name() string { return "bedrock.invoke" }

func (i invoke) header(x *exchange) http.Header {
	h := i.bedrock.header(x)
	if x.call.Stream {
		h.Set("X-Amzn-Bedrock-Content-Type", "application/json")
		return h
	}
	u := x.usage()
	h.Set("X-Amzn-Bedrock-Input-Token-Count", strconv.Itoa(u.Input))
	h.Set("X-Amzn-Bedrock-Output-Token-Count", strconv.Itoa(u.Output))
	h.Set("X-Amzn-Bedrock-Invocation-Latency", strconv.Itoa(100+x.mint.rng.IntN(900)))
	return h
}

func (invoke) chunk(x *exchange, data []byte) event {
	return jsonEvent("chunk", object{
		{"bytes", base64.StdEncoding.EncodeToString(data)},
		{"p", alphabet[:1+x.mint.rng.IntN(len(alphabet))]},
	})
}

// invokeClaude is Anthropic's messages format in InvokeModel.
type invokeClaude struct{ invoke }

func (f invokeClaude) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	if !body.has("anthropic_version") {
		return invalidAWS("anthropic_version: Field required")
	}
	if fail := (anthropicMessages{}).readBody(c, body); fail != nil {
		return invalidAWS(fail.Message)
	}
	return nil
}

func (invokeClaude) whole(x *exchange) []byte { return anthropicMessages{}.whole(x) }

func (f invokeClaude) stream(x *exchange) []event {
	var events []event
	for _, e := range (anthropicMessages{}).stream(x) {
		switch e.name {
		case "ping": // Bedrock sends no pings
		case "message_stop":
			u := x.usage()
			events = append(events, f.chunk(x, marshal(object{
				{"type", "message_stop"},
				{"amazon-bedrock-invocationMetrics", object{
					{"inputTokenCount", u.Input},
					{"outputTokenCount", u.Output},
					{"invocationLatency", 100 + x.mint.rng.IntN(900)},
					{"firstByteLatency", 10 + x.mint.rng.IntN(90)},
				}},
			})))
		default:
			data := strings.TrimRight(strings.TrimSuffix(string(e.data), "}"), " ") + "}" // without its padding
			events = append(events, f.chunk(x, []byte(data)))
		}
	}
	return events
}

// invokeNova is the format of Amazon's own models. It is Converse's, except that each stream event is an object whose
// only member has the event's name.
type invokeNova struct{ invoke }

func (invokeNova) read(c *Call) *Failure { return converse{}.read(c) }

func (invokeNova) whole(x *exchange) []byte { return converse{}.whole(x) }

func (f invokeNova) stream(x *exchange) []event {
	var events []event
	for _, e := range (converse{}).stream(x) {
		events = append(events, f.chunk(x, []byte(`{"`+e.name+`":`+string(e.data)+`}`)))
	}
	return events
}

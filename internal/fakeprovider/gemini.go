package fakeprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// gemini is Google's generateContent format, on AI Studio and on Vertex AI.
type gemini struct{}

var _ = serve(atMethod(gemini{}, "generateContent", "streamGenerateContent"))

func (gemini) name() string { return "gemini.generate" }

// geminiVerb returns the model and the method that a path of the form …/models/MODEL:METHOD names.
func geminiVerb(path string) (model, verb string, ok bool) {
	i := strings.LastIndex(path, "/models/")
	if i < 0 {
		return "", "", false
	}
	model, verb, ok = strings.Cut(path[i+len("/models/"):], ":")
	return model, verb, ok
}

// atMethod returns a function that finds a format at paths with one of these methods.
func atMethod(f format, methods ...string) func(*Call) format {
	return func(c *Call) format {
		if _, verb, _ := geminiVerb(c.Path); slices.Contains(methods, verb) {
			return f
		}
		return nil
	}
}

func (gemini) framing(c *Call) framing {
	if c.Query.Get("alt") != "sse" {
		return jsonArray()
	}
	return framing{"text/event-stream", func(events []event, s Stream) [][]byte {
		s.CRLF = true // Google ends lines with CR LF
		return sse().frames(events, s)
	}}
}

// jsonArray frames events as the elements of one JSON array.
func jsonArray() framing {
	return framing{"application/json; charset=UTF-8", func(events []event, _ Stream) [][]byte {
		var out [][]byte
		start := "["
		for _, e := range events {
			var b bytes.Buffer
			b.WriteString(start)
			json.Indent(&b, e.data, "", "  ") // events are JSON
			out = append(out, append(b.Bytes(), '\n'))
			start = ",\r\n"
		}
		return append(out, []byte("]"))
	}}
}

func (gemini) header(x *exchange) http.Header {
	h := http.Header{
		"Content-Type":           {"application/json; charset=UTF-8"},
		"Server":                 {"scaffolding on HTTPServer2"},
		"Server-Timing":          {fmt.Sprintf("gfet4t7; dur=%d", 100+x.mint.rng.IntN(900))},
		"X-Content-Type-Options": {"nosniff"},
	}
	if x.call.Stream && x.call.Query.Get("alt") == "sse" {
		h.Set("Content-Type", "text/event-stream") // also for errors, though their body is JSON
	}
	return h
}

func (gemini) failure(_ *exchange, f Failure) []byte { return indented(googleError(f)) }

func (gemini) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("", googleError(f))}
}

// googleStatus maps HTTP statuses to names of google.rpc.Code.
var googleStatus = map[int]string{
	http.StatusBadRequest:          "INVALID_ARGUMENT",
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusForbidden:           "PERMISSION_DENIED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
}

func googleError(f Failure) object {
	status := f.Type
	if status == "" {
		status = googleStatus[f.Status]
	}
	return object{{"error", object{{"code", f.Status}, {"message", f.Message}, {"status", status}}}}
}

func invalidGoogle(format string, args ...any) *Failure {
	return &Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func (gemini) badKey(*Call) *Failure {
	return &Failure{Status: http.StatusBadRequest, Message: "API key not valid. Please pass a valid API key."}
}

func (gemini) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusNotFound, Message: "Not Found"}
}

func (g gemini) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return &Failure{Status: http.StatusBadRequest, Message: "Invalid JSON payload received. " + err.Error()}
	}
	var verb string
	c.Model, verb, _ = geminiVerb(c.Path)
	c.Stream = verb == "streamGenerateContent"

	var system geminiContent
	if body.into("systemInstruction", &system) || body.into("system_instruction", &system) {
		c.Messages = append(c.Messages, Message{Role: "system", Text: system.message().Text})
	}
	var contents []geminiContent
	if !body.into("contents", &contents) || len(contents) == 0 {
		return &Failure{Status: http.StatusBadRequest,
			Message: "* GenerateContentRequest.contents: contents is not specified\n"}
	}
	for _, content := range contents {
		if !slices.Contains([]string{"", "user", "model", "function"}, content.Role) {
			return &Failure{Status: http.StatusBadRequest, Message: "Please use a valid role: user, model."}
		}
		c.Messages = append(c.Messages, content.message())
	}
	return readGeminiConfig(c, body)
}

func readGeminiConfig(c *Call, body members) *Failure {
	var tools []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			JSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	body.into("tools", &tools)
	for _, t := range tools {
		for _, f := range t.Functions {
			if f.Parameters == nil {
				f.Parameters = f.JSONSchema
			}
			c.Tools = append(c.Tools, Tool{f.Name, f.Parameters})
		}
	}
	var config struct {
		Candidates int             `json:"candidateCount"`
		Schema     json.RawMessage `json:"responseSchema"`
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
	}
	config.Candidates = 1
	body.into("generationConfig", &config)
	if config.Candidates < 1 || config.Candidates > 8 {
		return &Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf("* GenerateContentRequest.generation_config.candidate_count: candidateCount must be from 1 to 8, but is %d\n", config.Candidates)}
	}
	c.Choices = config.Candidates
	c.Schema = config.Schema
	if c.Schema == nil {
		c.Schema = config.JSONSchema
	}
	return nil
}

// geminiContent is one message of a request.
type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
		Call *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (g geminiContent) message() Message {
	m := Message{Role: g.Role}
	if m.Role == "" {
		m.Role = "user"
	}
	for _, p := range g.Parts {
		m.Text += p.Text
		if p.Call != nil {
			m.ToolCalls = append(m.ToolCalls, ToolCall{p.Call.ID, p.Call.Name, string(p.Call.Args)})
		}
		if p.Response != nil {
			m.ToolResults = append(m.ToolResults, ToolResult{p.Response.ID, p.Response.Name, resultText(p.Response.Response)})
		}
	}
	return m
}

// resultText returns the text of a result. An object with one string ({"output": "…"}), as SDKs wrap texts, gives the
// string; any other value gives its JSON.
func resultText(v json.RawMessage) string {
	var wrapped map[string]string
	if json.Unmarshal(v, &wrapped) == nil && len(wrapped) == 1 {
		for _, s := range wrapped {
			return s
		}
	}
	return string(v)
}

func (g gemini) whole(x *exchange) []byte {
	var candidates []object
	for i, r := range x.choices() {
		if r.Refusal != "" {
			return indented(g.response(x, nil, true, member{"promptFeedback", g.block(r)}))
		}
		candidates = append(candidates, g.candidate(i, g.parts(x, r, false), g.finish(r)))
	}
	return indented(g.response(x, candidates, true))
}

func (gemini) finish(r Reply) string {
	if r.Finish != "" {
		return r.Finish
	}
	return "STOP"
}

func (gemini) block(r Reply) object {
	return object{{"blockReason", "PROHIBITED_CONTENT"}, {"blockReasonMessage", r.Refusal}}
}

// response returns one response object. A stream has several.
func (gemini) response(x *exchange, candidates []object, last bool, more ...member) object {
	u := x.usage()
	usage := object{{"promptTokenCount", u.Input}}
	if last {
		usage = append(usage, member{"candidatesTokenCount", u.Output - u.Reasoning},
			member{"totalTokenCount", u.Input + u.Output})
	} else {
		usage = append(usage, member{"totalTokenCount", u.Input})
	}
	if u.CacheRead > 0 {
		usage = append(usage, member{"cachedContentTokenCount", u.CacheRead})
	}
	usage = append(usage, member{"promptTokensDetails", []object{{{"modality", "TEXT"}, {"tokenCount", u.Input}}}})
	if u.Reasoning > 0 {
		usage = append(usage, member{"thoughtsTokenCount", u.Reasoning})
	}
	var o object
	if candidates != nil {
		o = append(o, member{"candidates", candidates})
	}
	o = append(append(o, more...), member{"usageMetadata", usage}, member{"modelVersion", x.model()})
	if strings.Contains(x.call.Path, "/publishers/") { // Vertex AI
		o = append(o, member{"createTime", x.mint.now.Format(time.RFC3339Nano)})
	}
	return append(o, member{"responseId", x.answerID(x.mint.id("", alnum+"-_", 23))})
}

func (gemini) candidate(index int, parts []object, finish string) object {
	o := object{{"content", object{{"parts", parts}, {"role", "model"}}}}
	if finish != "" {
		o = append(o, member{"finishReason", finish})
	}
	return append(o, member{"index", index})
}

// parts returns the parts of a candidate, split into fragments for a stream.
func (gemini) parts(x *exchange, r Reply, streamed bool) []object {
	texts, thoughts := []string{r.Text}, []string{r.Thinking}
	if streamed {
		texts, thoughts = r.fragments(), r.Stream.split(r.Thinking, words)
	}
	var parts []object
	for _, s := range thoughts {
		if s != "" {
			parts = append(parts, object{{"text", s}, {"thought", true}})
		}
	}
	said := len(parts)
	for _, s := range texts {
		if s != "" {
			parts = append(parts, object{{"text", s}})
		}
	}
	for _, call := range r.ToolCalls {
		f := object{{"name", call.Name}, {"args", arguments(call.Arguments)}}
		if call.ID != "" { // only newer models send ids
			f = append(f, member{"id", call.ID})
		}
		parts = append(parts, object{{"functionCall", f}})
	}
	if said > 0 && said < len(parts) { // the first part after a thought carries its signature
		parts[said] = append(parts[said], member{"thoughtSignature", x.mint.or(r.Signature, "", alnum, 120)})
	}
	return parts
}

func (g gemini) stream(x *exchange) []event {
	var events []event
	choices := x.choices()
	for i, r := range choices {
		if r.Refusal != "" {
			return []event{jsonEvent("", g.response(x, nil, true, member{"promptFeedback", g.block(r)}))}
		}
		parts := g.parts(x, r, true)
		if len(parts) == 0 {
			parts = []object{{{"text", ""}}}
		}
		for j, p := range parts {
			last, finish := j == len(parts)-1, ""
			if last {
				finish = g.finish(r)
			}
			candidate := g.candidate(i, []object{p}, finish)
			events = append(events, jsonEvent("", g.response(x, []object{candidate}, last && i == len(choices)-1)))
		}
	}
	return events
}

package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// openAI is the common part of OpenAI's formats: errors, headers, tools.
type openAI struct{}

func (openAI) framing(*Call) framing { return sse() }

func (openAI) header(x *exchange) http.Header {
	return http.Header{
		"Openai-Organization":            {"fake-organization"},
		"Openai-Processing-Ms":           {strconv.Itoa(50 + x.mint.rng.IntN(900))},
		"Openai-Version":                 {"2020-10-01"},
		"X-Request-Id":                   {x.mint.id("req_", hexDigits, 32)},
		"X-Ratelimit-Limit-Requests":     {"10000"},
		"X-Ratelimit-Remaining-Requests": {strconv.Itoa(9000 + x.mint.rng.IntN(999))},
		"Set-Cookie":                     {x.mint.id("__cf_bm=", alnum, 43) + "; path=/; HttpOnly; Secure"},
	}
}

func (openAI) failure(_ *exchange, f Failure) []byte {
	return indented(openAIError(f))
}

func (openAI) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("", openAIError(f))}
}

func openAIError(f Failure) object {
	return object{{"error", object{
		{"message", f.Message},
		{"type", f.Type},
		{"param", null(f.Param)},
		{"code", null(f.Code)},
	}}}
}

func (openAI) badKey(c *Call) *Failure {
	f := invalid("", "", "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.")
	if key := c.key(); key != "" {
		n := min(4, len(key)/2)
		masked := key[:n] + strings.Repeat("*", len(key)-2*n) + key[len(key)-n:]
		f = invalid("", "invalid_api_key",
			"Incorrect API key provided: %s. You can find your API key at https://platform.openai.com/account/api-keys.", masked)
	}
	f.Status = http.StatusUnauthorized
	return f
}

func (openAI) badMethod(c *Call) *Failure {
	f := invalid("", "method_not_supported", "Invalid method for URL (%s %s)", c.Method, c.Path)
	f.Status = http.StatusMethodNotAllowed
	return f
}

func (openAI) badPath(c *Call) *Failure {
	f := invalid("", "", "Invalid URL (%s %s)", c.Method, c.Path)
	f.Status = http.StatusNotFound
	return f
}

// invalid returns OpenAI's error for a request that it cannot answer.
func invalid(param, code, format string, args ...any) *Failure {
	return &Failure{
		Status:  http.StatusBadRequest,
		Type:    "invalid_request_error",
		Param:   param,
		Code:    code,
		Message: fmt.Sprintf(format, args...),
	}
}

func missing(param string) *Failure {
	return invalid(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func wrongType(param, want string, got json.RawMessage) *Failure {
	return invalid(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", param,
		want, kind(got))
}

func emptyArray(param string) *Failure {
	return invalid(param, "empty_array",
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param)
}

// open parses the common part of all OpenAI requests: an object that names a model.
func (openAI) open(c *Call) (members, *Failure) {
	body, err := parse(c.Body)
	if err != nil {
		return nil, invalid("", "", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)")
	}
	switch {
	case c.Model != "": // on Azure the path names the model
	case !body.has("model"):
		return nil, invalid("", "", "you must provide a model parameter")
	case !body.into("model", &c.Model):
		return nil, wrongType("model", "a string", body["model"])
	}
	c.Stream = body.flag("stream")
	return body, nil
}

// integer reads a member that is an integer from least to most. If the member is missing, v keeps its value.
func integer(body members, key string, least, most int, v *int) *Failure {
	if !body.has(key) {
		return nil
	}
	switch ok := body.into(key, v); {
	case !ok:
		return wrongType(key, "an integer", body[key])
	case *v < least:
		return invalid(key, "integer_below_min_value",
			"Invalid '%s': integer below minimum value. Expected a value >= %d, but got %d instead.", key, least, *v)
	case *v > most:
		return invalid(key, "integer_above_max_value",
			"Invalid '%s': integer above maximum value. Expected a value <= %d, but got %d instead.", key, most, *v)
	}
	return nil
}

// usageOf returns OpenAI's usage object of the chat and completions formats.
func usageOf(u Usage) object {
	return object{
		{"prompt_tokens", u.Input},
		{"completion_tokens", u.Output},
		{"total_tokens", u.Input + u.Output},
		{"prompt_tokens_details", object{{"cached_tokens", u.CacheRead}, {"audio_tokens", 0}}},
		{"completion_tokens_details", object{
			{"reasoning_tokens", u.Reasoning},
			{"audio_tokens", 0},
			{"accepted_prediction_tokens", 0},
			{"rejected_prediction_tokens", 0},
		}},
	}
}

// textOf returns the text of a content that is a string or a list of parts.
func textOf(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	json.Unmarshal(content, &parts) // a content without parts gives no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// functionCalls are the tool calls of a message in the form of OpenAI, Cohere and Mistral.
type functionCalls []struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (f functionCalls) calls() []ToolCall {
	var calls []ToolCall
	for _, c := range f {
		calls = append(calls, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return calls
}

// functionCall returns a tool call of an answer, in the same form.
func functionCall(c ToolCall, arguments string) object {
	return object{
		{"id", c.ID},
		{"type", "function"},
		{"function", object{{"name", c.Name}, {"arguments", arguments}}},
	}
}

// readFunctions reads the tools that a call offers, in the same form.
func readFunctions(c *Call, body members) {
	var tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	body.into("tools", &tools)
	for _, t := range tools {
		c.Tools = append(c.Tools, Tool{t.Function.Name, t.Function.Parameters})
	}
}

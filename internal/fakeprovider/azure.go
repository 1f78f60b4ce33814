package fakeprovider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// azure is one of OpenAI's formats in Azure's form. The path names the deployment, and answers have sorted members
// and the verdicts of the content filter.
type azure struct{ format }

func onAzure(c *Call) bool {
	return strings.Contains(c.Path, "/openai/deployments/") || strings.HasSuffix(c.Host, ".azure.com")
}

// atOpenAI works like at for a format of OpenAI's that Azure serves too.
func atOpenAI(f format, suffix string) func(*Call) format {
	return func(c *Call) format {
		found := at(f, suffix)(c)
		if found != nil && onAzure(c) {
			return azure{found}
		}
		return found
	}
}

func (a azure) read(c *Call) *Failure {
	if _, rest, ok := strings.Cut(c.Path, "/openai/deployments/"); ok {
		if c.Query.Get("api-version") == "" {
			return &Failure{Status: http.StatusNotFound, Code: "404", Message: "Resource not found"}
		}
		c.Model, _, _ = strings.Cut(rest, "/")
	}
	return a.format.read(c)
}

func (azure) badKey(*Call) *Failure {
	return &Failure{
		Status:  http.StatusUnauthorized,
		Code:    "401",
		Message: "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
	}
}

func (azure) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusNotFound, Code: "404", Message: "Resource not found"}
}

func (azure) header(x *exchange) http.Header {
	return http.Header{
		"Apim-Request-Id":      {x.mint.uuid()},
		"X-Ms-Deployment-Name": {x.call.Model},
		"X-Ms-Region":          {"East US 2"},
		"X-Request-Id":         {x.mint.uuid()},
	}
}

// failure shows the gateway's own errors, which have no type, in the gateway's shape.
func (a azure) failure(x *exchange, f Failure) []byte {
	if f.Type != "" {
		return a.format.failure(x, f)
	}
	return marshal(object{{"error", object{{"code", f.Code}, {"message", f.Message}}}})
}

func (a azure) whole(x *exchange) []byte {
	body := a.format.whole(x)
	answer, ok := filtered(body)
	if !ok {
		return body
	}
	answer["prompt_filter_results"] = promptFilter
	return marshal(answer)
}

func (a azure) stream(x *exchange) []event {
	var events []event
	for i, e := range a.format.stream(x) {
		chunk, ok := filtered(e.data)
		if ok && i == 0 { // the verdict on the prompt comes first
			events = append(events, jsonEvent("", map[string]any{
				"choices": []any{}, "created": 0, "id": "", "model": "", "object": "",
				"prompt_filter_results": promptFilter,
			}))
		}
		if ok {
			e.data = marshal(chunk)
		}
		events = append(events, e)
	}
	return events
}

var safe = object{{"filtered", false}, {"severity", "safe"}}

var promptFilter = []object{{{"prompt_index", 0}, {"content_filter_results", object{
	{"hate", safe},
	{"jailbreak", object{{"detected", false}, {"filtered", false}}},
	{"self_harm", safe},
	{"sexual", safe},
	{"violence", safe},
}}}}

// filtered adds the filter's verdicts to the choices of an answer, and reports whether the
// answer has choices. Its members are sorted when it is marshalled.
func filtered(data []byte) (map[string]any, bool) {
	var answer map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&answer) != nil { // [DONE]
		return nil, false
	}
	choices, ok := answer["choices"].([]any)
	for _, c := range choices {
		c.(map[string]any)["content_filter_results"] = object{{"hate", safe}, {"self_harm", safe}, {"sexual", safe},
			{"violence", safe}}
	}
	return answer, ok
}

package provider

import (
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The text generation of IBM's watsonx.ai, whose model may be a deployment.
var _ = Register(&Codec{
	API:     "watsonx.generation",
	Seeded:  true,
	Pieces:  []string{"generated_text"},
	Match:   both(pathOf(generationPath), posts(jsontext.Value.IsObject, "")),
	body:    watsonxForm.decode,
	outside: also(sayOperation("generation"), sayGroup("deployment", generationPath, "")),
	answer:  watsonxAnswer,
	stream:  foldRules{add: addWatsonx},
})

var (
	generationPath = regexp.MustCompile(
		`/ml/v1[^/]*(?:/deployments/([^/]+))?/(?:text/generation|generation/text)(?:_stream)?$`)
	watsonxForm = requestForm{
		prompt: "input", in: "parameters", members: map[string]taker{"model_id": takeModel},
		parameters: parametersOf("temperature", "max_new_tokens=max_tokens", "top_p", "random_seed=seed",
			"stop_sequences=stop"),
	}
)

var watsonxUsage = usageNames{input: paths{"input_token_count"}, output: paths{"generated_token_count"}}

// watsonxAnswer decodes the completions of a prompt, each as a candidate.
func watsonxAnswer(body jsontext.Value) (*modelio.Response, error) {
	var all []modelio.Candidate
	for _, v := range body.Member("results").Elements() {
		text, ok := v.Member("generated_text").Text()
		if !ok {
			return nil, &WireError{Pointer: "/results", Reason: "a result has no generated_text"}
		}
		c := candidate(v.Member("stop_reason").Word(), thoughtText(text)...)
		c.Message.Metadata = v.Rest("generated_text", "stop_reason", "generated_token_count", "input_token_count")
		all = append(all, c)
	}
	if all == nil {
		return nil, neither("results")
	}
	resp := responseOf(body, nil, all, "results", "model_id")
	resp.Model = body.Member("model_id").Word()
	if len(all) == 1 {
		resp.Usage = watsonxUsage.among(body.Member("results").Head())
	}
	return resp, nil
}

// addWatsonx takes an event, whose results contain the next words of their texts. The last one has the finish reasons.
func addWatsonx(f *fold, _ string, event jsontext.Value) {
	rules{"results": func(body *node, name string, v jsontext.Value) {
		for i, piece := range v.Elements() {
			rules{"generated_text": (*node).grow}.fold(body.member(name).item(int64(i)), piece)
			reason := piece.Member("stop_reason").Word()
			f.done = f.done || reason != "" && !strings.EqualFold(reason, "not_finished")
		}
	}}.fold(&f.body, event)
}

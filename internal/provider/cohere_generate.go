package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Cohere's APIs before chat, which are no longer developed: completing a prompt, summarizing a text, classifying texts.
var _ = Register(&Codec{
	API:    "cohere.generate",
	Seeded: true,
	Match:  both(posts(has("prompt"), "/v1/generate"), not(pathLike(`/api/v1/generate$`))), // KoboldAI's API
	body:   requestForm{prompt: "prompt", parameters: cohereParameters}.decode,
	answer: generations,
	stream: foldRules{add: addGeneration},
})

var _ = Register(&Codec{
	API:       "cohere.summarize",
	Generates: true,
	Match:     posts(has("text"), "/v1/summarize"),
	body:      prompted("text", "temperature").decode,
	answer:    needs("a summary", with(jsontext.Value.IsString, "summary"), summary),
})

var _ = Register(&Codec{
	API:    "cohere.classify",
	Match:  posts(hasList("inputs"), "/v1/classify"),
	body:   requestForm{}.decode,
	answer: classifications,
})

// generations decodes the completions of a prompt, each as a candidate.
func generations(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("generations").IsArray() {
		return nil, neither("generations")
	}
	var all []modelio.Candidate
	for _, v := range body.Member("generations").Elements() {
		text, ok := v.Member("text").Text()
		if !ok {
			return nil, &WireError{Pointer: "/generations", Reason: "a generation has no text"}
		}
		c := candidate(v.Member("finish_reason").Word(), modelio.TextPart(text))
		c.Message.Metadata = v.Rest("text", "finish_reason", "index")
		all = append(all, c)
	}
	return cohereResponse(body, all, "generations", "prompt"), nil
}

// addGeneration takes an event. The last one has the complete answer, or says why there is none.
func addGeneration(f *fold, _ string, event jsontext.Value) {
	switch response := event.Member("response"); {
	case response.IsObject():
		f.body.putAll(response)
		f.done = true
	case event.Member("err").IsWord():
		f.body.put("error", event.Member("err"))
	case event.Member("text").IsString():
		f.body.member("generations").at(event.Member("index")).grow("text", event.Member("text"))
	}
}

func summary(body jsontext.Value) *modelio.Response {
	return cohereResponse(body, candidateOf(modelio.TextPart(body.Member("summary").Word())), "summary")
}

// classifications decodes the labels of texts: each is a custom part, in the order of the texts.
func classifications(body jsontext.Value) (*modelio.Response, error) {
	parts, ok := objects(body.Member("classifications"), func(v jsontext.Value) modelio.Part {
		return modelio.Part{Custom: v.Rest("id")}
	})
	if !ok {
		return nil, neither("classifications")
	}
	return cohereResponse(body, candidateOf(parts...), "classifications"), nil
}

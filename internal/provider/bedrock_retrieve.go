package provider

import (
	"cmp"
	"regexp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Bedrock's knowledge bases: the results for a question, and what a model generates from them.
var _ = Register(&Codec{
	API:     "bedrock.retrieve",
	Match:   both(pathOf(retrievePath), posts(has("retrievalQuery"), "/retrieve")),
	body:    requestForm{members: map[string]taker{"retrievalQuery": takeQuestion}}.decode,
	outside: sayGroup("knowledge_base", retrievePath, ""),
	answer:  listed("retrievalResults", "result"),
})

var _ = Register(&Codec{
	API:       "bedrock.retrieve_and_generate",
	Generates: true,
	Match:     posts(has("input"), "/retrieveAndGenerate", "/retrieveAndGenerateStream"),
	body:      decodeRetrieveGenerate,
	outside:   sayOperation("retrieveAndGenerate"),
	answer:    needs("an output", with(jsontext.Value.IsString, "output", "text"), retrievedAndGenerated),
	stream:    foldRules{add: addRetrieved},
})

var retrievePath = regexp.MustCompile(`^/knowledgebases/([^/]+)/retrieve$`)

// takeQuestion takes an object with a text, which is the prompt.
func takeQuestion(r *modelio.Request, name string, v jsontext.Value) bool {
	text, ok := v.Member("text").Text()
	if ok {
		r.Prompt = &text
		jsontext.KeepRest(&r.Options, name, v, "text")
	}
	return ok
}

// decodeRetrieveGenerate decodes a body. The model and its temperature, which are nested in the configuration, stay
// there too.
func decodeRetrieveGenerate(body jsontext.Value) *modelio.Request {
	req := requestForm{members: map[string]taker{"input": takeQuestion}}.decode(body)
	for _, kind := range []string{"knowledgeBaseConfiguration", "externalSourcesConfiguration"} {
		configuration := body.Member("retrieveAndGenerateConfiguration", kind)
		req.Model = cmp.Or(req.Model, configuration.Member("modelArn").Word())
		generation := configuration.Member("generationConfiguration", "inferenceConfig", "textInferenceConfig")
		for name, v := range generation.Members() {
			converseParameters.Take(req, name, v)
		}
	}
	return req
}

func addRetrieved(f *fold, name string, event jsontext.Value) {
	switch name {
	case "output":
		f.body.member("output").grow("text", event.Member("text"))
		f.done = true
	case "citation":
		one := event
		if inner := event.Member("citation"); inner.IsObject() {
			one = inner
		}
		f.body.member("citations").append(jsontext.ObjectText(one.Rest("citation")))
	case "guardrail":
		f.body.put("guardrailAction", event.Member("action"))
	}
}

func retrievedAndGenerated(body jsontext.Value) *modelio.Response {
	text := body.Member("output", "text").Word()
	all := candidateOf(modelio.TextPart(text))
	if body.Member("guardrailAction").Word() == "INTERVENED" {
		all[0].FinishReason = modelio.FinishBlocked
	}
	all[0].Citations = agentCitations(body.Member("citations"), text)
	resp := responseOf(body, nil, all, "output", "sessionId")
	resp.ID = body.Member("sessionId").Word()
	return resp
}

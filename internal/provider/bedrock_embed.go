package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The InvokeModel operation of AWS Bedrock for models with embed in their name, from Amazon, Cohere and TwelveLabs. The
// bodies have many forms, and only Titan's has a prompt.
var _ = Register(&Codec{
	API:     "bedrock.embed",
	Match:   postsToKind("embed"),
	body:    requestForm{prompt: "inputText"}.decode,
	outside: operationOf("invoke"),
	answer:  bedrockEmbeddings,
})

// postsToKind returns a Match for calls of InvokeModel for models with a word in their name.
func postsToKind(kind string) func(*Wire) bool {
	names := func(w *Wire) bool { return strings.Contains(bedrockModel(w.URL), kind) }
	return both(names, posts(jsontext.Value.IsObject, "/invoke"))
}

// bedrockEmbeddings decodes an answer: Cohere's lists, a list of objects, or one embedding.
func bedrockEmbeddings(body jsontext.Value) (*modelio.Response, error) {
	if many := body.Member("embeddings"); many.IsArray() && !many.Head().IsObject() || many.IsObject() {
		return cohereEmbeddings(body)
	}
	for _, name := range []string{"embeddings", "data"} {
		if many := body.Member(name); many.IsArray() {
			return &modelio.Response{Candidates: answered(many, "embedding"), Metadata: beside(body, name)}, nil
		}
	}
	if !body.Member("embedding").Present() && !body.Member("embeddingsByType").Present() {
		return nil, neither("an embedding")
	}
	part := modelio.Part{Custom: briefObject(body, "inputTextTokenCount")}
	return &modelio.Response{Candidates: candidateOf(part), Usage: invokeUsage.among(body)}, nil
}

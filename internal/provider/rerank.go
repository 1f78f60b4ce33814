package provider

import (
	"cmp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Cohere's API for ranking documents, in both versions and on hosts that copy it: Jina, Voyage, Together and local
// servers.
var _ = Register(&Codec{
	API:     "cohere.rerank",
	Match:   posts(hasList("documents"), "/rerank"),
	body:    requestForm{prompt: "query"}.decode,
	outside: sayVersion("v1"),
	answer:  ranking,
})

// The Rerank operation of Bedrock's agent runtime, and InvokeModel with a model that ranks.
var _ = Register(&Codec{
	API: "bedrock.rerank",
	Match: either(postsToKind("rerank"),
		both(posts(hasList("queries"), "/rerank"), not(posts(hasList("documents"), "/rerank")))), // Cohere's form
	body:    requestForm{prompt: "query"}.decode,
	outside: bedrockRerankPath,
	answer:  ranking,
})

func bedrockRerankPath(w *Wire, req *modelio.Request) {
	if bedrockModel(w.URL) == "" {
		sayOperation("rerank")(w, req)
	} else {
		operationOf("invoke")(w, req)
	}
}

// ranking decodes a ranking: each result is a custom part, in the order of the list.
func ranking(body jsontext.Value) (*modelio.Response, error) {
	for _, name := range []string{"results", "data"} {
		if list := body.Member(name); list.IsArray() {
			resp := cohereList(body, answered(list, "result"), name)
			resp.Usage = cmp.Or(embeddingsUsage.of(body), resp.Usage)
			return resp, nil
		}
	}
	return nil, neither("results")
}

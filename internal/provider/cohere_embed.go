package provider

import (
	"cmp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Both versions of Cohere's API for embeddings.
var _ = Register(&Codec{
	API:     "cohere.embed",
	Match:   posts(has("texts", "images", "inputs"), "/v1/embed", "/v2/embed"),
	body:    requestForm{}.decode,
	outside: sayVersion("v2"),
	answer:  cohereEmbeddings,
})

// cohereEmbeddings decodes embeddings: a custom part for each input, with all requested types.
func cohereEmbeddings(body jsontext.Value) (*modelio.Response, error) {
	var all []modelio.Candidate
	switch embeddings := body.Member("embeddings"); {
	case embeddings.IsArray():
		all = answered(embeddings, "embedding")
	case embeddings.IsObject():
		all = candidateOf(byType(embeddings)...)
	default:
		return nil, neither("embeddings")
	}
	return cohereList(body, all, "embeddings", "response_type"), nil
}

// byType returns the embeddings in an object with a list for each type.
func byType(embeddings jsontext.Value) (parts []modelio.Part) {
	for name, list := range embeddings.Members() {
		for i, e := range list.Elements() {
			if i == len(parts) {
				parts = append(parts, modelio.Part{Custom: modelio.Object{}})
			}
			parts[i].Custom[strings.Clone(name)] = brief(e)
		}
	}
	return parts
}

// cohereList returns an answer of Cohere's APIs that do not generate. The billed tokens are in the member meta.
func cohereList(body jsontext.Value, all []modelio.Candidate, taken ...string) *modelio.Response {
	return responseOf(body, cmp.Or(cohereUsage.among(body.Member("meta")), cohereUsage.of(body)), all, taken...)
}

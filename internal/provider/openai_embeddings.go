package provider

// The embeddings API of OpenAI and of hosts that copy it, with Voyage's two others of the same form.
var _ = Register(&Codec{
	API:     "openai.embeddings",
	Match:   matchEmbeddings,
	body:    requestForm{prompt: "input"}.decode,
	outside: deployedOperation("embeddings"),
	answer:  listed("data", "embedding", "object", "index"),
})

func matchEmbeddings(w *Wire) bool {
	return posts(has("input"), "/embeddings")(w) ||
		posts(hasList("inputs"), "/multimodalembeddings", "/contextualizedembeddings")(w)
}

package provider

// The embeddings API of OpenAI and of hosts that copy it, with Voyage's two others of the same form.
var _ = Register(&Codec{
	API: "openai.embeddings",
	Match: either(posts(has("input"), "/embeddings"),
		posts(hasList("inputs"), "/multimodalembeddings", "/contextualizedembeddings")),
	body:    requestForm{prompt: "input"}.decode,
	outside: deployedOperation("embeddings"),
	answer:  listed("data", "embedding", "object", "index"),
})

package provider

// The embeddings API of OpenAI and of hosts that copy it, and two others of Voyage with the same form.
var _ = Register(&Codec{
	API: "openai.embeddings",
	Match: either(posts(has("input"), "/embeddings"),
		posts(hasList("inputs"), "/multimodalembeddings", "/contextualizedembeddings")),
	body:    requestForm{prompt: "input"}.decode,
	outside: deployedOperation("embeddings"),
	answer:  listed("data", "embedding", "object", "index"),
})

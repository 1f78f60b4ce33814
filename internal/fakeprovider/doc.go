// Package fakeprovider is an HTTP server that implements the wire formats of model providers and returns the answers
// that a test scripts.
//
// One [Server] implements all formats; the path of a request selects the format, and the request decides whether the
// answer is streamed. An answer is a [Reply], scripted in order with [Server.Reply] or computed from the request with
// [Server.Handle]:
//
//	srv := fakeprovider.New(t)
//	srv.Reply(fakeprovider.Text("hello"), fakeprovider.Error(429, "rate_limit_error", "slow down"))
//	client := openai.NewClient(option.WithBaseURL(srv.URL()+"/v1"), option.WithAPIKey("unused"))
//
// The formats, as [Call.API] names them, and their paths:
//
//	openai.chat         …/chat/completions, also /openai/deployments/NAME/… as on Azure
//	openai.responses    …/responses
//	openai.completions  …/completions
//	openai.embeddings   …/embeddings
//	mistral.chat        /mistral/…/chat/completions, or …/chat/completions of a mistral.ai host
//	anthropic.messages  …/v1/messages, also …/models/NAME:rawPredict as on Vertex AI
//	gemini.generate     …/models/NAME:generateContent, on AI Studio and on Vertex AI
//	ollama.chat         …/api/chat
//	ollama.generate     …/api/generate
//	bedrock.converse    /model/NAME/converse
//	bedrock.invoke      /model/NAME/invoke, for Claude and Nova models
//	cohere.chat         …/v2/chat
//	gemini.embed        …/models/NAME:embedContent and :batchEmbedContents
//	vertex.predict      …/models/NAME:predict, for models that embed and models that make images
//	cohere.embed        …/v1/embed and …/v2/embed
//	ollama.embed        …/api/embed and …/api/embeddings
//	bedrock.embed       /model/NAME/invoke, for Titan's models that embed
//	cohere.rerank       …/rerank; bedrock.rerank at the root, and /model/NAME/invoke for models that rank
//	openai.moderations  …/moderations; mistral.moderations as mistral.chat, also …/chat/moderations
//	*.count_tokens      where Anthropic, Google and Bedrock count tokens; openai.input_tokens, cohere.tokenize
//
// A request that the real provider would refuse (a missing model, a wrong path) gets the real provider's error, and
// does not consume a reply.
//
// The package uses only the standard library. It shares no code with the codecs that it tests, so that it cannot hide
// their mistakes.
package fakeprovider

package provider

// The API that reads a text aloud, of OpenAI and of hosts that copy it.
var _ = Register(speaks("openai.speech", "input", "/audio/speech", deployment))

package provider

// The text-to-speech API of OpenAI and of hosts that copy it.
var _ = Register(speechCodec("openai.speech", "input", "/audio/speech", deployment))

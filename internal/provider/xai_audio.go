package provider

// xAI's speech, and its transcriptions.
var _ = Register(&Codec{
	API:       "xai.speech",
	Generates: true,
	Fixed:     noTemperature,
	Match:     posts(has("text"), "/v1/tts"),
	body:      requestForm{prompt: "text"}.decode,
	response:  decodeSpeech,
})

var _ = Register(&Codec{
	API:       "xai.transcriptions",
	Generates: true,
	Fixed:     noTemperature,
	Match:     postsForm("/v1/stt"),
	request:   requestForm{}.decodeForm,
	response:  decodeTranscription,
})

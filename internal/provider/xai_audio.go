package provider

// xAI's speech, and its transcriptions.
var _ = Register(speechCodec("xai.speech", "text", "/v1/tts", nil))

var _ = Register(&Codec{
	API:      "xai.transcriptions",
	Fixed:    noSetting,
	Match:    postsForm("/v1/stt"),
	request:  requestForm{}.decodeForm,
	response: decodeTranscription,
})

package genkittraceforge

// The conversions, for their tests.
var (
	FromRequest  = fromRequest
	ToRequest    = toRequest
	FromResponse = fromResponse
	ToResponse   = toResponse
	FromChunk    = fromChunk
	ToChunk      = toChunk
)

package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Mistral's API that reads documents. The document is a message of the user.
var _ = Register(&Codec{
	API:    "mistral.ocr",
	Fixed:  noSetting,
	Match:  posts(has("document"), "/v1/ocr"),
	body:   requestForm{members: map[string]taker{"document": takeMessage(modelio.RoleUser, document)}}.decode,
	answer: needs("pages", hasList("pages"), ocrAnswer),
})

func document(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	return []modelio.Part{{Custom: v.Object()}}, v.IsObject()
}

// ocrAnswer decodes pages: the text of each, its images, and the rest as a custom part.
func ocrAnswer(body jsontext.Value) *modelio.Response {
	var parts []modelio.Part
	for _, page := range body.Member("pages").Elements() {
		if text := page.Member("markdown"); text.IsWord() {
			parts = append(parts, modelio.TextPart(text.Word()))
		}
		parts = append(parts, modelio.Part{Custom: page.Rest("markdown")})
	}
	if note := body.Member("document_annotation"); note.IsWord() {
		parts = append(parts, modelio.TextPart(note.Word()))
	}
	return responseOf(body, nil, candidateOf(parts...), "pages", "document_annotation")
}

package integration_test

import (
	"net/url"
	"regexp"
	"strings"
)

// generic is the API of calls that no other codec takes.
const generic = "http.json"

// endpoints maps paths to the names of the APIs' codecs. It does not depend on how the codecs match.
var endpoints = []struct {
	path *regexp.Regexp
	api  string
}{
	{regexp.MustCompile(`/chat/completions$`), "openai.chat"},
	{regexp.MustCompile(`^/openai$`), "openai.chat"},
	{regexp.MustCompile(`/v1/messages$`), "anthropic.messages"},
	{regexp.MustCompile(`/responses$`), "openai.responses"},
	{regexp.MustCompile(`/completions$`), "openai.completions"},
	{regexp.MustCompile(`/embeddings$`), "openai.embeddings"},
	{regexp.MustCompile(`:(stream)?[gG]enerateContent$`), "google.generate"},
	{regexp.MustCompile(`/api/chat$`), "ollama.chat"},
	{regexp.MustCompile(`/api/generate$`), "ollama.generate"},
	{regexp.MustCompile(`/model/.+/converse(-stream)?$`), "bedrock.converse"},
	{regexp.MustCompile(`/model/.+/invoke(-with-response-stream)?$`), "bedrock.invoke"},
	{regexp.MustCompile(`/publishers/anthropic/models/.+:(streamR|r)awPredict$`), "vertex.anthropic"},
	{regexp.MustCompile(`/v2/chat$`), "cohere.chat"},
}

// kinds are the endpoints without their own codec that have a row in the table.
var kinds = []string{
	"audio", "images", "files", "batches", "models", "assistants", "threads", "vector_stores",
	"conversations", "fine_tuning", "moderations", "rerank", "count_tokens", "embed",
}

// endpoint returns the API of an interaction, and its row in the table.
func (i *interaction) endpoint() (api, row string) {
	u, err := url.Parse(i.URL)
	if err != nil {
		return generic, "other"
	}
	for _, e := range endpoints {
		if i.Method == "POST" && e.path.MatchString(u.Path) {
			return e.api, e.api
		}
	}
	for _, kind := range kinds {
		for part := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == ':' }) {
			if part == kind {
				return generic, generic + ": " + kind
			}
		}
	}
	return generic, generic + ": other"
}

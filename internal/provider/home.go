package provider

import (
	"maps"
	"net/url"
	"slices"
)

// homes are the providers with one public host; the others have a host for each customer.
var homes = map[string]string{
	"alibaba":     "https://dashscope-intl.aliyuncs.com",
	"anthropic":   "https://api.anthropic.com",
	"baseten":     "https://inference.baseten.co",
	"cerebras":    "https://api.cerebras.ai",
	"cohere":      "https://api.cohere.com",
	"deepseek":    "https://api.deepseek.com",
	"fireworks":   "https://api.fireworks.ai",
	"google":      "https://generativelanguage.googleapis.com",
	"groq":        "https://api.groq.com",
	"huggingface": "https://router.huggingface.co",
	"mistral":     "https://api.mistral.ai",
	"moonshot":    "https://api.moonshot.ai",
	"nvidia":      "https://integrate.api.nvidia.com",
	"ollama":      "http://localhost:11434",
	"openai":      "https://api.openai.com",
	"openrouter":  "https://openrouter.ai",
	"perplexity":  "https://api.perplexity.ai",
	"together":    "https://api.together.xyz",
	"vercel":      "https://ai-gateway.vercel.sh",
	"xai":         "https://api.x.ai",
}

// Home returns the root of the named provider's public host, if it has one.
func Home(name string) (*url.URL, bool) {
	u, err := url.Parse(homes[name])
	return u, err == nil && u.Host != ""
}

// Homes returns the names of the providers that have a public host, sorted.
func Homes() []string { return slices.Sorted(maps.Keys(homes)) }

package provider

import (
	"net/netip"
	"strings"
)

// Codecs returns the codecs of all APIs, in the order in which they are asked for a match.
func Codecs() []Codec {
	return []Codec{
		openAIChat{},
		anthropicMessages{},
		openAIResponses{},
		openAICompletions{},
		openAIEmbeddings{},
		googleGenerate{},
		ollamaChat{},
		ollamaGenerate{},
		bedrockConverse{},
		bedrockInvoke{},
		vertexAnthropic{},
		cohereChat{},
		httpJSON{},
	}
}

// Match returns the codec of w's API.
func Match(w *Wire) (Codec, bool) {
	for _, c := range Codecs() {
		if c.Match(w) {
			return c, true
		}
	}
	return nil, false
}

// Name returns the name of the provider at host, which is the name of its directory in a
// store (SF "Storage Format"): lower-case letters, digits and hyphens. A host that is not
// known, such as a loopback address or a gateway of one's own, stands for c's home provider.
func Name(host string, c Codec) string {
	if name := hostName(host); name != "" {
		return name
	}
	return c.Provider()
}

// hostName returns the name of the provider at a host; "" for one that is not known.
func hostName(host string) string {
	host = strings.ToLower(host)
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	for _, h := range hosts {
		if host == h.domain || strings.HasSuffix(host, "."+h.domain) {
			return h.name
		}
	}
	switch {
	case strings.HasSuffix(host, "-aiplatform.googleapis.com"):
		return "vertex"
	case strings.HasPrefix(host, "bedrock") && (strings.Contains(host, ".amazonaws.com") || strings.HasSuffix(host, ".api.aws")):
		return "bedrock"
	}
	return ""
}

// IsLoopback reports whether a host, without its port, is this machine.
func IsLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// hosts names the providers by the ends of their host names, the more special first.
var hosts = []struct{ domain, name string }{
	{"openai.azure.com", "azure"},
	{"cognitiveservices.azure.com", "azure"},
	{"services.ai.azure.com", "azure"},
	{"models.ai.azure.com", "azure"},
	{"inference.ai.azure.com", "azure"},
	{"models.inference.ai.azure.com", "github"},
	{"models.github.ai", "github"},
	{"api.githubcopilot.com", "github"},
	{"api.openai.com", "openai"},
	{"api.anthropic.com", "anthropic"},
	{"generativelanguage.googleapis.com", "google"},
	{"aiplatform.googleapis.com", "vertex"},
	{"openrouter.ai", "openrouter"},
	{"api.groq.com", "groq"},
	{"api.deepseek.com", "deepseek"},
	{"x.ai", "xai"},
	{"api.mistral.ai", "mistral"},
	{"codestral.mistral.ai", "mistral"},
	{"api.cohere.com", "cohere"},
	{"api.cohere.ai", "cohere"},
	{"api.together.xyz", "together"},
	{"api.together.ai", "together"},
	{"api.perplexity.ai", "perplexity"},
	{"api.fireworks.ai", "fireworks"},
	{"api.cerebras.ai", "cerebras"},
	{"api.sambanova.ai", "sambanova"},
	{"api.deepinfra.com", "deepinfra"},
	{"api.hyperbolic.xyz", "hyperbolic"},
	{"api.novita.ai", "novita"},
	{"inference.baseten.co", "baseten"},
	{"router.huggingface.co", "huggingface"},
	{"api-inference.huggingface.co", "huggingface"},
	{"endpoints.huggingface.cloud", "huggingface"},
	{"integrate.api.nvidia.com", "nvidia"},
	{"ai-gateway.vercel.sh", "vercel"},
	{"api.cloudflare.com", "cloudflare"},
	{"gateway.ai.cloudflare.com", "cloudflare"},
	{"aliyuncs.com", "alibaba"},
	{"api.z.ai", "zai"},
	{"open.bigmodel.cn", "zhipu"},
	{"api.moonshot.ai", "moonshot"},
	{"api.moonshot.cn", "moonshot"},
	{"api.minimax.io", "minimax"},
	{"api.siliconflow.cn", "siliconflow"},
	{"api.siliconflow.com", "siliconflow"},
	{"volces.com", "volcengine"},
	{"api.xiaomimimo.com", "xiaomi"},
	{"api.avian.io", "avian"},
	{"pollinations.ai", "pollinations"},
	{"api.voyageai.com", "voyage"},
	{"api.jina.ai", "jina"},
	{"api.ai21.com", "ai21"},
	{"api.bfl.ai", "bfl"},
	{"bfl.ai", "bfl"},
	{"api.replicate.com", "replicate"},
	{"api.stability.ai", "stability"},
	{"api.elevenlabs.io", "elevenlabs"},
	{"api.deepgram.com", "deepgram"},
	{"ollama.com", "ollama"},
	{"api.writer.com", "writer"},
	{"api.portkey.ai", "portkey"},
	{"gateway.pydantic.dev", "pydantic"},
	{"inference.crusoecloud.com", "crusoe"},
	{"inference.heroku.com", "heroku"},
	{"ml.cloud.ibm.com", "watsonx"},
	{"snowflakecomputing.com", "snowflake"},
	{"cloud.databricks.com", "databricks"},
	{"azuredatabricks.net", "databricks"},
	{"nebius.com", "nebius"},
	{"api.lambda.ai", "lambda"},
	{"api.upstage.ai", "upstage"},
	{"api.inceptionlabs.ai", "inception"},
	{"api.aleph-alpha.com", "aleph-alpha"},
}

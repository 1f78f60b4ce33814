package provider

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/locked"
)

// A Provider contains facts about a provider of models.
type Provider struct {
	Name string // name of its directory in a store (SF "Storage Format"): lower-case letters, digits and hyphens
	// Hosts are the names of its hosts, which include all names below them; * stands for any text. The longest one that
	// matches a host counts.
	Hosts []string
	Home  string   // root of its public host; empty if each customer has a different host
	Keys  []string // environment variables for its key, without which its SDKs refuse to make a client or a call
	// OneKey says that one of Keys is enough, and that an SDK complains if it finds two.
	OneKey bool
	// Tokens are variables for a credential that SDKs use in place of the key, some only if they find no key.
	Tokens []string

	Refusal refusalForm // the form of its errors; nil for that of the API
}

// others are providers that offer the API of another one. The codecs declare all other providers.
var others = []Provider{
	{Name: "ai21", Hosts: []string{"api.ai21.com"}},
	{Name: "aleph-alpha", Hosts: []string{"api.aleph-alpha.com"}},
	{Name: "alibaba", Hosts: []string{"aliyuncs.com"}, Home: "https://dashscope-intl.aliyuncs.com"},
	{Name: "avian", Hosts: []string{"api.avian.io"}},
	{Name: "azure", Hosts: []string{"openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com",
		"models.ai.azure.com", "inference.ai.azure.com"}, Keys: []string{"AZURE_OPENAI_API_KEY"},
		Tokens: []string{"AZURE_OPENAI_AD_TOKEN"}},
	{Name: "baseten", Hosts: []string{"inference.baseten.co"}, Home: "https://inference.baseten.co"},
	{Name: "bfl", Hosts: []string{"bfl.ai"}},
	{Name: "cerebras", Hosts: []string{"api.cerebras.ai"}, Home: "https://api.cerebras.ai"},
	{Name: "cloudflare", Hosts: []string{"api.cloudflare.com", "gateway.ai.cloudflare.com"}},
	{Name: "crusoe", Hosts: []string{"inference.crusoecloud.com"}},
	{Name: "databricks", Hosts: []string{"cloud.databricks.com", "azuredatabricks.net"}},
	{Name: "deepgram", Hosts: []string{"api.deepgram.com"}},
	{Name: "deepinfra", Hosts: []string{"api.deepinfra.com"}},
	{Name: "deepseek", Hosts: []string{"api.deepseek.com"}, Home: "https://api.deepseek.com",
		Keys: []string{"DEEPSEEK_API_KEY"}},
	{Name: "elevenlabs", Hosts: []string{"api.elevenlabs.io"}},
	{Name: "fireworks", Hosts: []string{"api.fireworks.ai"}, Home: "https://api.fireworks.ai"},
	{Name: "github", Hosts: []string{"models.inference.ai.azure.com", "models.github.ai", "api.githubcopilot.com"}},
	{Name: "groq", Hosts: []string{"api.groq.com"}, Home: "https://api.groq.com", Keys: []string{"GROQ_API_KEY"}},
	{Name: "heroku", Hosts: []string{"inference.heroku.com"}},
	{Name: "huggingface", Hosts: []string{"router.huggingface.co", "api-inference.huggingface.co",
		"endpoints.huggingface.cloud"}, Home: "https://router.huggingface.co"},
	{Name: "hyperbolic", Hosts: []string{"api.hyperbolic.xyz"}},
	{Name: "inception", Hosts: []string{"api.inceptionlabs.ai"}},
	{Name: "jina", Hosts: []string{"api.jina.ai"}},
	{Name: "lambda", Hosts: []string{"api.lambda.ai"}},
	{Name: "minimax", Hosts: []string{"api.minimax.io"}},
	{Name: "mistral", Hosts: []string{"api.mistral.ai", "codestral.mistral.ai"}, Home: "https://api.mistral.ai",
		Keys: []string{"MISTRAL_API_KEY"}, Refusal: refuseAsMistral},
	{Name: "moonshot", Hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, Home: "https://api.moonshot.ai"},
	{Name: "nebius", Hosts: []string{"nebius.com"}},
	{Name: "novita", Hosts: []string{"api.novita.ai"}},
	{Name: "nvidia", Hosts: []string{"integrate.api.nvidia.com"}, Home: "https://integrate.api.nvidia.com"},
	{Name: "openrouter", Hosts: []string{"openrouter.ai"}, Home: "https://openrouter.ai",
		Keys: []string{"OPENROUTER_API_KEY"}},
	{Name: "perplexity", Hosts: []string{"api.perplexity.ai"}, Home: "https://api.perplexity.ai"},
	{Name: "pollinations", Hosts: []string{"pollinations.ai"}},
	{Name: "portkey", Hosts: []string{"api.portkey.ai"}},
	{Name: "pydantic", Hosts: []string{"gateway.pydantic.dev"}},
	{Name: "replicate", Hosts: []string{"api.replicate.com"}},
	{Name: "sambanova", Hosts: []string{"api.sambanova.ai"}},
	{Name: "siliconflow", Hosts: []string{"api.siliconflow.cn", "api.siliconflow.com"}},
	{Name: "snowflake", Hosts: []string{"snowflakecomputing.com"}},
	{Name: "stability", Hosts: []string{"api.stability.ai"}},
	{Name: "together", Hosts: []string{"api.together.xyz", "api.together.ai"}, Home: "https://api.together.xyz"},
	{Name: "upstage", Hosts: []string{"api.upstage.ai"}},
	{Name: "vercel", Hosts: []string{"ai-gateway.vercel.sh"}, Home: "https://ai-gateway.vercel.sh"},
	{Name: "volcengine", Hosts: []string{"volces.com"}, Keys: []string{"ARK_API_KEY"}},
	{Name: "voyage", Hosts: []string{"api.voyageai.com"}},
	{Name: "watsonx", Hosts: []string{"ml.cloud.ibm.com"}},
	{Name: "writer", Hosts: []string{"api.writer.com"}},
	{Name: "xai", Hosts: []string{"x.ai"}, Home: "https://api.x.ai", Keys: []string{"XAI_API_KEY"}},
	{Name: "xiaomi", Hosts: []string{"api.xiaomimimo.com"}},
	{Name: "zai", Hosts: []string{"api.z.ai"}},
	{Name: "zhipu", Hosts: []string{"open.bigmodel.cn"}},
}

// Providers returns all known providers, sorted by name. The result must not be changed.
var Providers = sync.OnceValue(func() []Provider {
	all := slices.Clone(others)
	for _, c := range registered {
		if c.Hosts != nil || c.Home != "" || c.Keys != nil {
			all = append(all, Provider{
				Name: c.Provider, Hosts: c.Hosts, Home: c.Home, Keys: c.Keys, OneKey: c.OneKey, Tokens: c.Tokens,
			})
		}
	}
	inorder.By(all, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// KeyVariables returns the environment variables without which some SDK refuses to make a client or a call.
// Alternatives are grouped.
func (p *Provider) KeyVariables() [][]string {
	if p.OneKey {
		return [][]string{p.Keys}
	}
	return slices.Collect(slices.Chunk(p.Keys, 1))
}

// keyForms are prefixes of keys that programs check before they make a client, by variable.
var keyForms = map[string]string{
	"ANTHROPIC_API_KEY": "sk-ant-", "DEEPSEEK_API_KEY": "sk-", "GEMINI_API_KEY": "AIza", "GROQ_API_KEY": "gsk_",
	"OPENAI_API_KEY":     "sk-",
	"OPENROUTER_API_KEY": "sk-or-", "XAI_API_KEY": "xai-",
}

const (
	noKey     = "traceforge-replay-placeholder"
	keyLength = 64 // programs require 20 to 50 characters; Google's keys have 39
)

// NoKey returns a placeholder for a missing key in a variable: it has the provider's form, and is not secret.
func NoKey(variable string) string {
	key := keyForms[variable] + noKey
	length := keyLength
	if variable == "GEMINI_API_KEY" {
		length = 39
	}
	return key + strings.Repeat("0", length-len(key))
}

// HasNoKey reports whether a text contains a result of NoKey.
func HasNoKey(text string) bool { return strings.Contains(text, noKey) }

// Facts returns the facts about the named provider; the zero value for an unknown one.
func Facts(name string) (facts Provider) {
	if i := slices.IndexFunc(Providers(), func(p Provider) bool { return p.Name == name }); i >= 0 {
		facts = Providers()[i]
	}
	return facts
}

// ProviderOf returns the name of the provider that w is sent to (design R9): from the repository's configuration or
// else the table of known hosts. A loopback or private address stands for the provider of the API, so that gateways and
// local servers can take its place. Any other host is a provider of its own, named by [hostName]. Ports do not matter.
// Regions in the names of Bedrock's and Vertex AI's hosts do not matter either.
//
// hosts maps host names, without port and in lower case, to names of providers; it may be nil.
func ProviderOf(w *Wire, c *Codec, hosts map[string]string) string {
	if name := AtHost(w.URL, hosts); name != "" {
		return name
	}
	host := bareHost(w.URL)
	if host == "" || isPrivate(host) {
		return c.Provider
	}
	return hostName(host)
}

// AtHost returns the name of the provider at u, from the repository's configuration or the table of known hosts, or "".
// See [ProviderOf].
func AtHost(u *url.URL, hosts map[string]string) string {
	host := bareHost(u)
	if name, ok := hosts[host]; ok {
		return name
	}
	return knownHost(host)
}

// bareHost returns the host in u: in lower case, without port, brackets and final dot.
func bareHost(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

// hostsSeen are the results of knownHost, which each call needs several times. To find one takes a hundred comparisons.
var hostsSeen locked.Map[string, string]

// knownHost returns the name of the provider at a host; "" if unknown.
func knownHost(host string) (name string) {
	if name, ok := hostsSeen.Get(host); ok {
		return name
	}
	longest := 0
	for _, p := range Providers() {
		for _, pattern := range p.Hosts {
			if len(pattern) > longest && Covers(pattern, host) {
				name, longest = p.Name, len(pattern)
			}
		}
	}
	hostsSeen.Set(host, name)
	return name
}

// Covers reports whether pattern, from [Provider.Hosts], matches host.
func Covers(pattern, host string) bool {
	if before, after, ok := strings.Cut(pattern, "*"); ok {
		return len(host) >= len(before)+len(after) && strings.HasPrefix(host, before) && strings.HasSuffix(host, after)
	}
	above, ok := strings.CutSuffix(host, pattern)
	return ok && (above == "" || strings.HasSuffix(above, "."))
}

// IsLoopback reports whether a host, without its port, is this machine.
func IsLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// isPrivate reports whether a host is this machine or in a private network, by its address or by a name without a dot.
// Containers have such names, but no public host does.
func isPrivate(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return IsLoopback(host) || host == "host.docker.internal" || !strings.Contains(host, ".")
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsUnspecified() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

// hostName names the provider of an unknown host. Each dot becomes one hyphen and each hyphen two, so that different
// hosts have different names. If that is longer than 64 characters, or if the host contains anything except letters,
// digits, dots and hyphens, the name ends in 12 digits of its hash.
func hostName(host string) string {
	const longest, digits = 64, 12
	plain := notOfHosts.ReplaceAllString(host, "-")
	name := strings.ReplaceAll(strings.ReplaceAll(plain, "-", "--"), ".", "-")
	if plain == host && len(name) <= longest {
		return name
	}
	return name[:min(len(name), longest-digits-1)] + "-" + canon.Sum([]byte(host)).Hex()[:digits]
}

var notOfHosts = regexp.MustCompile(`[^a-z0-9.-]`)

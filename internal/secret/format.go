package secret

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// A Format describes secrets that can be recognized by their form alone: a prefix, and a minimum number of characters
// from an alphabet. Real secrets are usually longer, because issuers lengthen them without notice.
type Format struct {
	Kind   string // with an article
	Prefix string
	Digits func(byte) bool
	Least  int
	Source string // where the format is documented, see [Formats]
}

// Formats returns the known formats with a prefix. The sources are rules of gitleaks (github.com/gitleaks/gitleaks,
// config/gitleaks.toml), betterleaks (github.com/betterleaks/betterleaks, config/betterleaks.toml) and noseyparker
// (github.com/praetorian-inc/noseyparker, crates/noseyparker/data/default/builtin/rules), detectors of trufflehog
// (github.com/trufflesecurity/trufflehog, pkg/detectors), and the redaction of warp (github.com/warpdotdev/warp).
func Formats() (all []Format) {
	for _, f := range formTable {
		for prefix := range strings.FieldsSeq(f.Prefix) {
			all = append(all, Format{f.Kind, prefix, f.Digits, f.Least, f.Source})
		}
	}
	return all
}

// formTable has one entry for formats that differ only in their prefix.
var formTable = []Format{
	{"an OpenAI API key", "sk-proj- sk-svcacct- sk-admin-", isWord, 32, "gitleaks openai-api-key"},
	{"an Anthropic API key", "sk-ant-", isWord, 32, "gitleaks anthropic-api-key, anthropic-admin-api-key"},
	{"an OpenRouter API key", "sk-or-", isWord, 32, "trufflehog openrouter"},
	{"a Langfuse secret key", "sk-lf-", isWord, 32, "trufflehog langfuse"},
	{"an API key", "sk-", isAlphanumeric, 20, "gitleaks openai-api-key (older keys), trufflehog deepseek"},
	{"a Google API key", "AIza", isWord, 35, "gitleaks gcp-api-key"},
	{"a Google OAuth token", "ya29.", isWord, 20, "noseyparker google"},
	{"a Google OAuth client secret", "GOCSPX-", isWord, 28, "noseyparker google"},
	{"an AWS access key", "AKIA ASIA ABIA ACCA", isBase32, 16, "gitleaks aws-access-token"},
	{"a Bedrock API key", "ABSK", isBase64, 100, "gitleaks aws-amazon-bedrock-api-key-long-lived"},
	{"a Bedrock API key", "bedrock-api-key-", isBase64, 20, "gitleaks aws-amazon-bedrock-api-key-short-lived"},
	{"an Alibaba Cloud access key", "LTAI", isAlphanumeric, 20, "gitleaks alibaba-access-key-id"},
	{"a Groq API key", "gsk_", isAlphanumeric, 48, "trufflehog groq, noseyparker groq"},
	{"an xAI API key", "xai-", isWord, 60, "trufflehog xai"},
	{"a Replicate API token", "r8_", isWord, 37, "trufflehog replicate"},
	{"an NVIDIA API key", "nvapi-", isWord, 60, "trufflehog nvapi"},
	{"a Perplexity API key", "pplx-", isAlphanumeric, 40, "gitleaks perplexity-api-key"},
	{"a Hugging Face token", "hf_ api_org_", isAlphanumeric, 34,
		"gitleaks huggingface-access-token, huggingface-organization-api-token"},
	{"a LangSmith key", "lsv2_pt_ lsv2_sk_", isWord, 40, "trufflehog langsmith"},
	{"a Pinecone API key", "pcsk_", isWord, 60, "trufflehog pinecone"},
	{"a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", isAlphanumeric, 36,
		"gitleaks github-pat, github-oauth, github-app-token, github-refresh-token"},
	{"a GitHub token", "github_pat_", isWord, 60, "gitleaks github-fine-grained-pat"},
	{"a GitLab token",
		"glpat- gldt- glrt- glffct- glft- GR1348941 glsoat- glptt- glcbt- gloas- glimt- glagent-", isWord, 20,
		"gitleaks gitlab-pat and its other rules of gitlab"},
	{"a Slack token", "xoxb- xoxp- xoxe- xoxo- xoxs- xapp- xoxa- xoxr-", isWord, 10,
		"gitleaks slack-bot-token and its other rules of slack"},
	{"a Slack webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/", isBase64, 40,
		"gitleaks slack-webhook-url"},
	{"a Discord webhook", "discord.com/api/webhooks/", isBase64, 60, "trufflehog discordwebhook"},
	{"a Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", isAlphanumeric, 10,
		"gitleaks stripe-access-token"},
	{"an API key", "sk_", isHexadecimal, 48, "trufflehog elevenlabs"},
	{"an npm token", "npm_", isAlphanumeric, 36, "gitleaks npm-access-token"},
	{"a PyPI token", "pypi-", isWord, 50, "gitleaks pypi-upload-token"},
	{"a RubyGems key", "rubygems_", isHexadecimal, 48, "gitleaks rubygems-api-token"},
	{"a Docker token", "dckr_pat_ dckr_oat_", isWord, 27, "trufflehog dockerhub"},
	{"a SendGrid key", "SG.", isDotted, 60, "gitleaks sendgrid-api-token"},
	{"a Brevo key", "xkeysib-", isWord, 64, "gitleaks sendinblue-api-token"},
	{"a Twilio key", "SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf", isHexadecimal, 31,
		"gitleaks twilio-api-key"},
	{"a Mailgun key", "key-", isHexadecimal, 32, "trufflehog mailgun"},
	{"a Databricks token", "dapi", isHexadecimal, 32, "gitleaks databricks-api-token"},
	{"a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", isHexadecimal, 64,
		"gitleaks digitalocean-pat, digitalocean-access-token, digitalocean-refresh-token"},
	{"a Shopify token", "shpat_ shpca_ shppa_ shpss_", isHexadecimal, 32,
		"gitleaks shopify-access-token and its other rules of shopify"},
	{"a Linear key", "lin_api_", isAlphanumeric, 40, "gitleaks linear-api-key"},
	{"a Notion token", "ntn_", isAlphanumeric, 40, "gitleaks notion-api-token"},
	{"a Postman key", "PMAK-", isWord, 50, "gitleaks postman-api-token"},
	{"a Pulumi token", "pul-", isHexadecimal, 40, "gitleaks pulumi-api-token"},
	{"a Vault token", "hvs. hvb.", isWord, 80, "gitleaks vault-service-token, vault-batch-token"},
	{"a Doppler token", "dp.pt.", isAlphanumeric, 40, "gitleaks doppler-api-token"},
	{"an Atlassian token", "ATATT3", isWord, 100, "gitleaks atlassian-api-token"},
	{"a Grafana token", "glsa_", isWord, 40, "gitleaks grafana-service-account-token"},
	{"a Grafana token", "glc_", isBase64, 32, "gitleaks grafana-cloud-api-token"},
	{"a Sentry token", "sntryu_", isHexadecimal, 64, "gitleaks sentry-user-token"},
	{"a Sentry token", "sntrys_", isBase64, 60, "gitleaks sentry-org-token"},
	{"a Supabase token", "sbp_", isHexadecimal, 40, "trufflehog supabasetoken"},
	{"a Square token", "sq0atp-", isWord, 22, "gitleaks square-access-token"},
	{"a Figma token", "figd_", isWord, 40, "trufflehog figmapersonalaccesstoken"},
	{"a Fly token", "fo1_", isWord, 43, "gitleaks flyio-access-token"},
	{"a Fly token", "fm2_ fm1a_ fm1r_", isBase64, 100, "gitleaks flyio-access-token"},
	{"an age key", "AGE-SECRET-KEY-1", isAlphanumeric, 58, "gitleaks age-secret-key"},
	{"a Telegram bot's token", "api.telegram.org/bot", isColoned, 40, "trufflehog telegrambottoken"},
	{"an Azure storage key", "AccountKey=", isBase64, 40, "trufflehog azure_storage"},
	{"an Azure access key", "SharedAccessKey=", isBase64, 40, "trufflehog azure_storage"},
	{"a 1Password token", "ops_eyJ", isBase64, 100, "gitleaks 1password-service-account-token"},
	{"a Google API key", "AQ.Ab8RN6", isWord, 44, "betterleaks gcp-gemini-api"},
	{"a Fireworks API key", "fw_", isAlphanumeric, 22, "warp fireworks-api-key"},
	{"a Together API key", "tgp_v1_", isWord, 43, "betterleaks togetherai-api-key"},
	{"a Cerebras API key", "csk-", isAlphanumeric, 48, "betterleaks cerebras-api-key"},
	{"a MiniMax API key", "sk-api-", isWord, 100, "betterleaks minimax-api-key"},
	{"a RunPod API key", "rpa_", isAlphanumeric, 46, "betterleaks runpod-api-key"},
	{"a Brave API key", "BSA", isWord, 24, "betterleaks brave-search-api-key"},
	{"an Apify token", "apify_api_", isAlphanumeric, 34, "betterleaks apify-api-token"},
	{"a Tavily API key", "tvly-", isWord, 20, "trufflehog tavily"},
	{"a Tailscale key", "tskey-", isWord, 20, "trufflehog tailscale"},
	{"a Vercel token", "vck_ vca_ vcr_ vci_ vcp_", isWord, 56,
		"betterleaks vercel-ai-gateway-key, vercel-app-access-token, vercel-app-refresh-token, vercel-integration-token, vercel-personal-access-token"},
	{"a Supabase key", "sb_secret_", isWord, 31, "betterleaks supabase-project-api-key"},
	{"an Adobe client secret", "p8e-", isAlphanumeric, 32, "gitleaks adobe-client-secret"},
	{"an Artifactory key", "AKCp", isAlphanumeric, 69, "gitleaks artifactory-api-key"},
	{"an Artifactory token", "cmVmd", isAlphanumeric, 59, "gitleaks artifactory-reference-token"},
	{"a Clojars token", "CLOJARS_", isAlphanumeric, 60, "gitleaks clojars-api-token"},
	{"a Cloudflare key", "v1.0-", isWord, 171, "gitleaks cloudflare-origin-ca-key"},
	{"a Duffel token", "duffel_live_ duffel_test_", isBase64, 43, "gitleaks duffel-api-token"},
	{"a Dynatrace token", "dt0c01.", isDotted, 89, "gitleaks dynatrace-api-token"},
	{"an EasyPost token", "EZAK EZTK", isAlphanumeric, 54, "gitleaks easypost-api-token, easypost-test-api-token"},
	{"a Facebook token", "EAAM EAAC", isAlphanumeric, 100, "gitleaks facebook-page-access-token"},
	{"a Frame.io token", "fio-u-", isBase64, 64, "gitleaks frameio-api-token"},
	{"a Grafana key", "eyJrIjoi", isBase64, 70, "gitleaks grafana-api-key"},
	{"a Heroku key", "HRKU-AA", isWord, 58, "gitleaks heroku-api-key-v2"},
	{"an Infracost token", "ico-", isAlphanumeric, 32, "gitleaks infracost-api-token"},
	{"an OpenShift token", "sha256~", isWord, 43, "gitleaks openshift-user-token"},
	{"a PlanetScale token", "pscale_tkn_ pscale_oauth_", isDotted, 32,
		"gitleaks planetscale-api-token, planetscale-oauth-token"},
	{"a PlanetScale password", "pscale_pw_", isDotted, 32, "gitleaks planetscale-password"},
	{"a Prefect token", "pnu_", isAlphanumeric, 36, "gitleaks prefect-api-token"},
	{"a ReadMe token", "rdme_", isAlphanumeric, 70, "gitleaks readme-api-token"},
	{"a Scalingo token", "tk-us-", isWord, 48, "gitleaks scalingo-api-token"},
	{"a SettleMint token", "sm_aat_ sm_pat_ sm_sat_", isAlphanumeric, 16,
		"gitleaks settlemint-application-access-token, settlemint-personal-access-token, settlemint-service-access-token"},
	{"a Shippo token", "shippo_live_ shippo_test_", isHexadecimal, 40, "gitleaks shippo-api-token"},
	{"a Sourcegraph token", "sgp_", isAlphanumeric, 40, "gitleaks sourcegraph-access-token"},
	{"a 1Password key", "A3-", isDashed, 35, "gitleaks 1password-secret-key"},
	{"an AWS access key", "A3T", isBase32, 17, "gitleaks aws-access-token"},
	{"a Dropbox token", "sl.", isDotted, 130, "gitleaks dropbox-short-lived-api-token"},
	{"a Flutterwave key", "FLWSECK_TEST- FLWSECK-", isAlphanumeric, 12, "gitleaks flutterwave-secret-key"},
	{"a GitLab session", "_gitlab_session=", isAlphanumeric, 32, "gitleaks gitlab-session-cookie"},
	{"a Harness key", "pat. sat.", isDotted, 64, "gitleaks harness-api-key"},
	{"a Terraform token", "atlasv1.", isDotted, 60, "gitleaks hashicorp-tf-api-token"},
	{"a 42 client secret", "s-s4t2ud- s-s4t2af-", isHexadecimal, 64, "gitleaks intra42-client-secret"},
	{"a Teams webhook", "webhook.office.com/webhookb2/", isWord, 36, "gitleaks microsoft-teams-webhook"},
	{"a New Relic key", "NRAK-", isAlphanumeric, 27, "gitleaks new-relic-user-api-key"},
	{"a New Relic key", "NRII-", isWord, 32, "gitleaks new-relic-insert-key"},
	{"an Octopus Deploy key", "API-", isCapital, 26, "gitleaks octopus-deploy-api-key"},
	{"a Sonar token", "sqp_ squ_ sqa_", isHexadecimal, 40, "gitleaks sonar-api-token"},
	{"a Sourcegraph token", "sgp_local_", isHexadecimal, 40, "gitleaks sourcegraph-access-token"},
	{"a Typeform token", "tfp_", isDotted, 59, "gitleaks typeform-api-token"},
	{"a Yandex token", "t1.", isDotted, 86, "gitleaks yandex-access-token"},
	{"a Yandex key", "AQVN", isWord, 35, "gitleaks yandex-api-key"},
	{"a Yandex key", "YCA", isWord, 37, "gitleaks yandex-aws-access-token"},
}

// formats is the index of all formats, built once.
var formats = sync.OnceValue(func() *index {
	x := &index{first: new([1 << 15]uint16)}
	for _, f := range Formats() {
		x.add(needle{what: f.Kind, literal: f.Prefix, span: f.span})
	}
	for digit := '0'; digit <= '9'; digit++ {
		// gitleaks azure-ad-client-secret
		x.add(needle{what: "an Azure client secret", literal: string(digit) + "Q~", span: azureSecret})
	}
	clientSecret := Format{Prefix: "ek_", Digits: isHexadecimal, Least: 32} // OpenAI's API reference: realtime
	x.add(needle{what: "an OpenAI client secret", literal: clientSecret.Prefix, span: clientSecret.span})
	x.add(needle{what: "a JSON Web Token", literal: "eyJ", span: webToken})        // gitleaks jwt, trufflehog jwt
	x.add(needle{what: "a private key", literal: "-----BEGIN ", span: privateKey}) // gitleaks private-key
	x.add(needle{what: "a URL with a password", literal: "://", span: password})   // trufflehog uri, mongodb
	for _, name := range fieldNames {
		words := strings.Fields(name)
		forms := []string{strings.Join(words, "_"), strings.Join(words, "-"), strings.Join(words, "")}
		for _, literal := range slices.Compact(forms) { // one word has one form
			field := needle{what: "a credential named " + forms[0], literal: literal, fold: true}
			field.span = func(text []byte, at int, long *longRuns) (start, end int) {
				return fieldValue(text, at+len(literal), long)
			}
			x.add(field)
		}
	}
	return x
})

func (f *Format) span(text []byte, at int, long *longRuns) (start, end int) {
	inWord := isAlphanumeric
	if isAlphanumeric(f.Prefix[len(f.Prefix)-1]) {
		inWord = isWord // chatcmpl-BSA… is an id of OpenAI
	}
	if at > 0 && isAlphanumeric(f.Prefix[0]) && (inWord(text[at-1]) || inData(text, at)) {
		return 0, 0 // in the middle of something else
	}
	body := at + len(f.Prefix)
	end = long.end(f.Prefix, text, body, f.Digits)
	if end-body < f.Least || end < len(text) && isAlphanumeric(text[end]) || placeholder(text[body:end]) {
		return 0, 0
	}
	return at, end
}

// inData reports whether a place is in the middle of base64 that is longer than a URL, such as a picture. It may have
// what looks like a key after each +, /, - and _. Some keys are themselves that long. A ruled line or a path is no
// data: it has no capitals or no digits. Base64 ends with =, so a key after that is one.
func inData(text []byte, at int) bool {
	const least, before = 512, 64 // bytes in all, and before the place
	start, end := at, at
	for start > max(0, at-least) && isBase64(text[start-1]) && text[start-1] != '=' {
		start--
	}
	for end < min(len(text), start+least) && isBase64(text[end]) {
		end++
	}
	data := text[start:at]
	return end-start == least && len(data) >= before && bytes.ContainsAny(data, capitals) &&
		bytes.ContainsAny(data, "0123456789")
}

const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func azureSecret(text []byte, at int, _ *longRuns) (start, end int) {
	for start = at; start > max(at-4, 0) && isSecretDigit(text[start-1]); {
		start--
	}
	for end = at + 3; end < min(at+3+35, len(text)) && isSecretDigit(text[end]); {
		end++
	}
	if at-start != 3 || end-at-3 < 31 || end-at-3 > 34 {
		return 0, 0
	}
	return start, end
}

// webToken finds a JSON Web Token: header, claims and signature. A token without a signature is no credential.
func webToken(text []byte, at int, long *longRuns) (start, end int) {
	if at > 0 && isWord(text[at-1]) {
		return 0, 0
	}
	end = long.end("eyJ", text, at, func(c byte) bool { return isWord(c) || c == '.' })
	parts := bytes.SplitN(text[at:end], []byte("."), 4)
	if len(parts) < 3 || len(parts[0]) < 15 || len(parts[1]) < 15 || len(parts[2]) < 12 ||
		!bytes.HasPrefix(parts[1], []byte("ey")) {
		return 0, 0
	}
	return at, end
}

// privateKey finds a private key in PEM, or a part of one with at least 64 digits.
func privateKey(text []byte, at int, long *longRuns) (start, end int) {
	const least, mostHeader = 64, 100
	header := text[at+len("-----BEGIN "):]
	header = header[:min(len(header), mostHeader)]
	i := bytes.Index(header, []byte("PRIVATE KEY"))
	if i < 0 || bytes.IndexByte(header[:i], '\n') >= 0 {
		return 0, 0
	}
	body := at + len("-----BEGIN ") + i + len("PRIVATE KEY")
	end = long.end("-----BEGIN ", text, body, func(c byte) bool {
		return isBase64(c) || strings.IndexByte("\r\n\t =:,", c) >= 0
	})
	digits := 0
	for i = body; i < end && digits < least; i++ {
		if isBase64(text[i]) {
			digits++
		}
	}
	if after := bytes.Index(text[end:min(end+mostHeader+4, len(text))], []byte("-----")); after >= 0 {
		end += after // with what is between, such as the > of a quoted mail
	}
	if digits < least || placeholder(text[body:end]) {
		return 0, 0
	}
	return at, end
}

// password finds the password before a URL's host.
func password(text []byte, at int, _ *longRuns) (start, end int) {
	const most = 300
	start = at + len("://")
	rest := text[start:min(len(text), start+most)]
	if i := bytes.IndexAny(rest, " \t\r\n\"'<>`\\/?#,;|(){}"); i >= 0 {
		rest = rest[:i]
	}
	host := bytes.LastIndexByte(rest, '@')
	colon := bytes.IndexByte(rest, ':')
	if colon < 0 || host < colon || !credible(string(rest[colon+1:host]), leastField) {
		return 0, 0
	}
	return start + colon + 1, start + host
}

// fieldNames are names of members, form fields, headers and assignments whose values are secret, split into words.
// Names as common as key or token are not included: tokens of texts have them too.
var fieldNames = []string{
	"authorization", "authorization token", "api key", "api token", "api secret", "client secret",
	"client assertion", "access token", "refresh token", "id token", "session token", "security token",
	"auth token", "bearer token", "bot token", "private token", "secret access key", "secret key", "private key",
	"password", "passwd", "passphrase", "connection string",
}

// The minimum lengths of a secret, in a member of a JSON text and in an assignment, as in code examples.
const (
	leastField    = 8
	leastAssigned = 16
)

// fieldValue finds the value of a name that ends at i: "name": "value", name=value, Name: Scheme value.
func fieldValue(text []byte, i int, long *longRuns) (start, end int) {
	at := func(set string) bool { return i < len(text) && strings.IndexByte(set, text[i]) >= 0 }
	skip := func() {
		for at(" \t\n") {
			i++
		}
	}
	member := at(`"'`)
	if member {
		i++
	}
	skip()
	if !at(":=") {
		return 0, 0
	}
	for at(":=>") {
		i++
	}
	skip()
	member = at(`"'`) && member
	if at(`"'`) {
		i++
	}
	for _, scheme := range []string{"Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "} {
		if bytes.HasPrefix(text[i:], []byte(scheme)) {
			i += len(scheme)
		}
	}
	until := func(stop string) int {
		return long.end(stop, text, i, func(c byte) bool { return strings.IndexByte(stop, c) < 0 })
	}
	const ofMember, ofWord = " \t\r\n\"'`\\<>", " \t\r\n\"'`\\<>&,;)}]"
	least := leastField
	if member {
		if end = until(ofMember); end < len(text) && text[end] != '"' && text[end] != '\'' {
			return 0, 0 // normal words
		}
	} else if end, least = until(ofWord), leastAssigned; until(ofWord+"0123456789") == end ||
		until(ofWord+"().[]{}/:") < end {
		return 0, 0
	}
	if placeholder(text[i:end]) || !credible(string(text[i:end]), least) { // placeholder reads no more than it needs
		return 0, 0
	}
	return i, end
}

func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isLetter(c byte) bool       { return 'a' <= small(c) && small(c) <= 'z' }
func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) }
func isHexadecimal(c byte) bool  { return isDigit(c) || 'a' <= small(c) && small(c) <= 'f' }
func isWord(c byte) bool         { return isAlphanumeric(c) || c == '_' || c == '-' }
func isDotted(c byte) bool       { return isWord(c) || c == '.' || c == '=' }
func isColoned(c byte) bool      { return isWord(c) || c == ':' }
func isBase64(c byte) bool {
	return isAlphanumeric(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
}
func isSecretDigit(c byte) bool { return isWord(c) || c == '~' || c == '.' }

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' || isDigit(c) }
func isDashed(c byte) bool  { return isCapital(c) || c == '-' }

func isBase32(c byte) bool { return 'A' <= c && c <= 'Z' || '2' <= c && c <= '7' }

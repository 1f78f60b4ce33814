package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// These facts only decide what a recording requires and what a failure or lint recommends, since each release of a
// model refuses other parameters. No record is judged by them. Each has its source. An unknown parameter is required,
// and the provider's own answer then corrects that (see [NotTaken]).

// samplers are the parameters that reasoning models do not accept.
var samplers = []string{"temperature", "top_p"}

var (
	// openAIReasons matches models that always reason or search.
	openAIReasons = regexp.MustCompile(
		`^(?:o1|o3|o4-mini|codex-mini|kimi-k2\.5|kimi-k2\.6)(?:-|$)|-search-(?:preview|api)`)
	// openAIModel matches the GPT series: its number, the part after the point, and the variants that matter.
	openAIModel = regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?(?:-(chat|codex|pro)(?:-.*)?|-.*)?$`)
)

// openAIFixed returns the parameters that OpenAI's models do not accept, for chat completions and responses.
//
//   - o1, o3, o4 and codex-mini: platform.openai.com/docs/guides/reasoning, "Limitations".
//   - gpt-5: the same. gpt-5-chat does not reason; the chat variants of later numbers accept only 1.
//   - gpt-5.1 to 5.4: accepted without a reasoning effort; the codex and pro variants always reason
//     (platform.openai.com/docs/guides/latest-model, "parameter compatibility").
//   - gpt-5.5 and later: reason unless the effort is "none" (UKGovernmentBEIS/inspect_ai#5242, tried on the API).
//   - models that search: "Model incompatible request argument supplied: temperature".
//   - Moonshot's kimi-k2.5 and k2.6, on the same API: "invalid temperature: only 1 is allowed for this model".
//
// A name may start with a vendor's name, as on gateways: "openai/o3".
func openAIFixed(req *modelio.Request) []string {
	model := strings.ToLower(req.Model[strings.LastIndexByte(req.Model, '/')+1:])
	m := openAIModel.FindStringSubmatch(model)
	switch {
	case openAIReasons.MatchString(model):
		return samplers
	case m == nil:
		return nil
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	variant := m[3]
	effort := cmp.Or(MetadataWord(req.Options, "reasoning_effort"), MetadataWord(req.Options, "reasoning", "effort"))
	switch {
	case major < 5, major == 5 && minor == 0 && variant == "chat":
		return nil
	case major == 5 && minor == 0, variant != "":
		return samplers
	case major == 5 && minor < 5 && effort == "", effort == "none":
		return nil
	}
	return samplers
}

// claudeModel matches Claude's names on any host: the family, the number, and the part after it.
var claudeModel = regexp.MustCompile(`claude-(?:opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// claudeFixed returns the parameters that Claude's models do not accept.
//
//   - In version 2026-10-21 of the API, all models: "Extra inputs are not permitted"
//     (platform.claude.com/docs/en/api/migration-2026-10-21).
//   - From 4.7 on, and Mythos Preview, all of them: "`temperature` is deprecated for this model"
//     (platform.claude.com/docs/en/about-claude/models/migration-guide).
//   - Older ones when they think: "`temperature` may only be set to 1 when thinking is enabled"
//     (platform.claude.com/docs/en/build-with-claude/extended-thinking).
func claudeFixed(req *modelio.Request) []string {
	inHeader, inBody := MetadataWord(req.Options, markHeaders, "anthropic-version"),
		MetadataWord(req.Options, "anthropic_version")
	if isRecentClaude(inHeader) || isRecentClaude(inBody) || strings.Contains(req.Model, "claude-mythos-preview") {
		return samplers
	}
	if m := claudeModel.FindStringSubmatch(req.Model); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if 100*major+minor >= 407 {
			return samplers
		}
	}
	for _, at := range [][]string{{"thinking", "type"}, {"additionalModelRequestFields", "thinking", "type"}} {
		if thinks := MetadataWord(req.Options, at...); thinks == "enabled" || thinks == "adaptive" {
			return samplers[:1]
		}
	}
	return nil
}

// isRecentClaude reports whether a version of Claude's API is 2026-10-21 or later. All hosts name these alike.
func isRecentClaude(v string) bool { return strings.HasPrefix(v, "20") && v >= "2026-10-21" }

// notTaken matches providers' messages that a model does not accept a parameter.
var notTaken = regexp.MustCompile(
	`(?i)unsupported|not support|not permitted|deprecated|incompatible|may only be|only \S+ is allowed`)

// NotTaken returns which of "temperature", "top_p" and "seed" the model does not accept, according to the provider's
// answer. It is nil for a status other than 400 and 422, and for an answer that does not name them.
func NotTaken(status int, e *modelio.ProviderError) (names []string) {
	if e == nil || status != 400 && status != 422 || !notTaken.MatchString(e.Code+" "+e.Message) {
		return nil
	}
	for _, name := range []string{"temperature", "top_p", "seed"} {
		if spelled[name].MatchString(e.Message) {
			names = append(names, name)
		}
	}
	return names
}

// spelled finds a parameter's name as a word, in the spelling of any API.
var spelled = map[string]*regexp.Regexp{
	"temperature": regexp.MustCompile(`(?i)\btemperature\b`),
	"top_p":       regexp.MustCompile(`\b(?:top_p|topP)\b`),
	"seed":        regexp.MustCompile(`(?i)\bseed\b`),
}

// noSetting is for APIs without settings for sampling and for the maximum number of tokens.
func noSetting(*modelio.Request) []string { return []string{"temperature", "top_p", "max_tokens"} }

// noLimit is for APIs without a maximum number of tokens.
func noLimit(*modelio.Request) []string { return []string{"max_tokens"} }

// imageModels matches models that answer with images.
var imageModels = regexp.MustCompile(`titan-image|nova-canvas|stability\.`)

// invokeFixed is claudeFixed, except for models that draw.
func invokeFixed(req *modelio.Request) []string {
	if imageModels.MatchString(req.Model) {
		return noSetting(req)
	}
	return claudeFixed(req)
}

// IsFixed reports whether Fixed returns a parameter for a request.
func (c *Codec) IsFixed(req *modelio.Request, name string) bool {
	return c.Fixed != nil && slices.Contains(c.Fixed(req), name)
}

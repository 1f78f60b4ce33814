package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// These facts only decide what a recording asks for and what a failure or lint advises, since models refuse other parameters
// with every release. No record is judged by them. Each has its source; what is not known is asked for, and the
// provider's own answer then says better (see [NotTaken]).

// samplers are the parameters that reasoning models keep to themselves.
var samplers = []string{"temperature", "top_p"}

var (
	// openAIReasons is a name of a model that always reasons, or searches.
	openAIReasons = regexp.MustCompile(`^(?:o1|o3|o4-mini|codex-mini|kimi-k2\.5|kimi-k2\.6)(?:-|$)|-search-(?:preview|api)`)
	// openAIModel is a name of the GPT series: its number, the part behind the point, and the variants that tell.
	openAIModel = regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?(?:-(chat|codex|pro)(?:-.*)?|-.*)?$`)
)

// openAIFixed says what OpenAI's models take no value for, on chat completions and responses alike.
//
//   - o1, o3, o4 and codex-mini: platform.openai.com/docs/guides/reasoning, "Limitations".
//   - gpt-5: the same. gpt-5-chat does not reason; the chat variants of later numbers take 1 alone.
//   - gpt-5.1 to 5.4: take them unless a reasoning effort is asked for; the codex and pro variants reason always
//     (platform.openai.com/docs/guides/latest-model, "parameter compatibility").
//   - gpt-5.5 and later: reason unless the effort is "none" (UKGovernmentBEIS/inspect_ai#5242, tried on the API).
//   - models that search: "Model incompatible request argument supplied: temperature".
//   - Moonshot's kimi-k2.5 and k2.6, on the same API: "invalid temperature: only 1 is allowed for this model".
//
// A name may begin with that of a vendor, as gateways have it: "openai/o3".
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
	case major == 5 && minor < 5 && (effort == "" || effort == "none"), effort == "none":
		return nil
	}
	return samplers
}

// claudeModel is a name of Claude's, wherever it is served: its family, its number, the part behind.
var claudeModel = regexp.MustCompile(`claude-(?:opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// claudeFixed says what Claude's models take no value for.
//
//   - From 4.7 on, and Mythos Preview, all of them: "`temperature` is deprecated for this model"
//     (platform.claude.com/docs/en/about-claude/models/migration-guide).
//   - Older ones where they think: "`temperature` may only be set to 1 when thinking is enabled"
//     (platform.claude.com/docs/en/build-with-claude/extended-thinking).
func claudeFixed(req *modelio.Request) []string {
	if strings.Contains(req.Model, "claude-mythos-preview") {
		return samplers
	}
	if m := claudeModel.FindStringSubmatch(req.Model); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major > 4 || major == 4 && minor >= 7 {
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

// notTaken is how providers say that a model does not take a parameter.
var notTaken = regexp.MustCompile(`(?i)unsupported|not support|deprecated|incompatible|may only be|only \S+ is allowed`)

// NotTaken returns those of "temperature", "top_p" and "seed" that the model does not take, by the provider's answer.
// It is nil for an answer of another status than 400 and 422, and for one that says nothing of them.
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

// noSetting is for APIs in which nobody can say how a model chooses, or how many tokens it answers.
func noSetting(*modelio.Request) []string { return []string{"temperature", "top_p", "max_tokens"} }

// noLimit is for APIs in which nobody can say how many tokens a model answers.
func noLimit(*modelio.Request) []string { return []string{"max_tokens"} }

// draws is a name of a model that answers with images.
var draws = regexp.MustCompile(`titan-image|nova-canvas|stability\.`)

// invokeFixed is claudeFixed except for models that draw.
func invokeFixed(req *modelio.Request) []string {
	if draws.MatchString(req.Model) {
		return noSetting(req)
	}
	return claudeFixed(req)
}

// IsFixed reports whether Fixed names a parameter for a request.
func (c *Codec) IsFixed(req *modelio.Request, name string) bool {
	return c.Fixed != nil && slices.Contains(c.Fixed(req), name)
}

package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var scriptedAnswer = Rule{
	Name: "scripted-answer",
	Fix:  "take the script away, and buy it: traceforge update --scripted",
	each: func(_ *Linter, d *document, c *call, add adder) {
		if c.Source.Scripted != "" {
			add("", "", d.at(c, []string{"source", "scripted"}, "the answer is of a script, and no model gave it"))
		}
	},
}

var unpinnedModel = Rule{
	Name: "unpinned-model",
	Fix:  "ask for a name with a date or a version",
	each: func(l *Linter, d *document, c *call, add adder) {
		asked, answered := c.Request.Model, c.Response.Model
		if deploys(c.provider) || pinned.MatchString(asked) {
			return
		}
		way, isName := "", answered != asked && sameModel(asked, answered) && !strings.Contains(answered, ":")
		dated := isName && pinned.MatchString(answered)
		if isName {
			way = "ask for " + strings.Clone(answered) + ", which answered"
		}
		if dated || isAlias(c.provider, asked) {
			add(asked, way, d.at(c, []string{"request", "model"},
				"%s is an alias, which the provider may move to another model", asked))
		}
	},
}

var otherModel = Rule{
	Name: "other-model",
	Fix:  "ask for the one that is meant",
	each: func(l *Linter, d *document, c *call, add adder) {
		asked, answered := c.Request.Model, c.Response.Model
		if asked == "" || answered == "" || deploys(c.provider) || chooses.MatchString(asked) || sameModel(asked, answered) {
			return
		}
		add(asked+" "+answered, "", d.at(c, []string{"request", "model"}, "%s was asked, and %s answered", asked, answered))
	},
}

var foreignAnswer = Rule{
	Name: "foreign-answer",
	Fix:  "record it again, or silence this where a gateway answers so",
	each: func(_ *Linter, d *document, c *call, add adder) {
		if why := c.Response.Note; why != "" {
			add(why, "", d.at(c, []string{"response", "note"}, "the answer is not one of its API: %s", why))
		}
	},
}

// deploys reports whether the models of a provider have names that the user chooses.
func deploys(provider string) bool {
	return slices.Contains([]string{"azure", "databricks", "sagemaker", "baseten"}, provider)
}

// chooses matches names that let the provider choose a model.
var chooses = regexp.MustCompile(`(?i)(^|[-/])(auto|router|default)$|application-inference-profile/`)

// pinned matches names with a date, or with a number that stands for one.
var pinned = regexp.MustCompile(`(19|20)\d\d[-_]?[01]\d[-_]?[0-3]\d|\d\d-20\d\d$|[-@](\d{4}|00\d)(-|:|$)`)

// An alias is a form of names that a provider documents to move from one model to the next.
type alias struct {
	provider string // the provider that uses the form; empty for all
	names    *regexp.Regexp
}

// aliases are the known forms. A name is not listed if the provider has no pinned form of it, because nobody could use
// one.
var aliases = []alias{
	// The word latest. Ollama's tag :latest is excluded, since it moves only when somebody pulls.
	{"", regexp.MustCompile(`[-/]latest$`)},
	// platform.openai.com/docs/models: each lists its snapshots.
	{"openai", regexp.MustCompile(`^(chatgpt-4o|gpt-3\.5-turbo|gpt-4|gpt-4-turbo|gpt-4o|gpt-4\.1|gpt-5)` +
		`(-mini|-nano|-audio|-search|-realtime)?(-preview)?$`)},
	{"openai", regexp.MustCompile(`^(o1|o3|o4)(-mini|-pro)?(-preview|-deep-research)?$`)},
	// docs.claude.com, Models overview: aliases. Names from 4.6 on have no date and do not move.
	{"anthropic", regexp.MustCompile(`^claude-(opus|sonnet|haiku)-4-[015]$`)},
	// ai.google.dev, Gemini models: updated automatically. Such names are stable from 2.5 on.
	{"google", regexp.MustCompile(`^(models/)?gemini-(1\.\d|2\.0)-(pro|flash)(-lite|-8b)?$`)},
	// docs.cohere.com, Models: each is an alias of a dated name.
	{"cohere", regexp.MustCompile(`^command-(r|r-plus)$`)},
}

func isAlias(provider, model string) bool {
	return slices.ContainsFunc(aliases, func(a alias) bool {
		return (a.provider == "" || a.provider == provider) && a.names.MatchString(model)
	})
}

// sizes are words that distinguish models with the same base name: a request for gpt-4o must not be answered by
// gpt-4o-mini.
var sizes = []string{"mini", "nano", "micro", "lite", "small", "medium", "large", "tiny", "pro", "max", "plus",
	"haiku", "sonnet", "opus", "flash", "turbo", "distill"}

var (
	words  = regexp.MustCompile(`[a-z]+|\d+(\.\d+)*[a-z]*`)
	makers = regexp.MustCompile(`^([a-z]+\.)+|-v\d+$`) // Bedrock: us.anthropic.…-v1:0
	// Words that are optional in a name.
	forms   = regexp.MustCompile(`^(latest|preview|exp|experimental|beta|v|00\d|0)$`)
	moments = regexp.MustCompile(`(19|20)\d\d[-_]?[01]\d[-_]?[0-3]\d|\d\d-20\d\d|[-_@](\d{4}|\d\d-\d\d)\b`)
)

// sameModel reports whether the answering model has the name that was requested, or a more specific one.
func sameModel(asked, answered string) bool {
	a, b := wordsOf(asked), wordsOf(answered)
	missing := func(word string) bool { return !slices.Contains(b, word) }
	resized := func(word string) bool { return slices.Contains(sizes, word) && !slices.Contains(a, word) }
	return !slices.ContainsFunc(a, missing) && (strings.HasSuffix(asked, "latest") || !slices.ContainsFunc(b, resized)) &&
		(len(a) > 0 || len(b) == 0)
}

// wordsOf returns the words and numbers of a model's name, without its maker, its date, and anything after a colon.
func wordsOf(model string) []string {
	model = strings.ToLower(path.Base(model))
	name, _, _ := strings.Cut(model, ":")
	name = moments.ReplaceAllString(makers.ReplaceAllString(name, ""), "")
	return slices.DeleteFunc(words.FindAllString(name, -1), forms.MatchString)
}

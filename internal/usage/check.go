package usage

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// Tiers are the parts of an answer that a check compares, from the most to the least variable. A check that compares
// one also compares those after it.
var Tiers = []string{"text", "tools", "finish", "model"}

// ResultTier is the only tier of a tool call: the tool's result.
const ResultTier = "result"

// CheckEnv is the variable with the options of a check, in the form of a URL query: repeat=10&tier=tools.
const CheckEnv = "TRACEFORGE_CHECK"

// CheckOptions say which calls a check makes live, how often, and what it compares.
type CheckOptions struct {
	Repeat        int     // how often each call is made
	Percent       float64 // percentage of the calls to make; a hash chooses them, the same in each run
	Shard, Shards int     // only the Shard-th of Shards parts of the calls is made, counted from 1
	Tier          string  // the first tier to compare
	Old, New      string  // New is called in place of the model Old; empty if each call keeps its model
	From          int     // number of the first call of a test to make
	Kind          string  // which calls to make live: one of Kinds
	Brief         bool    // a failure is one line: the command that runs the check prints the rest from the receipt
}

// Kinds are the values of Kind: which calls of a test are made live.
var Kinds = []string{KindModels, KindTools, KindAll}

// The kinds.
const (
	KindModels = "models"
	KindTools  = "tools"
	KindAll    = "all"
)

// IsLive reports whether the options are valid for live calls (mode live): none of them is only for checks.
func (o CheckOptions) IsLive() bool {
	said, _ := ParseCheckOptions("")
	said.Kind, said.From, said.Old, said.New, said.Brief = o.Kind, o.From, o.Old, o.New, o.Brief
	return o == said
}

// Covers reports whether tool calls, or else all other calls, are made live.
func (o CheckOptions) Covers(tools bool) bool {
	return o.Kind == KindAll || tools == (o.Kind == KindTools)
}

// ParseCheckOptions parses the value of [CheckEnv]. By default each model call is made once and compared in all tiers.
func ParseCheckOptions(text string) (CheckOptions, error) {
	o := CheckOptions{Repeat: 1, Percent: 100, Shard: 1, Shards: 1, Tier: Tiers[0], From: 1, Kind: KindModels}
	values, err := url.ParseQuery(strings.ReplaceAll(text+"&", "%&", "%25&")) // sample=20% is spelled as people do
	if err != nil {
		return o, fmt.Errorf("%s=%s cannot be read: %w", CheckEnv, text, err)
	}
	options := map[string]struct {
		takes string
		read  func(string) bool
	}{
		"repeat": {"a number from 1, such as repeat=10", func(v string) bool { return atLeastOne(v, &o.Repeat) }},
		"sample": {"a percentage above 0 and up to 100, such as sample=20", func(v string) bool {
			o.Percent, err = strconv.ParseFloat(strings.TrimSuffix(v, "%"), 64)
			return err == nil && o.Percent > 0 && o.Percent <= 100
		}},
		"shard": {"one of so many parts, such as shard=1/4", func(v string) bool {
			i, n, _ := strings.Cut(v, "/")
			return atLeastOne(i, &o.Shard) && atLeastOne(n, &o.Shards) && o.Shard <= o.Shards
		}},
		"tier": {oneOf(Tiers), func(v string) bool { o.Tier = v; return slices.Contains(Tiers, v) }},
		"model": {"a recorded model and the one to ask instead, such as model=OLD=NEW", func(v string) bool {
			o.Old, o.New, _ = strings.Cut(v, "=")
			return o.Old != "" && o.New != ""
		}},
		"from":  {"the number of a call, such as from=3", func(v string) bool { return atLeastOne(v, &o.From) }},
		"kind":  {oneOf(Kinds), func(v string) bool { o.Kind = v; return slices.Contains(Kinds, v) }},
		"brief": {"brief=1", func(v string) bool { o.Brief = v == "1"; return o.Brief }},
	}
	for _, name := range inorder.Names(values) {
		switch said := values[name]; {
		case options[name].read == nil:
			known := strings.Join(inorder.Names(options), ", ")
			return o, fmt.Errorf("%s: %q is not known: there are %s", CheckEnv, name, known)
		case len(said) > 1:
			return o, fmt.Errorf("%s: %s is said twice", CheckEnv, name)
		case !options[name].read(said[0]):
			return o, fmt.Errorf("%s: %s=%s is not %s", CheckEnv, name, said[0], options[name].takes)
		}
	}
	return o, nil
}

func oneOf(words []string) string { return "one of " + strings.Join(words, ", ") }

func atLeastOne(text string, n *int) bool {
	var err error
	*n, err = strconv.Atoi(text)
	return err == nil && *n >= 1
}

// Holds reports whether a difference in a tier is a failure.
func (o CheckOptions) Holds(tier string) bool {
	return slices.Index(Tiers, tier) >= slices.Index(Tiers, o.Tier)
}

// The states of a check.
const (
	CheckSame        = "same"          // the live answers equal the record in all tiers that are compared
	CheckDrifted     = "drifted"       // they differ from the record
	CheckVaried      = "varied"        // they differ from each other
	CheckUnchecked   = "unchecked"     // there are none, for a reason that can be fixed
	CheckUncheckable = "not checkable" // the call cannot be repeated
	CheckUnchosen    = "not chosen"    // excluded by the options of the check
)

// CheckStates lists all states, in the order of a report.
var CheckStates = []string{CheckSame, CheckDrifted, CheckVaried, CheckUnchecked, CheckUncheckable, CheckUnchosen}

// A Check is the result of checking a recorded call, or the reason why it was not checked.
type Check struct {
	Call   string `json:"call"`   // the record's id
	File   string `json:"file"`   // the record's document, as messages name it
	Number int    `json:"number"` // number of the call in the document

	Provider string `json:"provider"`      // the provider that was called
	State    string `json:"state"`         // what became of it
	Why      string `json:"why,omitempty"` // why it was not checked

	RecordedModel string   `json:"recorded_model,omitempty"` // model that answered when it was recorded
	LiveModels    []string `json:"live_models,omitempty"`    // models that answered now
	AskedModel    string   `json:"asked_model,omitempty"`    // model that was called in place of the record's
	Runs          int      `json:"runs,omitempty"`           // number of live answers
	// number of live answers that differ from the most frequent one
	Different int           `json:"different,omitempty"`
	Tiers     []CheckedTier `json:"tiers,omitempty"`    // the comparison in each tier
	Settings  []string      `json:"settings,omitempty"` // settings that may cause variance
	Input     int64         `json:"input,omitempty"`    // input tokens of the live calls
	Output    int64         `json:"output,omitempty"`   // output tokens of the live answers
	Accept    string        `json:"accept,omitempty"`   // the command that accepts the live answer
}

// A CheckedTier compares two answers in one tier. If a call varied, both are live.
type CheckedTier struct {
	Tier string `json:"tier"`
	Same bool   `json:"same"`
	Held bool   `json:"held"`
	Diff string `json:"diff,omitempty"` // lines with - and +, safe to print
}

// Fails reports whether the tier makes the check fail.
func (t CheckedTier) Fails() bool { return t.Held && !t.Same }

// FailedTiers returns the tiers that make the check fail, and the lines that differ in them.
func (c *Check) FailedTiers() (names, differences []string) {
	for _, t := range c.Tiers {
		if t.Fails() {
			names, differences = append(names, t.Tier), append(differences, t.Diff)
		}
	}
	return names, differences
}

// Varied says how a call varied.
func (c *Check) Varied() string {
	tiers, _ := c.FailedTiers()
	return fmt.Sprintf("non-deterministic behavior detected: %d/%d runs produced different outputs: %s",
		c.Different, c.Runs, strings.Join(tiers, ", "))
}

// Facts returns lines on the call besides its differences. quote quotes what other programs say.
func (c *Check) Facts(quote func(string) string) (lines []string) {
	if c.RecordedModel != "" || len(c.LiveModels) > 0 {
		lines = append(lines, fmt.Sprintf("answered by: %s, recorded by %s",
			quote(cmp.Or(strings.Join(c.LiveModels, ", "), "(not said)")), quote(cmp.Or(c.RecordedModel, "(not said)"))))
	}
	if c.Settings != nil {
		lines = append(lines, "may cause it: "+quote(strings.Join(c.Settings, "; ")))
	}
	if c.Why != "" {
		lines = append(lines, "not all live calls were answered: "+quote(c.Why))
	}
	return lines
}

// A Live is what one model used in a run with live calls.
type Live struct {
	Model  string `json:"model,omitempty"` // the model that answered; empty if unknown, and for tools
	Calls  int    `json:"calls"`
	Input  int64  `json:"input,omitempty"` // tokens
	Output int64  `json:"output,omitempty"`
}

package usage

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// Tiers are the parts of an answer that a check compares. Those that vary most come first: a check that holds one holds
// those after it too.
var Tiers = []string{"text", "tools", "finish", "model"}

// ResultTier is the one tier of a call of a tool: what the tool returned.
const ResultTier = "result"

// CheckEnv is the variable with the options of a check, as the text of a query: repeat=10&tier=tools.
const CheckEnv = "TRACEFORGE_CHECK"

// CheckOptions say which calls a check makes live, how often, and what it holds them to.
type CheckOptions struct {
	Repeat        int     // how often each call is made
	Percent       float64 // how many of 100 calls are made; a hash chooses them, the same in each run
	Shard, Shards int     // only calls of the Shard-th of Shards parts are made, counted from 1
	Tier          string  // the first tier that is held
	Old, New      string  // the model New is asked in place of Old; empty means that each call asks its own model
	From          int     // the number of the first call of a test that is made
	Kind          string  // which calls are made live: one of Kinds
	Brief         bool    // a failure is one line: the command that runs the check shows the rest, from the receipt
}

// Kinds say which calls of a test are made live.
var Kinds = []string{KindModels, KindTools, KindAll}

// The kinds.
const (
	KindModels = "models"
	KindTools  = "tools"
	KindAll    = "all"
)

// IsLive reports whether the options may go with live calls (mode live): they have nothing that only a check takes.
func (o CheckOptions) IsLive() bool {
	said, _ := ParseCheckOptions("")
	said.Kind, said.From, said.Old, said.New, said.Brief = o.Kind, o.From, o.Old, o.New, o.Brief
	return o == said
}

// Covers reports whether calls of tools, or all others, are made live.
func (o CheckOptions) Covers(tools bool) bool {
	return o.Kind == KindAll || tools == (o.Kind == KindTools)
}

// ParseCheckOptions reads the value of [CheckEnv]. The defaults are each call of a model, once, all tiers.
func ParseCheckOptions(text string) (CheckOptions, error) {
	o := CheckOptions{Repeat: 1, Percent: 100, Shard: 1, Shards: 1, Tier: Tiers[0], From: 1, Kind: KindModels}
	values, err := url.ParseQuery(text)
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

// Holds reports whether a difference of a tier fails.
func (o CheckOptions) Holds(tier string) bool {
	return slices.Index(Tiers, tier) >= slices.Index(Tiers, o.Tier)
}

// The states of a check.
const (
	CheckSame        = "same"          // the live answers say the same, in all tiers that are held
	CheckDrifted     = "drifted"       // they say something else
	CheckVaried      = "varied"        // they differ from each other
	CheckUnchecked   = "unchecked"     // there is none, for a reason that can be put right
	CheckUncheckable = "not checkable" // the call cannot be repeated
	CheckUnchosen    = "not chosen"    // by the options of the check
)

// CheckStates are all of them, in the order of a report.
var CheckStates = []string{CheckSame, CheckDrifted, CheckVaried, CheckUnchecked, CheckUncheckable, CheckUnchosen}

// A Check is a recorded call that was held against live answers, or was not.
type Check struct {
	Call   string `json:"call"`   // the record's id
	File   string `json:"file"`   // its document, as messages name it
	Number int    `json:"number"` // of the call in the document

	Provider string `json:"provider"`      // that was asked
	State    string `json:"state"`         // what became of it
	Why      string `json:"why,omitempty"` // it was not checked

	RecordedModel string        `json:"recorded_model,omitempty"` // that answered
	LiveModels    []string      `json:"live_models,omitempty"`    // that answered now
	AskedModel    string        `json:"asked_model,omitempty"`    // asked instead of the one of the record
	Runs          int           `json:"runs,omitempty"`           // live answers
	Different     int           `json:"different,omitempty"`      // of them, how many differ from the most frequent
	Tiers         []CheckedTier `json:"tiers,omitempty"`          // each of them
	Settings      []string      `json:"settings,omitempty"`       // that may cause variance
	Input         int64         `json:"input,omitempty"`          // tokens of the live calls
	Output        int64         `json:"output,omitempty"`         // tokens of the live answers
	Accept        string        `json:"accept,omitempty"`         // the command that takes the live answer over
}

// A CheckedTier is how two answers compare in one tier. Where a call varied both are live.
type CheckedTier struct {
	Tier string `json:"tier"`
	Same bool   `json:"same"`
	Held bool   `json:"held"`
	Diff string `json:"diff,omitempty"` // lines with - and +, fit to be printed
}

// A Live is what one model answered in a run with live calls.
type Live struct {
	Model  string `json:"model,omitempty"` // that answered; empty means it was not said, or a tool ran
	Calls  int    `json:"calls"`
	Input  int64  `json:"input,omitempty"` // tokens
	Output int64  `json:"output,omitempty"`
}

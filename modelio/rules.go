package modelio

import (
	"fmt"
	"strings"
)

// A Level says how strongly GK states a [Rule], in the words of RFC 2119.
type Level string

// The two levels that a breach can have.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// A Rule names one thing that the model contract demands.
type Rule string

// The rules of a stream, which [Aggregate] enforces (GK "Tool Request Part", "Streaming").
const (
	RuleStreamCandidate Rule = "stream-candidate" // chunks are there, and of the candidate that is asked for
	RuleStreamRole      Rule = "stream-role"      // all chunks of a message have one role
	RuleStreamPartial   Rule = "stream-partial"   // an intermediate chunk of a tool request has partial:true
	RuleStreamFinal     Rule = "stream-final"     // each tool request ends with a chunk that has no partial field
	RuleStreamInput     Rule = "stream-input"     // the final chunk of a tool request has its complete input
)

// The further rules, which [Check] proves.
const (
	// What a model takes (GK "Model Interface", "Behavioral Expectations").
	RuleText         Rule = "text"          // a text prompt is answered
	RuleMultiturn    Rule = "multiturn"     // a history is accepted, where declared
	RuleSystemRole   Rule = "system-role"   // a system message is accepted, or simulated
	RuleMedia        Rule = "media"         // a data: URI is accepted, where media is declared
	RuleTools        Rule = "tools"         // tool definitions are accepted, where declared
	RuleToolResponse Rule = "tool-response" // tool responses in the history are accepted
	RuleConstrained  Rule = "constrained"   // output.schema is enforced, where declared
	RuleJSON         Rule = "json"          // SHOULD: output.format json makes the text valid JSON
	RuleToolChoice   Rule = "tool-choice"   // SHOULD: toolChoice required and none are heeded, where declared

	// What a model answers (GK "Generate Response").
	RuleMessage      Rule = "message"       // there is a message
	RuleRole         Rule = "role"          // SHOULD: its role is model
	RulePart         Rule = "part"          // each part is of one kind and has the JSON form of GK
	RuleFinishReason Rule = "finish-reason" // one of GK's four
	RuleToolRequest  Rule = "tool-request"  // a tool request names a tool that was offered, with an object as input, and is not partial
	RuleToolRef      Rule = "tool-ref"      // the refs of a message's tool requests differ

	// How a model behaves (GK "Streaming", [Model], [StreamFunc]).
	RuleStreamChunks     Rule = "stream-chunks"     // streaming yields chunks
	RuleStreamAggregate  Rule = "stream-aggregate"  // the answer is the aggregate of its chunks
	RuleStreamConsistent Rule = "stream-consistent" // the answer is the same whether it is streamed or not
	RuleStreamError      Rule = "stream-error"      // the callback's error ends the generation and is returned
	RuleCancel           Rule = "cancel"            // a cancelled context ends the generation with an error
	RuleCancelCause      Rule = "cancel-cause"      // SHOULD: that error wraps the context's
	RuleRequest          Rule = "request"           // the request is not changed
	RuleConcurrent       Rule = "concurrent"        // calls at the same time do not disturb each other
)

// level returns how strongly r is stated.
func (r Rule) level() Level {
	switch r {
	case RuleJSON, RuleToolChoice, RuleRole, RuleCancelCause:
		return Should
	}
	return Must
}

// A Breach is an error that says which rule of the model contract was broken, and how.
type Breach struct {
	Rule   Rule
	Level  Level
	Detail string
	Probes []string // the requests of [Check] that showed it; none where [Aggregate] found it
}

func (b *Breach) Error() string {
	s := "modelio: " + string(b.Level) + " " + string(b.Rule) + ": " + b.Detail
	if len(b.Probes) > 0 {
		s += " (" + strings.Join(b.Probes, ", ") + ")"
	}
	return s
}

// breach returns a breach of rule.
func breach(rule Rule, format string, args ...any) *Breach {
	return &Breach{Rule: rule, Level: rule.level(), Detail: fmt.Sprintf(format, args...)}
}

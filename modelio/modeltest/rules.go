package modeltest

import (
	"cmp"
	"fmt"
	"strings"
)

// A Level tells who demands a [Rule], and how strongly.
type Level string

// The levels that a breach can have.
const (
	Must    Level = "MUST"    // GK, with that word
	Should  Level = "SHOULD"  // GK, with that word
	Defined Level = "DEFINED" // GK, in a statement with neither word
	Added   Level = "ADDED"   // [Model], [StreamFunc] and [Aggregate]; GK has no such rule
)

// A Rule names one demand of the model contract.
type Rule string

// The rules of a stream, which [Aggregate] enforces (GK "Tool Request Part", "Streaming").
const (
	RuleStreamCandidate Rule = "stream-candidate" // there are chunks of the requested candidate
	RuleStreamRole      Rule = "stream-role"      // all chunks of a message have one role
	RuleStreamPartial   Rule = "stream-partial"   // an intermediate chunk of a tool request has partial:true
	RuleStreamFinal     Rule = "stream-final"     // each tool request ends with a chunk that has no partial field
	RuleStreamInput     Rule = "stream-input"     // the final chunk of a tool request has its complete input
)

// More rules, which [Check] proves.
const (
	// The input of a model (GK "Model Interface", "Behavioral Expectations").
	RuleText         Rule = "text"          // a text prompt is answered, even one that replaces an undeclared capability
	RuleMultiturn    Rule = "multiturn"     // a history is accepted, if declared
	RuleSystemRole   Rule = "system-role"   // a system message is accepted, or simulated
	RuleMedia        Rule = "media"         // a data: URI is accepted, if media is declared
	RuleTools        Rule = "tools"         // tool definitions are accepted, if declared
	RuleToolResponse Rule = "tool-response" // tool responses in the history are accepted
	RuleConstrained  Rule = "constrained"   // output.schema is enforced, if declared
	RuleJSON         Rule = "json"          // output.format json makes the text valid JSON
	RuleToolChoice   Rule = "tool-choice"   // toolChoice required and none are heeded, if declared

	// The answer of a model (GK "Generate Response").
	RuleMessage      Rule = "message"       // there is a message
	RuleRole         Rule = "role"          // its role is model
	RulePart         Rule = "part"          // each part is of one kind and has the JSON form of GK
	RuleFinishReason Rule = "finish-reason" // finishReason is one of GK's four
	RuleToolRequest  Rule = "tool-request"  // a tool request has an object as input, and is not partial
	RuleToolOffered  Rule = "tool-offered"  // a tool request names an offered tool
	RuleToolRef      Rule = "tool-ref"      // the refs of a message's tool requests differ

	// The behaviour of a model (GK "Streaming", [Model], [StreamFunc]).
	RuleStreamChunks     Rule = "stream-chunks"     // streaming yields chunks
	RuleStreamAggregate  Rule = "stream-aggregate"  // the answer is the aggregate of its chunks
	RuleStreamConsistent Rule = "stream-consistent" // the answer with streaming equals the answer without
	RuleStreamError      Rule = "stream-error"      // the callback's error ends the generation and is returned
	RuleCancel           Rule = "cancel"            // a cancelled context ends the generation with an error
	RuleCancelCause      Rule = "cancel-cause"      // that error wraps the context's
	RuleRequest          Rule = "request"           // the request is not changed
	RuleConcurrent       Rule = "concurrent"        // simultaneous calls do not disturb each other
)

// The rules of [CheckWire], and the rule of [Warnings].
const (
	RuleSchemaSent Rule = "schema-sent" // the provider gets output.schema, if constrained generation is declared
	RuleSystemSent Rule = "system-sent" // the provider gets the text of a system message, if systemRole is not declared
	RuleStreamLate Rule = "stream-late" // a long answer has more than one chunk
)

// A clause is GK's statement of a rule.
type clause struct {
	level Level
	text  string // GK's own words
}

// clauses are the clauses of all rules that GK states.
var clauses = map[Rule]clause{
	RuleStreamCandidate: {Defined, "`index`: Candidate index (default 0)."},
	RuleStreamPartial:   {Must, "intermediate chunks **MUST** have `partial: true`"},
	RuleStreamFinal:     {Must, "**MUST NOT** have the `partial` field set"},
	RuleStreamInput:     {Must, "the final chunk for that tool request **MUST** contain the complete input"},

	RuleText: {Defined,
		"A Model Plugin implements an action that accepts a `GenerateRequest` and returns a `GenerateResponse`."},
	RuleMultiturn:  {Defined, "List of `Message` objects representing the conversation history."},
	RuleSystemRole: {Must, "the Model Plugin **MUST** simulate it"},
	RuleMedia:      {Must, "**MUST** support `data:` URIs"},
	RuleTools: {Must,
		"The plugin **MUST** convert Genkit `ToolDefinition` (JSON Schema) to the provider's specific format."},
	RuleToolResponse: {Must, "The plugin **MUST** be able to accept `Tool Response Part`s in the message history"},
	RuleConstrained:  {Must, "it **MUST** handle `output.schema` natively"},
	RuleJSON:         {Should, "the model **SHOULD** ensure the output is valid JSON"},
	RuleToolChoice:   {Defined, "Controls tool usage behavior (`auto`, `required`, `none`)."},

	RuleSchemaSent: {Must, "The plugin **MUST** pass this schema to the provider to enforce valid output generation."},
	RuleSystemSent: {Must, "or the plugin **MUST** handle the simulation itself."},
	RuleStreamLate: {Must, "as data becomes available."},

	RuleMessage:      {Defined, "**message**: The generated `Message`."},
	RuleRole:         {Defined, "usually with role `model`"},
	RulePart:         {Defined, "The `Part` is a union type representing a discrete piece of content within a message."},
	RuleFinishReason: {Defined, "**finishReason**: Why the generation stopped."},
	RuleToolRequest: {Must,
		"When the provider signals a function call, the plugin **MUST** convert this to a `Tool Request Part`."},
	RuleToolRef: {Defined, "A unique identifier for this specific call instance."},

	RuleStreamChunks: {Must, "The plugin **MUST** yield `GenerateResponseChunk` objects as data becomes available."},
	RuleStreamAggregate: {Must,
		"The Model Plugin **MUST** return the complete, aggregated `GenerateResponse` at the end of execution."},
	RuleStreamConsistent: {Defined,
		"ensuring the model abstraction behaves consistently whether streaming is enabled or not"},
}

// Level tells who demands a rule, and how strongly.
func (r Rule) Level() Level { return cmp.Or(clauses[r].level, Added) }

// Clause returns GK's words for a rule, or "" if GK does not state it.
func (r Rule) Clause() string { return clauses[r].text }

// A Breach is an error that names the broken rule of the model contract and describes the fault.
type Breach struct {
	Rule   Rule
	Level  Level
	Detail string
	Probes []string // names of the requests of [Check] that showed the breach; nil if [Aggregate] found it
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
	return &Breach{Rule: rule, Level: rule.Level(), Detail: fmt.Sprintf(format, args...)}
}

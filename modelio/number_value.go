package modelio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// handedOut maps members with values that a provider generates to the kind under which they are counted. It applies in
// every object except those made by the caller. A member with a plural name contains a list of such values.
//
// Further places are the id of an item (a message, a part, the content of a custom part), the data of encrypted
// reasoning, the segments of a path, and the names of what Google keeps for hours, in any member.
var handedOut = map[string]string{
	"signature":         "signature",
	"thoughtSignature":  "signature",
	"thought_signature": "signature",

	"encrypted_content": "encrypted",
	"encrypted_index":   "encrypted",
	"encrypted_stdout":  "encrypted",
	"redactedContent":   "encrypted",

	"comparison_response_id":  "response",
	"previous_message_id":     "response",
	"previous_response_id":    "response",
	"response_id":             "response",
	"previous_interaction_id": "interaction",

	"approval_request_id": "item",
	"item_id":             "item",
	"message_id":          "item",
	"request_id":          "item",

	"call_id":            callKind,
	"custom_tool_use_id": callKind,
	"tool_call_id":       callKind,
	"tool_use_id":        callKind,

	"batch_id":              "batch",
	"container":             "container",
	"container_id":          "container",
	"continuationToken":     "continuation",
	"continuation_token":    "continuation",
	"conversation":          "conversation",
	"conversation_id":       "conversation",
	"fallback_credit_token": "credit",
	"requestState":          "state",
	"run_id":                "run",
	"session_thread_id":     "thread",
	"step_id":               "step",
	"taskId":                taskKind,
	"thread_id":             "thread",
	"turn_id":               "turn",
	"upload_id":             "upload",
}

// callKind is the kind of the refs of tool calls. sessionKind is that of the handles by which a session of Gemini's
// Live API goes on, and taskKind that of the tasks of MCP's servers. In other APIs, callers may name their tasks.
const callKind, sessionKind, taskKind = "call", "session", "task"

// itemHolders are members whose value is an object with an item's or call's id, or a list of such objects.
var itemHolders = map[string]string{
	"acknowledged_safety_checks": "item",
	"audio":                      "item",
	"codeExecutionResult":        callKind,
	"container":                  "container",
	"conversation":               "conversation",
	"executableCode":             callKind,
	"input":                      "item",
	"items":                      "item",
	"pending_safety_checks":      "item",
	"reasoning_details":          "item",
	"sessionResumption":          sessionKind,
	"toolCall":                   callKind,
	"toolCallCancellation":       callKind,
	"toolResponse":               callKind,
}

// callers are members with content of the caller, including ids.
var callers = []string{"metadata", "parameters", "schema", "input_schema", "json_schema", "response_format"}

// A place is the position of a value.
type place struct {
	name string // name of its member
	id   string // the kind of id that an object here has
	item bool   // an object here is an item, or contains the remaining members of one
	kind string // the type of the object that contains it
	url  bool   // part of the URL
}

// member returns the place of a member of an object at p.
func (p place) member(name string) place {
	inner := place{name: name, id: itemHolders[name], kind: p.kind, url: p.url || name == "$url"}
	if name == "id" || name == "ids" || name == "handle" && p.id == sessionKind {
		inner.id = p.id
		if p.item && name == "id" {
			inner.id = "item"
		}
	}
	return inner
}

// A rewrite is a text in which some strings are replaced.
type rewrite struct {
	text, out []byte
	done      int64 // number of bytes of text that are already in out
}

// value numbers the values in a text at p, and reports whether that changed it. Everything else keeps its spelling.
func (n *Numbering) value(raw *json.RawMessage, p place) bool {
	if !mayBeHandedOut(p.name, *raw) {
		return false
	}
	doc, err := jsontext.Parse(*raw)
	if err != nil {
		n.broken = cmp.Or(n.broken, fmt.Errorf("%s: %w", p.name, err))
		return false
	}
	w := rewrite{text: *raw}
	n.visit(doc.Root(), p, &w)
	if w.done > 0 {
		*raw = append(w.out, w.text[w.done:]...)
	}
	return w.done > 0
}

// visit rewrites v, which is at p.
func (n *Numbering) visit(v jsontext.Value, p place, w *rewrite) {
	if text, ok := v.Text(); ok {
		if number, ok := n.text(text, p); ok && number != text {
			w.out = append(append(w.out, w.text[w.done:v.Offset()]...), jsontext.Text(number)...)
			w.done = v.Offset() + int64(len(v.Raw()))
		}
		return
	}
	if slices.Contains(callers, p.name) || n.ofTasks && p.name == "arguments" { // of a prompt of MCP
		return
	}
	for _, e := range v.Elements() {
		inner := p
		inner.name = strings.TrimSuffix(p.name, "s")
		n.visit(e, inner, w)
	}
	p.kind = v.Member("type").Word()
	for name, m := range v.Members() {
		n.visit(m, p.member(name), w)
	}
}

// text returns the replacement for a string at p. It reports false if the string is kept.
func (n *Numbering) text(text string, p place) (string, bool) {
	if text == "" {
		return "", false
	}
	if kind := resourceKind(text); kind != "" {
		return n.number(kind, text), true
	}
	kind := handedOut[p.name]
	switch {
	case kind == callKind, p.name == "id" && p.id == callKind,
		p.name == "caller_id" && p.kind == "program", p.name == "tool_id" && strings.HasPrefix(p.kind, "code_execution_"):
		return n.named(text), true
	case p.url:
		return n.urlText(text, p.name)
	case p.name == "id", p.name == "handle" && p.id == sessionKind:
		kind = p.id
	case p.name == "data" && (p.kind == "redacted_thinking" || p.kind == "reasoning.encrypted"):
		kind = "encrypted"
	case p.name == "fingerprint" && p.kind == "program":
		kind = "signature"
	}
	const opaque = 10 // bytes: a state that is shorter may be a program's own, such as step2
	switch {
	case kind == "", kind == taskKind && !n.ofTasks, !alwaysMade[kind] && !looksRandom(text),
		kind == "state" && len(text) < opaque:
		return "", false
	}
	return n.number(kind, text), true
}

// alwaysMade are the kinds of values that only providers generate. A value of another kind may be the caller's own
// unless it looks random.
var alwaysMade = map[string]bool{"continuation": true, "encrypted": true, "item": true, "response": true,
	"signature": true}

// looksRandom reports whether a text may be an id that a provider generated. It contains a digit or, because two
// percent of ids contain none, a long part after a hyphen.
func looksRandom(text string) bool {
	return strings.ContainsAny(text, "0123456789") || longWord.MatchString(text)
}

var longWord = regexp.MustCompile(`[-_][A-Za-z]{16,}$`)

// urlText numbers the ids in a path and, in a query, the item that is requested or after which a list continues.
func (n *Numbering) urlText(text, name string) (string, bool) {
	switch name {
	case "after", "before", "id":
		return n.number("item", text), true
	case "path":
	default:
		return "", false
	}
	segments := strings.Split(text, "/")
	for i := 1; i < len(segments); i++ {
		of := segments[i-1]
		if (collections[of] || n.ofAgents && agentCollections[of]) && looksRandom(segments[i]) {
			segments[i] = n.number("item", segments[i])
		}
	}
	return strings.Join(segments, "/"), true
}

// collections are the path segments that are followed by the id of a temporary resource of the provider. An id looks
// random, unlike the operations that may also follow.
var collections = map[string]bool{
	"analyzerResults": true, "batches": true, "cachedContents": true, "completions": true, "containers": true,
	"conversations": true, "deferred-completion": true, "file_batches": true, "files": true, "interactions": true,
	"items": true, "jobs": true, "messages": true, "operations": true, "requests": true, "responses": true, "runs": true,
	"steps": true, "threads": true, "uploads": true, "videos": true,
}

// agentCollections are such segments of APIs of agents. In others, callers name the sessions of their users.
var agentCollections = map[string]bool{"sessions": true, "subagents": true, "turns": true}

// resource matches the name or URL of a resource that Google keeps for hours.
var resource = regexp.MustCompile(`^(?:https://generativelanguage\.googleapis\.com/[^/]+/)?` +
	`(?:(batch)es|(cachedContent|file)s)/[0-9a-z-]{10,}$`)

// resourceKind returns the kind of a Google resource name; "" for any other text.
func resourceKind(text string) string {
	if !strings.Contains(text, "/") {
		return ""
	}
	if found := resource.FindStringSubmatch(text); found != nil {
		return found[1] + found[2]
	}
	return ""
}

// signs are strings of which a text with a generated value contains at least one.
var signs = [][]byte{
	[]byte(`"id"`), []byte(`_id"`), []byte(`_ids"`), []byte(`"ids"`), []byte(`_token"`), []byte(`Token"`),
	[]byte(`State"`),
	[]byte(`"taskId"`), []byte(`ignature"`), []byte(`"fingerprint"`), []byte(`"encrypted`), []byte(`.encrypted"`),
	[]byte(`"redacted`),
	[]byte(`"container"`), []byte(`"handle"`), []byte(`"conversation"`), []byte(`"path"`), []byte(`"after"`),
	[]byte(`"before"`),
	[]byte("files/"), []byte("cachedContents/"), []byte("batches/"),
}

// mayBeHandedOut reports whether a value may contain generated values, to skip the others quickly.
func mayBeHandedOut(name string, raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '"' && raw[0] != '{' && raw[0] != '[' {
		return false
	}
	named := slices.Contains([]string{"data", "fingerprint", "id"}, name) || handedOut[strings.TrimSuffix(name, "s")] != ""
	return raw[0] != '{' && named ||
		slices.ContainsFunc(signs, func(sign []byte) bool { return bytes.Contains(raw, sign) })
}

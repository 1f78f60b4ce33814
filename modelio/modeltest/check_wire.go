package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// CheckWire checks rules that the answers of a provider's model cannot show. The schema of a constrained request must
// reach the provider (GK "Structured Output"), and so must a system message if info declares no systemRole (GK "System
// Messages"). sent returns all requests that the provider has received, from a server or from a recorder's Snapshots.
// CheckWire calls it between the few calls of m, which are sequential. The error joins breaches like the error of
// [Check].
func CheckWire(ctx context.Context, m modelio.Model, info modelio.ModelInfo, sent func() []modelio.Request) error {
	var c checker
	probe := func(name string, rule Rule, request *modelio.GenerateRequest, wrong func([]modelio.Request) string) {
		before := len(sent())
		if _, err := m.Generate(ctx, request, nil); err != nil {
			c.breach(name, breach(rule, "the request fails: %v", err))
			return
		}
		got := sent()
		if detail := wrong(got[min(before, len(got)):]); detail != "" {
			c.breach(name, breach(rule, "%s", detail))
		}
	}
	if constrained := asking(askPerson, asPerson); enforces(info.Supports.Constrained, constrained) {
		probe("constrained", RuleSchemaSent, constrained, withoutSchema)
	}
	if !info.Supports.SystemRole {
		probe("system", RuleSystemSent, asking(withSystem, ""), withoutSystemText)
	}
	return errors.Join(c.breaches...)
}

// withoutSchema reports that no request has the schema of asPerson. Each provider has its own place for it: an option,
// or the input of a tool.
func withoutSchema(sent []modelio.Request) string {
	for _, req := range sent {
		said := slices.Collect(maps.Values(req.Options))
		for _, tool := range req.Tools {
			said = append(said, tool.InputSchema)
		}
		for _, raw := range said {
			var v any
			if _ = json.Unmarshal(raw, &v); hasPerson(v) { // raw was decoded before, so it is valid
				return ""
			}
		}
	}
	return "output.schema is in none of what the provider was sent"
}

// hasPerson reports whether a value holds a schema with the members of asPerson.
func hasPerson(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasPerson)
	case map[string]any:
		if members, ok := v["properties"].(map[string]any); ok && members["name"] != nil && members["age"] != nil {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasPerson)
	}
	return false
}

// withoutSystemText reports that the system message of withSystem is missing, or that it has the role system, which the
// model does not declare.
func withoutSystemText(sent []modelio.Request) string {
	for _, req := range sent {
		for _, message := range req.Messages {
			switch {
			case !strings.Contains(texts.Join(message.Content), "You answer in one short sentence."):
			case message.Role == modelio.RoleSystem:
				return "the provider was sent a system message, though the model declares no systemRole"
			default:
				return ""
			}
		}
	}
	return "what the system message says is in none of what the provider was sent"
}

// Warnings returns likely faults, which [Check] leaves out because they are not certain: a long answer in one chunk (GK
// "Streaming"). It makes one call and ignores its failure, which Check reports.
func Warnings(ctx context.Context, m modelio.Model) (all []*Breach) {
	const long = 400 // bytes; no provider sends so many in one event
	var log chunkLog
	response, err := m.Generate(ctx, asking(askCount, ""), log.add)
	if err != nil || response == nil || response.Message == nil {
		return nil
	}
	if text := texts.Join(response.Message.Content); len(text) >= long && len(log.chunks) == 1 {
		b := breach(RuleStreamLate, "an answer of %d bytes comes in one chunk", len(text))
		b.Probes = []string{"count streamed"}
		all = append(all, b)
	}
	return all
}

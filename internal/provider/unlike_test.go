package provider

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestUnlike checks Claude's hosts, which have one form of requests and answers, and differ by anthropic_version.
func TestUnlike(t *testing.T) {
	const anthropic, vertex, bedrock, recent = `"2023-06-01"`, `"vertex-2023-10-16"`, `"bedrock-2023-05-31"`, `"2026-10-21"`
	for _, c := range []struct {
		name, why    string
		api, version string
		served       bool
		wrong        bool
	}{
		{"messages", "the version is in a header", messagesAPI, "", true, false},
		{"messages with the version in the body", "some clients send it there too", messagesAPI, anthropic, true, false},
		{"vertex as messages", "no such version there", messagesAPI, vertex, true, true},
		{"bedrock as messages", "no such version there", messagesAPI, bedrock, true, true},
		{"vertex", "its own", vertexAnthropicAPI, vertex, true, false},
		{"vertex since then", "all hosts name it alike", vertexAnthropicAPI, recent, true, false},
		{"messages of old as vertex", "no such version there", vertexAnthropicAPI, anthropic, true, true},
		{"messages as vertex", "Vertex serves none without a version", vertexAnthropicAPI, "", true, true},
		{"vertex without a version", "which it refused", vertexAnthropicAPI, "", false, false},
		{"bedrock as vertex", "also where it was refused", vertexAnthropicAPI, bedrock, false, true},
		{"invoke", "its own", invokeAPI, bedrock, true, false},
		{"invoke since then", "all hosts name it alike", invokeAPI, recent, true, false},
		{"invoke of another model", "only Claude has a version", invokeAPI, "", true, false},
		{"vertex as invoke", "no such version there", invokeAPI, vertex, true, true},
		{"converse", "it has no such member", "bedrock.converse", vertex, true, false},
	} {
		req := &modelio.Request{API: c.api, Options: map[string]json.RawMessage{}}
		if c.version != "" {
			req.Options["anthropic_version"] = json.RawMessage(c.version)
		}
		codec, ok := Named(c.api)
		require.True(t, ok)
		why := codec.Unlike(req, c.served)
		require.Equal(t, c.wrong, why != "", "%s: %s: %s", c.name, c.why, why)
	}
}

// TestUnlikeItsPath checks APIs whose requests always have something of their path, or a prompt.
func TestUnlikeItsPath(t *testing.T) {
	text, url := "Hi", modelio.Object{"$url": json.RawMessage(`{"session":"s"}`)}
	said := []modelio.Message{userText(text)}
	for _, c := range []struct {
		name, api string
		req       modelio.Request
		wrong     bool
	}{
		{"agent", "bedrock.agent", modelio.Request{Messages: said, Options: url}, false},
		{"agent of no session", "bedrock.agent", modelio.Request{Messages: said}, true},
		{"completion", completionsAPI, modelio.Request{Prompt: &text}, false},
		{"completion of messages", completionsAPI, modelio.Request{Messages: said}, true},
		{"chat", chatAPI, modelio.Request{Messages: said}, false},
	} {
		require.Equal(t, c.wrong, byName(t, c.api).Unlike(&c.req, true) != "", c.name)
	}
}

package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// fullRecord returns a record with every member of the format.
func fullRecord() *snapshot.Snapshot {
	snap := record("TestFull", 1)
	snap.Timestamp = recordedAt.Add(250 * time.Millisecond)
	snap.Source.Nondeterministic = "creative"
	snap.Source.Ignored = []string{"/provider_options/user"}
	snap.Request = snapshot.Request{
		Model: "gpt-4-turbo",
		Messages: []snapshot.Message{
			{Role: "system", Content: json.RawMessage(`"be brief"`), Metadata: json.RawMessage(`{"role":"developer"}`)},
			{Role: "user", Content: json.RawMessage(`[{"text":"hi"}]`)},
		},
		Temperature: number("0"), MaxTokens: number("100"), TopP: number("0.5"),
		FrequencyPenalty: number("-2"), PresencePenalty: number("2"), Seed: number("42"),
		Stop:            []string{"END"},
		Tools:           []json.RawMessage{json.RawMessage(`{"name":"add"}`)},
		API:             "openai.chat",
		ProviderOptions: map[string]json.RawMessage{"user": json.RawMessage(`"u1"`), "n": json.RawMessage(`2`)},
		WireHash:        canon.Sum([]byte("wire")),
		CallIDs:         map[string]string{"call_1": "call_abc"},
		Blobs:           []canon.Hash{canon.Sum([]byte("media"))},
	}
	snap.Response = snapshot.Response{
		Content: "hello", TokensUsed: ptr(int64(3)), LatencyMS: 1, FinishReason: "stop",
		ToolCalls:       []snapshot.ToolCall{{Ref: "call_1", Name: "add", Input: json.RawMessage(`{"a":1}`)}},
		Parts:           []json.RawMessage{json.RawMessage(`{"text":"hello"}`)},
		Candidates:      []snapshot.Candidate{{Content: "hallo", FinishReason: "length", FinishReasonRaw: "max", ToolCalls: []snapshot.ToolCall{{Ref: "call_2", Name: "now"}}, Parts: []json.RawMessage{json.RawMessage(`{"text":"hallo"}`)}}},
		Error:           &snapshot.ProviderError{Status: 500, Type: "server", Code: "e1", Message: "sorry"},
		FinishReasonRaw: "end_turn",
		Model:           "gpt-4-turbo-2024-04-09",
		Usage:           &snapshot.Usage{Input: ptr(int64(1)), Output: ptr(int64(2)), Total: ptr(int64(3)), Reasoning: ptr(int64(0)), CacheRead: ptr(int64(4)), CacheWrite: ptr(int64(5))},
		Status:          200,
		Headers:         map[string][]string{"content-type": {"application/json"}},
		TimingMS:        []int64{120, 121, 450},
		RawOutputRef:    canon.Sum([]byte("raw")),
		OutputRef:       canon.Sum([]byte("output")),
		Incomplete:      "error",
	}
	return snap
}

func TestRoundTrip(t *testing.T) {
	completion := record("TestCompletion", 1)
	completion.Request.Messages, completion.Request.Prompt = nil, ptr("Once upon")
	completion.Request.Temperature, completion.Request.MaxTokens, completion.Response.TokensUsed = nil, nil, nil
	empty := record("TestNoMessages", 1)
	empty.Request.Messages = []snapshot.Message{}
	for name, snap := range map[string]*snapshot.Snapshot{
		"full": fullRecord(), "least": record("TestLeast", 1), "completion": completion, "no-messages": empty,
	} {
		t.Run(name, func(t *testing.T) {
			doc := document(t, snap)
			data := encode(t, doc)
			require.True(t, strings.HasSuffix(string(data), "}\n"))
			got, err := snapshot.Parse(data)
			require.NoError(t, err)
			require.Equal(t, doc, got)
			require.Equal(t, data, encode(t, got))
		})
	}
}

// TestGolden pins the format: these files, once written, must be read and written for as
// long as the version stays.
func TestGolden(t *testing.T) {
	indexes := record("TestIndexes", 1)
	indexes.Request.ProviderOptions = map[string]json.RawMessage{"awkward": json.RawMessage(awkward)}
	for name, snap := range map[string]*snapshot.Snapshot{
		"full": fullRecord(), "least": record("TestLeast", 1), "indexes": indexes,
	} {
		t.Run(name, func(t *testing.T) {
			golden := goldie.New(t, goldie.WithFixtureDir("testdata/records"), goldie.WithNameSuffix(".json"))
			golden.Assert(t, name, encode(t, document(t, snap)))
		})
	}
}

func TestSealIsIdempotent(t *testing.T) {
	snap := fullRecord()
	require.NoError(t, snap.Seal())
	again := *snap
	require.NoError(t, again.Seal())
	require.Equal(t, *snap, again)
	require.True(t, snap.Hash.Valid() && snap.Request.PromptHash.Valid() && snap.Response.ResponseHash.Valid())
}

// TestCore says what is drift and what is not (design R3, R8).
func TestCore(t *testing.T) {
	reference := fullRecord()
	require.NoError(t, reference.Seal())
	for name, c := range map[string]struct {
		change                   func(*snapshot.Snapshot)
		request, response, whole bool // has another hash
	}{
		"nothing":            {func(s *snapshot.Snapshot) {}, false, false, false},
		"timestamp":          {func(s *snapshot.Snapshot) { s.Timestamp = s.Timestamp.Add(time.Hour) }, false, false, true},
		"time-zone":          {func(s *snapshot.Snapshot) { s.Timestamp = s.Timestamp.In(time.FixedZone("", 3600)) }, false, false, false},
		"microseconds":       {func(s *snapshot.Snapshot) { s.Timestamp = s.Timestamp.Add(time.Microsecond) }, false, false, false},
		"line":               {func(s *snapshot.Snapshot) { s.Source.Line++ }, false, false, true},
		"model":              {func(s *snapshot.Snapshot) { s.Request.Model = "x" }, true, false, true},
		"message":            {func(s *snapshot.Snapshot) { s.Request.Messages[0].Content = json.RawMessage(`"x"`) }, true, false, true},
		"message-spelling":   {func(s *snapshot.Snapshot) { s.Request.Messages[0].Content = json.RawMessage(` "be b\u0072ief" `) }, false, false, false},
		"temperature":        {func(s *snapshot.Snapshot) { s.Request.Temperature = number("0.1") }, true, false, true},
		"number-spelling":    {func(s *snapshot.Snapshot) { s.Request.Temperature = number("0.0e1") }, false, false, false},
		"no-seed":            {func(s *snapshot.Snapshot) { s.Request.Seed = nil }, true, false, true},
		"option":             {func(s *snapshot.Snapshot) { s.Request.ProviderOptions["n"] = json.RawMessage(`3`) }, true, false, true},
		"ignored-option":     {func(s *snapshot.Snapshot) { s.Request.ProviderOptions["user"] = json.RawMessage(`"u2"`) }, false, false, true},
		"wire-hash":          {func(s *snapshot.Snapshot) { s.Request.WireHash = canon.Sum(nil) }, false, false, true},
		"call-ids":           {func(s *snapshot.Snapshot) { s.Request.CallIDs["call_1"] = "x" }, false, false, true},
		"blobs":              {func(s *snapshot.Snapshot) { s.Request.Blobs = nil }, false, false, true},
		"timing":             {func(s *snapshot.Snapshot) { s.Response.TimingMS[0]++ }, false, false, true},
		"content":            {func(s *snapshot.Snapshot) { s.Response.Content = "x" }, false, true, true},
		"finish-reason":      {func(s *snapshot.Snapshot) { s.Response.FinishReason = "length" }, false, true, true},
		"tool-call":          {func(s *snapshot.Snapshot) { s.Response.ToolCalls[0].Input = json.RawMessage(`{"a":2}`) }, false, true, true},
		"part":               {func(s *snapshot.Snapshot) { s.Response.Parts = nil }, false, true, true},
		"candidate-word":     {func(s *snapshot.Snapshot) { s.Response.Candidates[0].FinishReasonRaw = "x" }, false, false, true},
		"candidate":          {func(s *snapshot.Snapshot) { s.Response.Candidates[0].Content = "x" }, false, true, true},
		"error":              {func(s *snapshot.Snapshot) { s.Response.Error.Code = "e2" }, false, true, true},
		"tokens":             {func(s *snapshot.Snapshot) { s.Response.TokensUsed = nil }, false, false, true},
		"usage":              {func(s *snapshot.Snapshot) { s.Response.Usage = nil }, false, false, true},
		"latency":            {func(s *snapshot.Snapshot) { s.Response.LatencyMS++ }, false, false, true},
		"answering-model":    {func(s *snapshot.Snapshot) { s.Response.Model = "x" }, false, false, true},
		"headers":            {func(s *snapshot.Snapshot) { s.Response.Headers = nil }, false, false, true},
		"raw-output":         {func(s *snapshot.Snapshot) { s.Response.RawOutputRef = "" }, false, false, true},
		"finish-reason-word": {func(s *snapshot.Snapshot) { s.Response.FinishReasonRaw = "" }, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			snap := fullRecord()
			c.change(snap)
			require.NoError(t, snap.Seal())
			require.Equal(t, c.request, snap.Request.PromptHash != reference.Request.PromptHash, "prompt_hash")
			require.Equal(t, c.response, snap.Response.ResponseHash != reference.Response.ResponseHash, "response_hash")
			require.Equal(t, c.whole, snap.Hash != reference.Hash, "hash")
			core, err := snap.Request.Core(snap.Source.Ignored)
			require.NoError(t, err)
			require.Equal(t, snap.Request.PromptHash, canon.Sum(core))
			require.True(t, canon.Canonical(core))
		})
	}
}

func TestCoreIgnores(t *testing.T) {
	req := snapshot.Request{
		Model:           "m",
		Messages:        []snapshot.Message{{Role: "user", Content: json.RawMessage(`[{"text":"a"},{"text":"b"},{"text":"c"}]`)}},
		ProviderOptions: map[string]json.RawMessage{"a/b": json.RawMessage(`{"~":1,"":2}`), "0": json.RawMessage(`[]`)},
	}
	const head, tail = `{"max_tokens":null,"messages":[{"content":`, `,"role":"user"}],"model":"m","provider_options":{"0":[],"a/b":{"":2,"~":1}},"temperature":null}`
	for name, c := range map[string]struct {
		why     string
		ignored []string
		want    string
	}{
		"none":         {"all of it", nil, head + `[{"text":"a"},{"text":"b"},{"text":"c"}]` + tail},
		"element":      {"an element goes", []string{"/messages/0/content/1"}, head + `[{"text":"a"},{"text":"c"}]` + tail},
		"elements":     {"indexes are those before anything goes", []string{"/messages/0/content/0", "/messages/0/content/1"}, head + `[{"text":"c"}]` + tail},
		"member":       {"a member goes", []string{"/messages/0/content/2/text"}, head + `[{"text":"a"},{"text":"b"},{}]` + tail},
		"all-elements": {"an empty array stays", []string{"/messages/0"}, `{"max_tokens":null,"messages":[],"model":"m","provider_options":{"0":[],"a/b":{"":2,"~":1}},"temperature":null}`},
		"escapes":      {"~1 is a slash, ~0 a tilde, and a name may be empty", []string{"/provider_options/a~1b/~0", "/provider_options/a~1b/"}, head + `[{"text":"a"},{"text":"b"},{"text":"c"}],"role":"user"}],"model":"m","provider_options":{"0":[],"a/b":{}},"temperature":null}`},
		"nothing":      {"what names nothing is no error", []string{"/x", "/model/x", "/messages/9", "/messages/00", "/messages/-", "/provider_options/0/0"}, head + `[{"text":"a"},{"text":"b"},{"text":"c"}]` + tail},
		"below":        {"a pointer to a value and one below it", []string{"/messages/0/content", "/messages/0/content/1"}, `{"max_tokens":null,"messages":[{"role":"user"}],"model":"m","provider_options":{"0":[],"a/b":{"":2,"~":1}},"temperature":null}`},
		"outside":      {"what is outside the core anyway", []string{"/prompt_hash", "/call_ids/call_1"}, head + `[{"text":"a"},{"text":"b"},{"text":"c"}]` + tail},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := req.Core(c.ignored)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got), c.why)
		})
	}
	for _, malformed := range []string{"", "model", "/~", "/~2", "/a/~"} {
		_, err := req.Core([]string{malformed})
		require.ErrorContains(t, err, "pointer", malformed)
	}
}

// TestUnwritable says what cannot be sealed, and where it is.
func TestUnwritable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*snapshot.Snapshot)
		says   string
	}{
		"raw-json":     {func(s *snapshot.Snapshot) { s.Request.Tools = []json.RawMessage{json.RawMessage(`{`)} }, "/tools/0: json: offset 1"},
		"raw-nil":      {func(s *snapshot.Snapshot) { s.Request.Messages[0].Content = nil }, "/messages/0/content: json: offset 0"},
		"raw-inner":    {func(s *snapshot.Snapshot) { s.Request.ProviderOptions["a/b"] = json.RawMessage(`{"x":[1,{]}`) }, "/provider_options/a~1b/x/1: json: offset 9"},
		"duplicate":    {func(s *snapshot.Snapshot) { s.Response.Parts[0] = json.RawMessage(`{"a":1,"a":2}`) }, "/parts/0/a: duplicate"},
		"utf-8":        {func(s *snapshot.Snapshot) { s.Response.Content = "\xff" }, "/content: unicode: must be valid UTF-8"},
		"utf-8-name":   {func(s *snapshot.Snapshot) { s.Request.CallIDs["\xff"] = "" }, "unicode: must be valid UTF-8"},
		"utf-8-source": {func(s *snapshot.Snapshot) { s.Source.Function = "\xff" }, "/function: unicode: must be valid UTF-8"},
		"number":       {func(s *snapshot.Snapshot) { s.Request.Seed = number("true") }, `/seed: type: must be a number, is "true"`},
		"number-json":  {func(s *snapshot.Snapshot) { s.Request.Seed = number("01") }, `/seed: json: offset 2`},
		"number-two":   {func(s *snapshot.Snapshot) { s.Request.Seed = number("1 2") }, `/seed: json: offset 2`},
		"tokens":       {func(s *snapshot.Snapshot) { s.Response.TokensUsed = ptr(int64(1<<53 + 1)) }, `/tokens_used: number`},
		"ignored":      {func(s *snapshot.Snapshot) { s.Source.Ignored = []string{"x"} }, `pointer "x" must start with a slash`},
	} {
		t.Run(name, func(t *testing.T) {
			snap := fullRecord()
			c.change(snap)
			before := *snap
			require.ErrorContains(t, snap.Seal(), c.says)
			require.Equal(t, before, *snap, "after an error nothing is changed")
			doc := snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{*snap}}
			require.Error(t, doc.Seal())
			_, err := doc.Encode()
			require.Error(t, err)
		})
	}
}

func TestEncodeRefusesWhatParseWould(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*snapshot.Document)
		says   string
	}{
		"not-sealed":   {func(d *snapshot.Document) { d.Snapshots[0].Hash = "" }, "/snapshots/0/hash: value"},
		"altered":      {func(d *snapshot.Document) { d.Snapshots[0].Response.LatencyMS++ }, "/snapshots/0/hash: seal"},
		"version":      {func(d *snapshot.Document) { d.Version = "" }, "/version: version: Snapshot version  is no longer"},
		"no-messages":  {func(d *snapshot.Document) { d.Snapshots[0].Request.Messages = nil }, "/snapshots/0/request/messages: missing: is required, or prompt"},
		"no-timestamp": {func(d *snapshot.Document) { d.Snapshots[0].Timestamp = time.Time{} }, "/snapshots/0/timestamp: value: must be a time"},
		"year-10000":   {func(d *snapshot.Document) { d.Snapshots[0].Timestamp = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "/snapshots/0/timestamp: value: must be a time"},
		"role":         {func(d *snapshot.Document) { d.Snapshots[0].Request.Messages[0].Role = "assistant" }, "/snapshots/0/request/messages/0/role: value: must be one of system, user, model, tool"},
		"null-part":    {func(d *snapshot.Document) { d.Snapshots[0].Response.Parts = []json.RawMessage{json.RawMessage(`null`)} }, "/snapshots/0/response/parts/0: type: must be an object, is null"},
		"too-deep": {func(d *snapshot.Document) {
			d.Snapshots[0].Request.Messages[0].Content = json.RawMessage(strings.Repeat("[", 997) + strings.Repeat("]", 997))
		}, "depth"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := document(t, record("TestX", 1))
			c.change(doc)
			if name != "not-sealed" && name != "altered" {
				require.NoError(t, doc.Seal())
			}
			_, err := doc.Encode()
			require.ErrorContains(t, err, c.says)
		})
	}
}

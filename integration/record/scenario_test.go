package record_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An sdk is a client library of one API.
type sdk struct {
	name     string
	api      string // the codec of its calls
	provider string // the store's directory for its calls
	open     func(context.Context, *traceforgetest.Recorder) (asker, error)

	keys             []string // the variables from which the SDK takes its credentials
	unkeyed          bool     // the provider does not check the credentials
	lacks            ability
	errors           map[int]string // the provider's error types by status
	nondeterministic string         // why the SDK cannot send the parameters that SF requires
	scenarios        []scenario     // nil for those of all chat APIs
}

// An asker makes one call. If a stream fails in the middle, it returns the error and the answer so far.
type asker func(context.Context, question) (*answer, error)

// A question is the request of a scenario.
type question struct {
	text    string
	stream  bool
	tools   bool     // offer the tool weather
	schema  bool     // ask for JSON of summarySchema
	after   *answer  // the answer to whose tool calls the results belong; nil begins a conversation
	results []string // one for each tool call
}

// An answer is the result that an SDK returned.
type answer struct {
	text  string   // the model's text
	calls []string // the arguments of the tool calls
	value any      // the SDK's own values; of a stream all events
	turn  any      // the answer in the SDK's form for the next request
}

// A result is the compared part of recording and replay.
type result struct {
	value any
	fault string
}

// requestID matches request ids in errors of some SDKs. They come from a header that is not stored (design R12).
var requestID = regexp.MustCompile(`\(Request-ID: [^)]*\) |RequestID: [^,]*, `)

// fault returns an error's type and text, and the provider's error object if the text does not contain it.
func fault(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%T: %v", err, err)
	var object interface{ RawJSON() string }
	if errors.As(err, &object) {
		text += " " + object.RawJSON()
	}
	return requestID.ReplaceAllString(text, "")
}

// An ability is a feature of an SDK or its API that a scenario needs.
type ability int

const (
	streams  ability = 1 << iota
	tools            // calls tools
	loops            // takes the result of a tool call
	parallel         // takes the results of several tool calls
	schemas          // answers with JSON of a schema
	retries          // retries temporary failures
	thinks           // returns its reasoning, and sends it back in the next turn
	ids              // each answer differs by an id or a time
	midError         // reports an error in mid-stream
	comments         // reads comments and pings in a stream
)

// A scenario is a conversation that is recorded and replayed.
type scenario struct {
	name, why string
	needs     ability
	reply     []fakeprovider.Reply // the provider's replies in order; nil to echo
	ask       question
	results   []string // the result of each tool call
	says      []string // for each turn, a text that its answer or the arguments of its calls contain
	fails     bool     // the SDK returns an error that contains says
}

func (c *scenario) calls() int { return len(c.says) }

// script prepares the provider's replies.
func (c *scenario) script(provider *fakeprovider.Server, s *sdk) {
	calls := weatherCalls
	if s.lacks&parallel != 0 {
		calls = weatherCalls[:1]
	}
	if c.reply == nil {
		provider.Handle(fakeprovider.Echo(calls...))
	}
	for _, reply := range c.reply {
		if f := reply.Failure; f != nil {
			failure := *f
			failure.Type = s.errors[f.Status]
			reply.Failure = &failure
		}
		provider.Reply(reply)
	}
}

var (
	weatherCalls = []fakeprovider.ToolCall{
		{Name: "weather", Arguments: `{"city":"Zürich"}`},
		{Name: "weather", Arguments: `{"city":"Bern"}`},
	}
	weatherSchema = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}
	summarySchema = map[string]any{"type": "object", "properties": map[string]any{"summary": map[string]any{"type": "string"}}}
)

var chatScenarios = []scenario{
	{
		name: "whole", why: "the simplest call",
		ask: question{text: "Hello there"}, says: []string{"You said: Hello there"},
	},
	{
		name: "stream", why: "events come one by one", needs: streams,
		ask: question{text: "Hello there", stream: true}, says: []string{"You said: Hello there"},
	},
	{
		name: "stream in odd pieces", why: "reads end within events and within characters", needs: streams,
		reply: []fakeprovider.Reply{{Text: "Grüße aus Zürich", Stream: fakeprovider.Stream{WriteSize: 3, CRLF: true}}},
		ask:   question{text: "Hello", stream: true}, says: []string{"Grüße aus Zürich"},
	},
	{
		name: "stream with comments and pings", why: "they are of no event, and are replayed", needs: streams | comments,
		reply: []fakeprovider.Reply{{Text: "Grüße aus Zürich", Stream: fakeprovider.Stream{Comment: "waiting", PingEvery: 2}}},
		ask:   question{text: "Hello", stream: true}, says: []string{"Grüße aus Zürich"},
	},
	{
		name: "tool calls", why: "their ids are random", needs: tools,
		ask: question{text: "What is the weather?", tools: true}, says: []string{`{"city":"Zürich"}`},
	},
	{
		name: "tools", why: "the second turn sends back the ids of the first, which are random", needs: tools | loops,
		ask: question{text: "What is the weather?", tools: true}, results: []string{"22 degrees", "rain"},
		says: []string{`{"city":"Zürich"}`, "The tools say: 22 degrees"},
	},
	{
		name: "tools in a stream", why: "as above; arguments come in pieces", needs: tools | loops | streams,
		ask: question{text: "What is the weather?", tools: true, stream: true}, results: []string{"22 degrees", "rain"},
		says: []string{`{"city":"Zürich"}`, "The tools say: 22 degrees"},
	},
	{
		name: "reasoning before tools", why: "its signature is random and goes back too", needs: tools | loops | thinks,
		reply: []fakeprovider.Reply{{Thinking: "let me look", ToolCalls: weatherCalls}, fakeprovider.Text("It rains.")},
		ask:   question{text: "What is the weather?", tools: true}, results: []string{"22 degrees", "rain"},
		says: []string{`{"city":"Zürich"} {"city":"Bern"}`, "It rains."},
	},
	{
		name: "reasoning before tools in a stream", why: "as above", needs: tools | loops | thinks | streams,
		reply: []fakeprovider.Reply{{Thinking: "let me look", ToolCalls: weatherCalls}, fakeprovider.Text("It rains.")},
		ask:   question{text: "What is the weather?", tools: true, stream: true}, results: []string{"22 degrees", "rain"},
		says: []string{`{"city":"Zürich"} {"city":"Bern"}`, "It rains."},
	},
	{
		name: "structured", why: "a schema is part of the request", needs: schemas,
		ask: question{text: "Summarize: two words", schema: true}, says: []string{`{"summary":"Summary: two words"}`},
	},
	{
		name: "error", why: "400 is an answer like others (design R11)",
		reply: []fakeprovider.Reply{fakeprovider.Error(400, "", "that is wrong")},
		ask:   question{text: "Hello"}, says: []string{"that is wrong"}, fails: true,
	},
	{
		name: "error instead of a stream", why: "it comes as one JSON object", needs: streams,
		reply: []fakeprovider.Reply{fakeprovider.Error(400, "", "that is wrong")},
		ask:   question{text: "Hello", stream: true}, says: []string{"that is wrong"}, fails: true,
	},
	{
		name: "error in a stream", why: "the status was 200 by then", needs: streams | midError,
		reply: []fakeprovider.Reply{failing("one two three four five six seven", 5)},
		ask:   question{text: "Hello", stream: true}, says: []string{"overloaded"}, fails: true,
	},
	{
		name: "retry", why: "only the answer that came in the end is recorded (design R11)", needs: retries,
		reply: []fakeprovider.Reply{busy(), fakeprovider.Text("there")},
		ask:   question{text: "Hello"}, says: []string{"there"},
	},
}

// failing returns a reply that fails after the given number of events.
func failing(text string, after int) fakeprovider.Reply {
	reply := fakeprovider.Error(503, "", "overloaded")
	reply.Text, reply.Stream.FailAfter = text, after
	return reply
}

// busy returns a reply that requests an immediate retry.
func busy() fakeprovider.Reply {
	reply := fakeprovider.Error(429, "", "slow down")
	reply.Header = http.Header{"Retry-After-Ms": {"1"}, "Retry-After": {"0"}}
	return reply
}

var sdks = slices.Concat([]sdk{
	openAIChat, openAIResponses, openAICompletions, openAIEmbeddings, azureChat, goOpenAI,
	claude, claudeOnAWS, claudeOnVertex, gemini, geminiOnVertex, ollamaChat, ollamaGenerate,
	bedrockConverse, cohereChat,
	openAITranscriptions, goOpenAITranscriptions, openAISpeech, openAIImages, openAIImageEdits,
	claudeCompletions, cohereV1Chat, cohereGenerate, cohereSummarize, cohereClassify,
	openAIResources, claudeResources, geminiResources, ollamaResources, geminiInteractions,
	bedrockAgent, bedrockRetrieve, bedrockGenerate,
}, bedrockInvoke, langchain, generateNothing)

// TestRecord plays each scenario with each SDK. It records, replays without provider and key, and requires equal
// results. Recording again with other ids must not change a byte of the store.
func TestRecord(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			scenarios := s.scenarios
			if scenarios == nil {
				scenarios = chatScenarios
			}
			for _, c := range scenarios {
				if c.needs&s.lacks != 0 {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					stage := newStage(t, &s, &c)
					recorded, heard := stage.record()
					stage.requireWhole()
					golden := stage.files()
					require.Equal(t, recorded, stage.replay(), "the SDK gets in replay what it got while recording")
					require.Empty(t, changes(golden, stage.files()), "a replay writes nothing")
					_, again := stage.record()
					require.Empty(t, changes(golden, stage.files()), "other ids change nothing of what is stored")
					if !c.fails && s.lacks&ids == 0 {
						require.NotEqual(t, heard, again, "the provider's ids are other ones each time")
					}
				})
			}
		})
	}
}

package snapshot

import (
	"encoding/json"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// Version is the version of the snapshot format that this package reads and writes. No other
// version is read (SF "Backward Compatibility").
const Version = "1.0.0"

// A Document is a snapshot file (SF "Complete Snapshot Structure"). In a store each file
// holds exactly one record.
type Document struct {
	Version   string
	Snapshots []Snapshot
	Hash      canon.Hash // over version and the records' hashes (SF "Combined Hash")
}

// A Snapshot is one recorded call to a model.
type Snapshot struct {
	ID        string
	Timestamp time.Time // when it was recorded, UTC, milliseconds
	Source    Source
	Request   Request
	Response  Response
	Hash      canon.Hash // the seal: over all of the above (design R2)
}

// Source says where in the code base a call comes from (SF "Source Fields").
type Source struct {
	File     string // relative to the module's root, with forward slashes
	Line     int
	Function string

	// Beyond SF:

	Package          string   // import path of the test's package
	Test             string   // the test's full name, as t.Name reports it
	Ordinal          int      // the n of the ID, counted from 1
	Nondeterministic string   // the reason given for lifting design R7; empty: not lifted
	Ignored          []string // RFC 6901 pointers into the request that its prompt hash leaves out
}

// Request is what was sent (SF "Request Fields"). Fields of SF are always written; null means
// that the caller did not send the member (design R6).
type Request struct {
	Model            string
	Messages         []Message // nil where Prompt is set
	Prompt           *string
	Temperature      *Number
	MaxTokens        *Number
	TopP             *Number
	FrequencyPenalty *Number
	PresencePenalty  *Number
	Seed             *Number
	Stop             []string
	Tools            []json.RawMessage // GK tool definitions

	// Beyond SF:

	API             string                     // wire API: "openai.chat"
	ProviderOptions map[string]json.RawMessage // all else that was sent
	PromptHash      canon.Hash                 // hash of the core: all above but what Source.Ignored names
	WireHash        canon.Hash                 // hash of the bytes that were sent; outside the core
	Blobs           []canon.Hash               // media of the request and the answer, kept beside the snapshot; outside the core, where their names stand
	CallIDs         map[string]string          // call_1 -> the provider's own id; outside the core (design R8)
}

// A Message is one message of a request.
type Message struct {
	Role     string          // system, user, model or tool
	Content  json.RawMessage // a string where it is one text part without metadata, else the list of GK parts (design R15)
	Metadata json.RawMessage // an object; nil: absent
}

// Response is what came back (SF "Response Fields").
type Response struct {
	Content      string
	TokensUsed   *int64 // total; nil where the provider reported none
	LatencyMS    int64  // milliseconds from sending the request to the end of the answer
	FinishReason string // stop, length, blocked, other
	ToolCalls    []ToolCall

	// Beyond SF. Parts, Error and Candidates, these without FinishReasonRaw, are in the core with the
	// fields above but for TokensUsed and LatencyMS; the rest is not.

	Parts           []json.RawMessage // GK parts, where Content and ToolCalls do not say it all
	Candidates      []Candidate       // the answers after the first one
	Error           *ProviderError    // what the provider reported instead of, or after a part of, an answer
	FinishReasonRaw string            // the provider's own word
	Model           string            // the model that answered, in the provider's words
	Usage           *Usage
	Status          int                 // HTTP status; 0 where the call was no HTTP call
	Headers         map[string][]string // of the allow-list
	TimingMS        []int64             // milliseconds from sending the request to each event of a stream
	RawOutputRef    canon.Hash          // blob: the provider's own bytes
	OutputRef       canon.Hash          // blob: the normalized envelope (LC)
	Incomplete      string              // "aborted" or "error": a stream that was cut; empty: complete
	ResponseHash    canon.Hash          // hash of the core
}

// A ToolCall is one function call that the model made.
type ToolCall struct {
	Ref   string // call_1, call_2, … by order of appearance in the conversation (design R8)
	Name  string
	Input json.RawMessage // nil: absent
}

// A Candidate is one more answer to the same request.
type Candidate struct {
	Content         string
	FinishReason    string
	FinishReasonRaw string
	ToolCalls       []ToolCall
	Parts           []json.RawMessage
}

// A ProviderError is a provider's error object.
type ProviderError struct {
	Status  int // HTTP status
	Type    string
	Code    string
	Message string
}

// Usage counts tokens; a nil count was not reported.
type Usage struct {
	Input      *int64
	Output     *int64
	Total      *int64
	Reasoning  *int64
	CacheRead  *int64
	CacheWrite *int64
}

// A Number is the text of a JSON number. One that a float64 does not hold exactly is written
// as {"$number":"…"} (design R1).
type Number string

// A Manifest lists the records of a store (SF "Manifest File"). It can be derived from them.
type Manifest struct {
	Version   string
	CreatedAt time.Time // the oldest record's timestamp
	UpdatedAt time.Time // the newest record's timestamp
	Snapshots []Entry   // sorted by File
	Hash      canon.Hash
}

// An Entry names one record of a store.
type Entry struct {
	ID       string
	Provider string
	File     string     // <provider>/<id>.json
	Hash     canon.Hash // the record's seal
}

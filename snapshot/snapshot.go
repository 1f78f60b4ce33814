package snapshot

import (
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Version is the version of the snapshot format that this package writes (SF "Backward Compatibility").
const Version = "1.1.0"

// VersionSF is the version of SF's own documents, and of the stores of earlier releases. [Parse] reads it, and
// [Document.SF] writes it.
const VersionSF = "1.0.0"

// A Document is the calls of one test, in their order (SF "Complete Snapshot Structure").
type Document struct {
	Version   string
	Snapshots []Snapshot
	Hash      canon.Hash // over version and the records' hashes (SF "Combined Hash")
}

// A Snapshot is the record of one call to a model.
type Snapshot struct {
	ID        string    // <document>-<n>
	Timestamp time.Time // when it was recorded, UTC, milliseconds
	Source    Source
	Provider  string     // in files a member of request; empty means the provider in whose directory the document is
	Continues *Continues // how the file says the beginning of the messages; nil means they are all in the record
	Request   modelio.Request
	Response  Response
	Hash      canon.Hash // the seal: over all of the above as it stands in the file (design R2)
}

// Source says where in the code base a call comes from (SF "Source Fields").
type Source struct {
	File     string // relative to the module's root, with forward slashes
	Line     int
	Function string

	// Beyond SF:

	Package          string     // import path of the test's package; in files in the first record only
	Test             string     // the test's full name, as t.Name reports it; in files in the first record only
	Nondeterministic string     // the reason given for lifting design R7; empty means not lifted
	Now              time.Time  // the first time that the test was told; in files in the first record only; zero means it asked for none
	Origin           string     // what the record was imported or migrated from, until the call is made; empty means a recording
	Scripted         canon.Hash // of the step of a script that gave the answer; empty means a provider gave it
	Unknown          []string   // headers of the request that the recording it was imported from does not say
	Ignored          []string   // RFC 6901 pointers into the whole request that its core leaves out
	Lane             string     // which of several callers that ask at once made the call; empty means no lane
	Provenance       Provenance
}

// IsBought reports whether a provider gave the answer to a recording: it is neither imported nor scripted.
func (s *Source) IsBought() bool { return s.Origin == "" && s.Scripted == "" }

// IsLifted reports whether nobody chose the parameters of the call, or somebody said why they need not be deterministic.
func (s *Source) IsLifted() bool { return s.Nondeterministic != "" || !s.IsBought() }

// SameOrigin reports whether two answers are both bought, or from the same place.
func (s *Source) SameOrigin(other *Source) bool {
	return s.Origin == other.Origin && s.Scripted == other.Scripted && slices.Equal(s.Unknown, other.Unknown)
}

// Continues says that a request begins with messages of an earlier call (design R4). They are the first Messages of
// its whole request and, as one more, its answer.
type Continues struct {
	Call     int    // the n of that call's id
	Messages int    // how many messages; one more than the request has: its answer too
	Sent     []Sent // the messages in which the answer was sent back; nil means one, as it was answered
}

// Sent is a message in which an answer, or a part of it, was sent back.
type Sent struct {
	Metadata modelio.Object // of the message; nil means none
	Parts    []SentPart     // nil means those of the answer, as they were answered
}

// A SentPart is a part of an answer that was sent back, or one that was put beside them.
type SentPart struct {
	Answer   int            // index of the part in the answer, if Part is nil
	Metadata modelio.Object // of that part as it was sent; nil means as it was answered
	Part     *modelio.Part  // what is no part of the answer
}

// Response is what came back (SF "Response Fields").
type Response struct {
	modelio.Response // Candidates, Usage, Model and Error; ID and Metadata are not kept

	TokensUsed   *int64 // total; nil where the provider reported none
	LatencyMS    int64  // milliseconds from sending the request to the end of the answer
	Status       int    // HTTP status; 0 where the call was no HTTP call
	Headers      map[string][]string
	TimingMS     []int64    // milliseconds from sending the request to each event of a stream
	RawOutputRef canon.Hash // of the provider's own bytes, which are beside the document
	Stale        canon.Hash // of the core of the request that was answered, where that was another (design R11); empty means this one
	Note         string     // why the codec of the API could not take the answer, which the generic one decoded; empty means it could
	Incomplete   string     // "aborted", "ended" or "error": a stream that was cut; empty means complete
	Readings     []Reading  // what other programs read in the same bytes, those that concern calls of tools first
	ReadingsMore int        // how many readings there are besides
}

// A Reading is what some programs read in the bytes of an answer, and the record does not say.
type Reading struct {
	Event int    // of the stream, counted from 1; 0 means the answer is no stream
	Kind  string // a word of docs/format.md
	Says  string // the differing text, name or arguments
}

// IsOfCall reports whether r adds, changes or leaves out a call of a tool.
func (r Reading) IsOfCall() bool { return slices.Contains(callReadings, r.Kind) }

package snapshot

import (
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Version is the version of the snapshot format that this package writes (SF "Backward Compatibility").
const Version = "1.1.0"

// VersionSF is the version of SF's own documents, and of stores from earlier releases. [Parse] reads it, and
// [Document.SF] writes it.
const VersionSF = "1.0.0"

// A Document is the calls of one test, in order (SF "Complete Snapshot Structure").
type Document struct {
	Version   string
	Snapshots []Snapshot
	Hash      canon.Hash // covers version and the records' hashes (SF "Combined Hash")
}

// A Snapshot is the record of one call to a model.
type Snapshot struct {
	ID        string    // <document>-<n>
	Timestamp time.Time // time of recording, UTC, milliseconds
	Source    Source
	Provider  string     // in files a member of request; empty for the provider in whose directory the document is
	Continues *Continues // how the file represents the first messages; nil if the record contains all messages
	Request   modelio.Request
	Response  Response
	Hash      canon.Hash // the seal: covers everything above as it is in the file (design R2)
}

// Source says which code made a call (SF "Source Fields").
type Source struct {
	File     string // relative to the module's root, with forward slashes
	Line     int
	Function string

	// Beyond SF:

	Package          string // import path of the test's package; in files only in the first record
	Test             string // the test's full name, as returned by t.Name; in files only in the first record
	Nondeterministic string // the reason given for lifting design R7; empty if it was not lifted
	// the first time that the test got from Now; in files only in the first record; zero if it asked for none
	Now        time.Time
	Origin     string     // what the record was imported or migrated from, until the call is made; empty for a recording
	Scripted   canon.Hash // hash of the script step that gave the answer; empty if a provider gave it
	Unknown    []string   // headers of the request that the imported recording does not contain
	IDs        []string   // ids of responses, conversations and jobs that the request names; its core has numbers for them
	Ignored    []string   // RFC 6901 pointers into the complete request that its core leaves out
	Lane       string     // which of several concurrent callers made the call; empty without a lane
	Provenance Provenance
}

// IsBought reports whether a provider gave the answer for this recording: it was neither imported nor scripted.
func (s *Source) IsBought() bool { return s.Origin == "" && s.Scripted == "" }

// IsLifted reports whether no determinism rule applies: nobody chose the parameters of the call, or a reason was given.
func (s *Source) IsLifted() bool { return s.Nondeterministic != "" || !s.IsBought() }

// SameOrigin reports whether two answers were both bought, or come from the same source.
func (s *Source) SameOrigin(other *Source) bool {
	return s.Origin == other.Origin && s.Scripted == other.Scripted && slices.Equal(s.Unknown, other.Unknown)
}

// Continues says that a request starts with messages of an earlier call (design R4). They are the first Messages of
// that call's complete request, and its answer as one more.
type Continues struct {
	Call     int    // number in that call's id
	Messages int    // number of messages; one more than the request has if its answer is included
	Sent     []Sent // the messages in which the answer was sent back; nil for one, as it was answered
}

// Sent is a message in which an answer, or a part of it, was sent back.
type Sent struct {
	Metadata modelio.Object // metadata of the message; nil if none
	Parts    []SentPart     // nil for those of the answer, unchanged
}

// A SentPart is a part of an answer that was sent back, or a part that was added to them.
type SentPart struct {
	Answer   int            // index of the part in the answer if Part is nil
	Metadata modelio.Object // metadata with which that part was sent; nil if unchanged
	Part     *modelio.Part  // a part that does not come from the answer
}

// Response is the answer to a call (SF "Response Fields").
type Response struct {
	modelio.Response // Candidates, Usage, Model and Error; ID and Metadata are not stored

	TokensUsed   *int64 // total; nil if the provider reported none
	LatencyMS    int64  // milliseconds from sending the request to the end of the answer
	Status       int    // HTTP status; 0 for a call that did not use HTTP
	Headers      map[string][]string
	TimingMS     []int64    // milliseconds from sending the request to each event of a stream
	RawOutputRef canon.Hash // hash of the provider's own bytes, which are next to the document
	// hash of the core of the request that was answered if it was a different one (design R11); empty otherwise
	Stale canon.Hash
	// why the API's codec could not decode the answer, so that the generic one did; empty if it could
	Note         string
	Incomplete   string    // "aborted", "ended" or "error" for a stream that was cut; empty if complete
	Readings     []Reading // what other programs read in the same bytes; readings about tool calls come first
	ReadingsMore int       // number of further readings
}

// A Reading is something that some programs read in the bytes of an answer and that the record does not contain.
type Reading struct {
	Event int    // number of the event in the stream, counted from 1; 0 if the answer is not a stream
	Kind  string // a kind defined in docs/format.md
	Says  string // the differing text, name or arguments
}

// IsOfCall reports whether r adds, changes or leaves out a tool call.
func (r Reading) IsOfCall() bool { return slices.Contains(callReadings, r.Kind) }

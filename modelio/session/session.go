package session

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Version is the version of MIO that sessions made by this package conform to.
const Version = "1.0.0"

// A Mode says how a session was made (MIO §3.5).
type Mode string

// The modes of MIO.
const (
	ModeRecord Mode = "record" // by recording live calls
	ModeReplay Mode = "replay" // for deterministic replay
)

func (m Mode) valid() bool { return m == ModeRecord || m == ModeReplay }

// A Session is a log of calls to a model, a model_io.json file (MIO §3). Its fields up to Interactions are its core,
// which [Session.Hash] covers, except for fields of interactions that are marked as ephemeral.
//
// A session is not safe for concurrent use while it is changed. A string from a file may contain a lone surrogate,
// which has no UTF-8. It is kept as the three bytes that UTF-8 would give it, so that reading and writing a file
// changes no hash.
type Session struct {
	SchemaVersion string // model_io_schema_version
	AdapterID     string // the adapter instance that made the session
	ModelID       string // the model, for people
	Mode          Mode
	Interactions  []Interaction

	// Ephemeral:

	CreatedAt string         // ISO 8601, UTC; empty if absent
	EndedAt   string         // ISO 8601, UTC; empty if absent
	Stats     *Stats         // nil if absent
	Unknown   modelio.Object // members that MIO does not name, or that have the wrong type
}

// An Interaction is one call to a model (MIO §3.3).
type Interaction struct {
	I               int        // counted from 0
	PromptHash      canon.Hash // of the prompt
	ResponseHash    canon.Hash // of ResponseContent
	ResponseContent string

	// Ephemeral:

	TokensInput  *int64         // nil if absent
	TokensOutput *int64         // nil if absent
	LatencyMS    *int64         // milliseconds; nil if absent
	Unknown      modelio.Object // members that MIO does not name, or that have the wrong type
}

// Stats are totals of a session's interactions (MIO §3.4).
type Stats struct {
	TotalInteractions int64 `json:"total_interactions"`
	TotalTokensInput  int64 `json:"total_tokens_input"`
	TotalTokensOutput int64 `json:"total_tokens_output"`
	TotalLatencyMS    int64 `json:"total_latency_ms"` // milliseconds
}

// New returns a session of mode record without interactions.
func New(adapterID, modelID string) *Session {
	return &Session{SchemaVersion: Version, AdapterID: adapterID, ModelID: modelID, Mode: ModeRecord}
}

// Append adds the interaction for a prompt and its response. It keeps only the hash of the prompt. Bytes that are not
// UTF-8 are replaced by U+FFFD.
func (s *Session) Append(prompt, response string) {
	in := newInteraction(prompt, response)
	in.I = len(s.Interactions)
	s.Interactions = append(s.Interactions, in)
}

func newInteraction(prompt, response string) Interaction {
	prompt = strings.ToValidUTF8(prompt, "\uFFFD")
	response = strings.ToValidUTF8(response, "\uFFFD")
	return Interaction{
		PromptHash:      canon.Sum([]byte(prompt)),
		ResponseHash:    canon.Sum([]byte(response)),
		ResponseContent: response,
	}
}

// Hash returns the ModelIOHash of s (MIO §4.4): the hash of its core, with the interactions in the order of their
// index. The core contains no times and no metrics (MI12). Hash does not verify s. An error names a string that is not
// UTF-8.
func (s *Session) Hash() (canon.Hash, error) {
	if err := s.checkStrings(); err != nil {
		return "", err
	}
	byIndex := make([]*Interaction, len(s.Interactions))
	for i := range s.Interactions {
		byIndex[i] = &s.Interactions[i]
	}
	inorder.By(byIndex, func(a, b *Interaction) int { return cmp.Compare(a.I, b.I) })

	core := sha256.New()
	fmt.Fprintf(core, `{"adapter_id":%s,"interactions":[`, canonicalString(s.AdapterID))
	for n, in := range byIndex {
		fmt.Fprintf(core, `%s{"i":%d,"prompt_hash":%s,"response_content":%s,"response_hash":%s}`,
			jsontext.AppendComma(nil, n),
			in.I, canonicalString(in.PromptHash), canonicalString(in.ResponseContent), canonicalString(in.ResponseHash))
	}
	fmt.Fprintf(core, `],"mode":%s,"model_id":%s,"model_io_schema_version":%s}`,
		canonicalString(s.Mode), canonicalString(s.ModelID), canonicalString(s.SchemaVersion))
	return canon.Hash(fmt.Sprintf("sha256:%x", core.Sum(nil))), nil
}

// checkStrings returns an error if a string is not UTF-8, except for lone surrogates.
func (s *Session) checkStrings() error {
	err := checkTexts("session", s.texts())
	for i := 0; err == nil && i < len(s.Interactions); i++ {
		if broken := checkTexts("interaction", s.Interactions[i].texts()); broken != nil {
			err = sessionError(fmt.Sprintf("/interactions/%d", i), broken)
		}
	}
	return err
}

func checkTexts(what string, texts []text) error {
	for _, t := range texts {
		if s := *t.value; !utf8.ValidString(s) && !utf8.Valid(toUTF8(s)) {
			return &modelio.FormatError{Type: what, Pointer: "/" + t.name, Problem: "string is not UTF-8"}
		}
	}
	return nil
}

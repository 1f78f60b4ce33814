package snapshot

import (
	"iter"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Under way.

// Parse reads a document.
func Parse(data []byte) (*Document, error) { panic("stub") }

// Seal chooses what the records continue and computes all hashes.
func (d *Document) Seal() error { panic("stub") }

// Encode returns the bytes of d's file.
func (d *Document) Encode() ([]byte, error) { panic("stub") }

// Examine is Parse that also asks for the layout.
func Examine(data []byte) (*Document, []Violation) { panic("stub") }

// RequestCore returns the canonical JSON of what a request asks for.
func RequestCore(r *modelio.Request, ignored []string) ([]byte, error) { panic("stub") }

// ResponseCore returns the canonical JSON of what a model said.
func ResponseCore(r *Response) ([]byte, error) { panic("stub") }

// SF returns the record in SF's literal form.
func (s *Snapshot) SF() ([]byte, error) { panic("stub") }

// Media returns the media that the record names, each once, in order of appearance.
func (s *Snapshot) Media() []Medium { panic("stub") }

// CombinedHash returns the hash of a document or a manifest (SF "Combined Hash").
func CombinedHash(version string, hashes iter.Seq[canon.Hash]) canon.Hash { panic("stub") }

// Split returns the pieces of a text.
func Split(text string) []string { panic("stub") }

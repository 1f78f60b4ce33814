package snapshot

// Stubs: the author of this package replaces this file.

import "github.com/traceforge/traceforge-go/modelio"

func Parse(data []byte) (*Document, error)                             { panic("stub") }
func (d *Document) Seal() error                                        { panic("stub") }
func (d *Document) Encode() ([]byte, error)                            { panic("stub") }
func Examine(data []byte) (*Document, []Violation)                     { panic("stub") }
func DocumentName(pkg, test string) string                             { panic("stub") }
func ID(document string, n int) string                                 { panic("stub") }
func ParseID(id string) (document string, n int, ok bool)              { panic("stub") }
func (s *Snapshot) Number() int                                        { panic("stub") }
func RequestCore(r *modelio.Request, ignored []string) ([]byte, error) { panic("stub") }
func ResponseCore(r *Response) ([]byte, error)                         { panic("stub") }
func RawName(n int, r *Response) string                                { panic("stub") }

type Violation struct{ Pointer, Rule, Message string }
type Finding struct{ File, Pointer, Rule, Message string }

package lint

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unique"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A document is the calls of a test while rules examine it. A place holds copies of its parts.
type document struct {
	*store.Doc
	test  page.Test
	calls []call
	size  int64

	tokens int64   // what recording it again would take
	cost   float64 // according to the prices
}

// A call is a call of a document.
type call struct {
	*snapshot.Snapshot
	index    int
	provider string
	raw      int64 // size of the raw answer in bytes
	base     *call // the call that it continues; nil if there is none
	priced   bool  // the prices say what it cost
}

func newDocument(d *store.Doc, prices Prices) *document {
	size, raw := Sizes(d)
	doc := &document{Doc: d, test: page.TestOf(d.Document), calls: make([]call, len(raw)), size: size}
	byNumber := map[int]*call{}
	for i := range doc.calls {
		s := &d.Document.Snapshots[i]
		cost, priced := prices.Cost(s)
		doc.calls[i] = call{s, i, cmp.Or(s.Provider, d.Provider), raw[i], nil, priced}
		if s.Continues != nil {
			doc.calls[i].base = byNumber[s.Continues.Call]
		}
		byNumber[s.Number()] = &doc.calls[i]
		doc.tokens, doc.cost = doc.tokens+doc.calls[i].tokens(), doc.cost+cost
	}
	return doc
}

// Sizes returns the sizes of a document's file and of the raw answer of each of its calls, in bytes. A missing or
// unreadable file has size 0, because verify reports it.
func Sizes(d *store.Doc) (document int64, raw []int64) {
	size := func(file string) int64 {
		info, err := os.Stat(d.Path(file))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	raw = make([]int64, len(d.Document.Snapshots))
	for i := range d.Document.Snapshots {
		if s := &d.Document.Snapshots[i]; s.Response.RawOutputRef != "" {
			raw[i] = size(d.Beside(snapshot.RawName(s.Number(), &s.Response)))
		}
	}
	return size(d.File()), raw
}

// own returns a copy of a text that shares no memory with a document; equal texts share one copy.
func own(text string) string { return unique.Make(text).Value() }

// whole returns the place of the complete document.
func (d *document) whole(format string, args ...any) Place {
	return Place{Test: d.test, File: own(d.File()), Message: own(fmt.Sprintf(format, args...))}
}

// at returns a place in a call.
func (d *document) at(c *call, pointer []string, format string, args ...any) Place {
	p := d.whole(format, args...)
	p.Call, p.number = strings.Clone(c.ID), c.Number()
	p.Pointer = jsontext.PointerTo(append([]string{"snapshots", strconv.Itoa(c.index)}, pointer...)...)
	return p
}

// matches reports whether the name of a member, or its value, matches.
func matches(o modelio.Object, re *regexp.Regexp) bool {
	for name, value := range o {
		if re.MatchString(name) || re.Match(value) {
			return true
		}
	}
	return false
}

// generated reports whether a model generated the answer.
func (c *call) generated() bool {
	codec, ok := provider.Named(c.Request.API)
	return ok && codec.Generates && c.Response.Error == nil && len(c.Response.Candidates) > 0
}

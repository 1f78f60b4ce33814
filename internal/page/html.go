package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// HTMLLimit is the maximum size of an HTML page in bytes.
const HTMLLimit = 4 << 20

// How many bytes each part leaves to the parts after it.
const (
	htmlRoomForTests    = HTMLLimit / 2
	htmlRoomForSections = HTMLLimit / 8
	htmlRoomForEnd      = 4 << 10
)

// htmlOpen is how many causes are unfolded when the page opens, and the maximum number of documents in a section that
// is unfolded.
const htmlOpen = 5

var (
	//go:embed html/page.html
	htmlTemplate string
	//go:embed html/page.css
	htmlStyleSheet string
	//go:embed html/page.js
	htmlScript string
)

// htmlFuncs are the functions by which the template shows texts and changes.
var htmlFuncs = template.FuncMap{
	"line": plaintext.Line, "where": Where, "change": htmlChangeOf,
}

// About describes an HTML page.
type About struct {
	Command  string // the command that wrote it: "traceforge diff"
	From, To string // the states that are compared; empty if unspecified
	All      string // the command that shows what is left out
	Accept   bool   // include the commands that accept the causes
}

// HTML returns the comparison as an HTML page of at most [HTMLLimit] bytes, in one file that loads nothing. It counts
// the parts that it leaves out. No content of a store is markup or script in the page: html/template escapes all of it,
// and a Content-Security-Policy permits only the page's own style and script. A comparison with only Causes becomes a
// page of these.
func (c *Comparison) HTML(about About) string {
	tmpl := template.Must(template.New("page").Funcs(htmlFuncs).Parse(htmlTemplate))
	h := &htmlWriter{tmpl: tmpl, all: about.All}
	blocks := Blocks(c.Causes)
	sections := c.Sections()
	changedTests := len(testsOf(callsOf(c.Causes)))
	top := htmlTopOf(c, about, len(blocks), changedTests, sections)
	h.always("head", top)

	if len(c.Config) > 0 {
		h.always("open section", configLink(c.Config))
		for _, s := range c.Config {
			h.part("setting", s, htmlRoomForTests)
		}
		h.end("change", "changes")
	}
	h.always("open causes", len(blocks))
	shown := map[Test]*htmlTest{}
	for _, t := range c.tests {
		shown[t.Of.Test] = t
	}
	of := map[*Cause]Block{}
	for i, b := range blocks {
		for _, cause := range b {
			of[cause] = b
		}
		v := &htmlCause{Block: b, Open: i < htmlOpen, shown: shown}
		v.tests()
		if about.Accept {
			v.Accept = plaintext.Line(Again(b[0].Calls, ""))
		}
		h.part("cause", v, htmlRoomForTests)
	}
	h.end("cause", "causes")

	if len(c.tests) > 0 {
		h.always("open tests", nil)
		// tests with changed answers first
		slices.SortStableFunc(c.tests, func(a, b *htmlTest) int { return min(b.answers, 1) - min(a.answers, 1) })
		for _, t := range c.tests {
			t.link(of)
			h.part("test", t, htmlRoomForSections)
		}
		h.leftOut += changedTests - len(c.tests)
		h.end("test", "tests")
	}
	for i, s := range sections {
		h.always("open section", sectionLink(i, s))
		for _, item := range s.Items {
			item.Open = !item.Same && len(item.Of.Glances) > 0 && len(s.Items) <= htmlOpen
			h.part("item", item, htmlRoomForEnd)
		}
		h.end("test", "tests")
	}
	h.always("foot", top)
	return h.text.String()
}

// An htmlWriter writes parts of a page as long as there is room.
type htmlWriter struct {
	text    strings.Builder
	tmpl    *template.Template
	all     string // the command that shows what is left out
	leftOut int    // parts of the current list
}

// part writes a part of a list if that leaves room bytes, and if all earlier parts of the list were written.
func (h *htmlWriter) part(name string, data any, room int) {
	if h.leftOut == 0 {
		if text := h.rendered(name, data); h.text.Len()+len(text) <= HTMLLimit-room {
			h.text.WriteString(text)
			return
		}
	}
	h.leftOut++
}

// always writes a small part, whatever room is left.
func (h *htmlWriter) always(name string, data any) { h.text.WriteString(h.rendered(name, data)) }

// end ends a list, and says what it left out.
func (h *htmlWriter) end(one, many string) {
	leftOut := ""
	if h.leftOut > 0 {
		leftOut = fmt.Sprintf("%s left out, since the page would be larger than %d MB",
			Count(h.leftOut, one+" is", many+" are"), HTMLLimit>>20)
	}
	h.leftOut = 0
	h.always("close", struct{ LeftOut, All string }{leftOut, h.all})
}

func (h *htmlWriter) rendered(name string, data any) string {
	var text strings.Builder
	if err := h.tmpl.ExecuteTemplate(&text, name, data); err != nil {
		panic(err) // unreachable: the template is ours, and tests use all of it
	}
	return text.String()
}

// An htmlTop is the head and the foot of a page.
type htmlTop struct {
	About
	Policy   string
	Style    template.CSS // the page's own, like Script
	Script   template.JS
	Title    string
	Contents []htmlLink
}

func htmlTopOf(c *Comparison, about About, causes, tests int, sections []Section) htmlTop {
	about.From, about.To = plaintext.Line(about.From), plaintext.Line(about.To)
	v := htmlTop{
		About: about, Style: template.CSS(htmlStyleSheet), Script: template.JS(htmlScript), Title: c.headline(),
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; "+
			"require-trusted-types-for 'script'; trusted-types 'none'", sourceHash(htmlStyleSheet), sourceHash(htmlScript)),
	}
	if len(c.Config) > 0 {
		v.Contents = append(v.Contents, configLink(c.Config))
	}
	if causes > 0 {
		v.Contents = append(v.Contents, htmlLink{ID: "causes", Text: Count(causes, "cause", "causes")})
	}
	if len(c.tests) > 0 {
		v.Contents = append(v.Contents, htmlLink{ID: "tests", Text: Count(tests, "test changed", "tests changed")})
	}
	for i, s := range sections {
		v.Contents = append(v.Contents, sectionLink(i, s))
	}
	return v
}

// headline describes the differences: "1 cause: 101 calls of 101 tests, 3 answers changed; 1 test added".
func (c *Comparison) headline() string {
	calls, answers := callsOf(c.Causes), map[Place]bool{}
	for _, cause := range c.Causes {
		for _, answered := range cause.Answers {
			answers[answered.Place] = true
		}
	}
	blocks := len(Blocks(c.Causes))
	if blocks == 0 {
		return c.Tally()
	}
	causes := fmt.Sprintf("%s: %s of %s", Count(blocks, "cause", "causes"), Count(len(calls), "call", "calls"),
		Count(len(testsOf(calls)), "test", "tests"))
	if len(answers) > 0 {
		causes += ", " + Count(len(answers), answerChanged, answersChanged)
	}
	return strings.Join(c.headlines(causes), "; ")
}

func configLink(all []*Setting) htmlLink { return htmlLink{ID: "config", Text: SettingsTitle(all)} }

func sectionLink(i int, s Section) htmlLink {
	return htmlLink{fmt.Sprintf("section-%d", i+1), s.Headline(), s.Note}
}

// sourceHash returns the source expression for a script or style in a policy (CSP3 "hash-source").
func sourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// callsOf returns the calls of causes without duplicates, in no particular order.
func callsOf(causes []*Cause) []Place {
	calls := map[Place]bool{}
	for _, c := range causes {
		for _, at := range c.Calls {
			calls[at] = true
		}
	}
	return slices.Collect(maps.Keys(calls))
}

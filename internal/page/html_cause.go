package page

import "github.com/traceforge/traceforge-go/internal/plaintext"

// How much of a cause the page holds.
const (
	htmlChanges = 20  // of a block
	htmlAnswers = 12  // of a block
	htmlTests   = 300 // of a block, by name
)

// An htmlCause is causes of the same calls as the page shows them.
type htmlCause struct {
	ID              string
	Open            bool
	Subject, Extent string
	First           string // the first call, which the changes are of
	Changes         []htmlChange
	MoreChanges     string
	Answers         []htmlAnswer
	MoreAnswers     string
	Tests           string // how many, where there are several
	Packages        []htmlPackage
	MoreTests       string
	Spent           string
	Accept          string
}

// An htmlAnswer is what an answer says now.
type htmlAnswer struct {
	Open    bool
	Where   string
	Sent    string // what it answers; empty: not known
	Changes []htmlChange
}

// An htmlPackage is tests of a package.
type htmlPackage struct {
	Package string
	Tests   []htmlLink
}

// An htmlLink names something that has, or may have, a place on the page.
type htmlLink struct{ ID, Text, Note string }

// AnswersInHTML is how many changed answers of a cause the page shows: see [Comparison.KeepAnswers].
const AnswersInHTML = htmlAnswers

// htmlCauseOf returns what the page shows of a block; shown are those whose conversations it shows.
func htmlCauseOf(b Block, shown map[Test]*htmlTest) *htmlCause {
	v := &htmlCause{
		ID: causeID(b), Subject: plaintext.Line(b.subject()), Extent: plaintext.Line(b.extent()), Spent: b.spent(),
	}
	v.First = plaintext.Line(Where(b[0].Calls[0]))
	if !b.onlyAnswers() {
		for i, c := range b {
			if i == htmlChanges {
				v.MoreChanges = "and " + Count(len(b)-i, "more change", "more changes")
				break
			}
			v.Changes = append(v.Changes, htmlChangeOf(c.Change, false))
		}
	}
	for i, answered := range b[0].Answers {
		if answered.Changes == nil || i == htmlAnswers {
			v.MoreAnswers = "and " + Count(len(b[0].Answers)-i, "more answer", "more answers") + " changed"
			break
		}
		a := htmlAnswer{Open: i == 0, Where: plaintext.Line(Where(answered.Place))}
		if test := shown[Test{answered.Package, answered.Test}]; test != nil {
			a.Sent = test.sent[answered.Call]
		}
		for _, c := range answered.Changes {
			a.Changes = append(a.Changes, htmlChangeOf(c, true))
		}
		v.Answers = append(v.Answers, a)
	}
	v.tests(b, shown)
	return v
}

func (v *htmlCause) tests(b Block, shown map[Test]*htmlTest) {
	tests := testsOf(b[0].Calls)
	if len(tests) == 1 {
		return // First names it
	}
	v.Tests = Count(len(tests), "test", "tests")
	at := map[string]int{} // by package
	for i, t := range tests {
		if i == htmlTests {
			v.MoreTests = "and " + Count(len(tests)-i, "more test", "more tests")
			break
		}
		in, known := at[t.Package]
		if !known {
			in = len(v.Packages)
			at[t.Package] = in
			v.Packages = append(v.Packages, htmlPackage{Package: plaintext.Line(t.Package)})
		}
		link := htmlLink{Text: plaintext.Line(t.Test.Test)}
		if test := shown[t.Test]; test != nil {
			link.ID = test.ID
		}
		if t.calls > 1 {
			link.Note = Count(t.calls, "call", "calls")
		}
		v.Packages[in].Tests = append(v.Packages[in].Tests, link)
	}
}

// causeID is the same on every page that shows the cause.
func causeID(b Block) string { return "cause-" + plaintext.Line(b[0].Key) } // a receipt may have any key

// links returns the places of the causes of a test.
func (t *htmlTest) links(blocks map[*Cause]Block) (links []htmlLink) {
	seen := map[string]bool{}
	for _, cause := range t.causes {
		b := blocks[cause]
		if id := causeID(b); !seen[id] {
			seen[id] = true
			links = append(links, htmlLink{ID: id, Text: plaintext.Line(b.subject())})
		}
	}
	return links
}

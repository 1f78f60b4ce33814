package coverage

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Elements of a JUnit report. There is no normative text, so these are what Jenkins and GitLab read.
type (
	junitReport struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Package string        `xml:"classname,attr"`
		Test    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Skipped *struct{}     `xml:"skipped"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the tests that used the store as a JUnit report. The first test of each cause has the drift in its
// failure, and the others refer to that test.
func (c *Report) JUnit() string {
	outcomes := map[page.Test]string{}
	for _, r := range c.receipts {
		test := testOf(r)
		if outcomes[test] == "" || r.Outcome == "pass" {
			outcomes[test] = r.Outcome
		}
	}
	failures := c.junitFailures()
	report := junitReport{Name: "traceforge", Tests: len(outcomes), Failures: len(failures)}
	for _, test := range slices.SortedFunc(maps.Keys(outcomes), page.Test.Compare) {
		if n := len(report.Suites); n == 0 || report.Suites[n-1].Name != plaintext.Line(test.Package) {
			report.Suites = append(report.Suites, junitSuite{Name: plaintext.Line(test.Package)})
		}
		suite := &report.Suites[len(report.Suites)-1]
		one := junitCase{Package: suite.Name, Test: plaintext.Line(test.Name), Failure: failures[test]}
		suite.Tests++
		switch {
		case one.Failure != nil:
			suite.Failures++
		case outcomes[test] == "skip":
			one.Skipped = &struct{}{}
		}
		suite.Cases = append(suite.Cases, one)
	}
	text, _ := xml.MarshalIndent(report, "", "  ") // texts and counts
	return xml.Header + string(text) + "\n"
}

func (c *Report) junitFailures() map[page.Test]*junitFailure {
	failures := map[page.Test]*junitFailure{}
	for _, test := range c.Failed {
		failures[test] = &junitFailure{Message: "failed, and no call drifted: see the test's output", Type: "other"}
	}
	for _, u := range c.Unanswered {
		failures[u.Test] = &junitFailure{Message: u.Reason, Type: "drift"}
	}
	for _, b := range page.Blocks(c.Causes) {
		first := page.Test{Package: b[0].Calls[0].Package, Name: b[0].Calls[0].Test}
		told := map[page.Test]bool{}
		for _, at := range b[0].Calls {
			test := page.Test{Package: at.Package, Name: at.Test}
			if told[test] {
				continue
			}
			told[test] = true
			text := b.Headline() + "\n"
			if test == first {
				text += b.Text()
			} else {
				text += "as in " + first.Name + " in " + first.Package + "\n"
			}
			text += "accept: " + c.again([]page.Place{at}, "") + "\n"
			if failures[test] == nil { // it makes fewer calls than were recorded
				failures[test] = &junitFailure{Message: strings.TrimSuffix(b.Headline(), "\n"), Type: "drift"}
			}
			failures[test].Text += plaintext.Text(text)
		}
	}
	return failures
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// callersRoom is the number of bytes in an issue's text reserved for the workflow that opens it, for example for a link
// to its run.
const callersRoom = 500

// check runs the tests and compares their stored answers with live ones.
func check(c *call) error {
	options, err := checkOptions(c)
	if err != nil {
		return err
	}
	patterns, run, err := c.selected("--check")
	if err != nil {
		return err
	}
	defer c.sayPrograms("--check")
	packages, err := recording(c, patterns, run)
	if err != nil {
		return err
	}
	if c.is("live") {
		return c.forks(packages, run, options)
	}
	c.say("checking: %s", page.Count(len(packages), "package", "packages"))
	env := []string{gotest.UpdateEnv + "=check", usage.CheckEnv + "=" + options.Encode()}
	receipts, ended, err := runTests(c, &coverage.GoTest{Packages: packages, Env: env}, run)
	if err != nil {
		return err
	}
	r := newChecked(receipts, ended)
	if left := c.unmet(r); left != "" {
		r.OK = false
		defer c.say("%s", left)
	}
	c.answer(r, func() {
		if c.is("markdown") {
			c.text(r.markdown(page.MarkdownLimit - callersRoom))
			return
		}
		c.text(r.text(c.spelled))
	})
	return withFindings(!r.OK)
}

// unmet reports that --from and --model select no recorded call; "" if they select some, or are not given. A sample and
// a shard may be empty.
func (c *call) unmet(r *checkReport) string {
	flags := option(" --from ", c.value("from")) + option(" --model ", strings.Join(c.values("model"), " "))
	n := r.Calls[usage.CheckUnchosen]
	if n == 0 || len(r.Calls) > 1 || flags == "" || c.value("sample")+c.value("shard") != "" {
		return ""
	}
	return fmt.Sprintf("nothing was checked:%s chooses none of %s", flags,
		page.Count(n, "recorded call", "recorded calls"))
}

// checkOptions returns the flags in the form that the tests accept.
func checkOptions(c *call) (url.Values, error) {
	values := url.Values{}
	for _, name := range []string{"repeat", "sample", "shard", "tier", "from", "kind"} {
		if value := c.value(name); value != "" {
			values.Set(name, value)
		}
	}
	models := c.values("model")
	if len(models) > 1 && !c.is("live") {
		return nil, usagef("--model may be given several times with --live only")
	}
	values.Set("brief", "1") // the output has the rest
	for _, model := range append(models, "") {
		if model != "" {
			values.Set("model", model)
		}
		o, err := usage.ParseCheckOptions(values.Encode())
		if err != nil {
			return nil, usagef("--%s", strings.TrimPrefix(err.Error(), usage.CheckEnv+": "))
		}
		if c.is("live") && !o.IsLive() {
			return nil, usagef("--live goes with --kind, --from and --model, and no other flag that chooses calls")
		}
	}
	return values, nil
}

// A checkReport is the result of a check over all tests.
type checkReport struct {
	OK       bool           `json:"ok"`       // whether all calls that were made are the same
	Calls    map[string]int `json:"calls"`    // number of calls by result
	Tiers    []tierCount    `json:"tiers"`    // comparison of the answered calls, by tier
	Input    int64          `json:"input"`    // input tokens of the live calls
	Output   int64          `json:"output"`   // output tokens of the live calls
	Compared []checkedCall  `json:"compared"` // calls whose answers differ, or that were sent to another model
	NotMade  []checkedCall  `json:"not_made"` // calls that were selected but have no live answer
	Failed   []page.Test    `json:"failed"`   // tests that failed for other reasons

	unlike map[page.Test]int // number of calls in failed tests that did not match their records
}

// A tierCount is the number of calls that are the same or differ in a tier.
type tierCount struct {
	Tier    string `json:"tier"`    // name of the tier
	Held    bool   `json:"held"`    // whether a difference fails the test
	Same    int    `json:"same"`    // number of calls that are the same
	Differs int    `json:"differs"` // number of calls that differ
}

// A checkedCall is a call and its test.
type checkedCall struct {
	page.Test
	usage.Check
	gone bool // not made, since the provider no longer offers the model
}

// newChecked summarizes the results of the tests, ordered by package, test and call.
func newChecked(receipts []usage.Receipt, ended coverage.Outcomes) *checkReport {
	r := &checkReport{
		OK: true, Calls: map[string]int{}, Compared: []checkedCall{}, NotMade: []checkedCall{}, Failed: []page.Test{},
		unlike: map[page.Test]int{},
	}
	for _, tier := range usage.Tiers {
		r.Tiers = append(r.Tiers, tierCount{Tier: tier})
	}
	slices.SortStableFunc(receipts, coverage.ByTest)
	told, explained := map[string]bool{}, map[page.Test]bool{} // packages and tests
	for _, receipt := range receipts {
		test := page.Test{Package: receipt.Package, Name: receipt.Test}
		for _, found := range receipt.Checks {
			explained[test] = r.add(checkedCall{test, found, slices.Contains(receipt.Gone, found.Why)}) || explained[test]
		}
		if receipt.Outcome == "fail" {
			r.Failed, r.unlike[test] = inorder.With(r.Failed, test), len(receipt.Drifts)
			told[test.Package] = true
		}
	}
	r.Failed = slices.DeleteFunc(r.Failed, func(t page.Test) bool { return explained[t] }) // perhaps by another shard
	for _, failed := range ended.Failed() {
		if r.OK = false; !told[failed] {
			r.Failed = append(r.Failed, page.Test{Package: failed})
		}
	}
	return r
}

// add adds a call, and reports whether it fails its test.
func (r *checkReport) add(found checkedCall) (fails bool) {
	r.Calls[found.State]++
	r.Input, r.Output = r.Input+found.Input, r.Output+found.Output
	for _, t := range found.Tiers {
		sum := r.tier(t.Tier)
		if sum.Held = t.Held; t.Same {
			sum.Same++
		} else {
			sum.Differs++
		}
	}
	switch found.State {
	case usage.CheckDrifted, usage.CheckVaried:
		fails = true
		r.Compared = append(r.Compared, found)
	case usage.CheckUnchecked, usage.CheckUncheckable:
		fails = found.State == usage.CheckUnchecked
		r.NotMade = append(r.NotMade, found)
	case usage.CheckSame:
		if found.AskedModel != "" {
			r.Compared = append(r.Compared, found)
		}
	}
	r.OK = r.OK && !fails
	return fails
}

// tier returns the count of a tier. The tier of tool results exists only if one was compared.
func (r *checkReport) tier(name string) *tierCount {
	i := slices.IndexFunc(r.Tiers, func(t tierCount) bool { return t.Tier == name })
	if i < 0 {
		i = len(r.Tiers)
		r.Tiers = append(r.Tiers, tierCount{Tier: name})
	}
	return &r.Tiers[i]
}

// title summarizes the results of the calls.
func (r *checkReport) title() string {
	return cmp.Or(strings.Join(page.Counts(usage.CheckStates, r.Calls), ", "), "no call was checked")
}

// notes returns lines on calls without a live answer, by reason, and on tests that failed for other reasons.
func (r *checkReport) notes(quote func(string) string) (lines []string) {
	type reason struct{ state, why string }
	calls, tests := map[reason]int{}, map[string][]page.Test{} // for models that are gone, by message
	for _, found := range r.NotMade {
		if found.gone {
			tests[found.Why] = inorder.With(tests[found.Why], found.Test)
			continue
		}
		calls[reason{found.State, found.Why}]++
	}
	reasons := slices.SortedFunc(maps.Keys(calls), func(a, b reason) int {
		return cmp.Or(-strings.Compare(a.state, b.state), calls[b]-calls[a], strings.Compare(a.why, b.why))
	})
	for _, why := range reasons {
		are := page.Count(calls[why], "call is", "calls are")
		lines = append(lines, fmt.Sprintf("%s %s: %s", are, why.state, quote(why.why)))
	}
	for _, why := range slices.Sorted(maps.Keys(tests)) {
		lines = append(lines, goneModel(quote(why), len(tests[why])))
	}
	for _, test := range r.Failed {
		name, why := quote(test.Name)+" in "+quote(test.Package), ", for another reason"
		if test.Name == "" {
			name, why = quote(test.Package), ""
		}
		if n := r.unlike[test]; n > 0 {
			why = ": " + page.Count(n, "call is", "calls are") + " not as recorded, and go test says what changed"
		}
		lines = append(lines, name+" failed"+why)
	}
	return page.Most(30, lines, "more")
}

// heading describes the result of a call.
func (found *checkedCall) heading(quote func(string) string) string {
	what := "asked " + quote(found.AskedModel) + ", which says the same in what is held"
	switch tiers, _ := found.FailedTiers(); found.State {
	case usage.CheckDrifted:
		what = "drifted: " + strings.Join(tiers, ", ")
	case usage.CheckVaried:
		what = found.Varied()
	}
	return fmt.Sprintf("%s in %s, call %d: %s", quote(found.Test.Name), quote(found.Package), found.Number, what)
}

// facts returns lines on a call besides its heading and its differences.
func (found *checkedCall) facts(quote func(string) string) []string {
	lines := append([]string{"record: " + quote(found.File)}, found.Facts(quote)...)
	if found.Accept != "" {
		lines = append(lines, "accept: "+quote(found.Accept))
	}
	return lines
}

// difference returns the two answers tier by tier. If another model was requested on purpose, it also names the tiers
// that are the same.
func (found *checkedCall) difference() string {
	var b strings.Builder
	for _, t := range found.Tiers {
		switch {
		case t.Same && found.AskedModel != "":
			fmt.Fprintf(&b, "  %s: the same\n", t.Tier)
		case !t.Same && !t.Held:
			fmt.Fprintf(&b, "  %s, which is not held:\n%s", t.Tier, t.Diff)
		case !t.Same:
			fmt.Fprintf(&b, "  %s:\n%s", t.Tier, t.Diff)
		}
	}
	return b.String()
}

// text returns the report for people, with its notes as spelled writes their commands. Answers are not spelled.
func (r *checkReport) text(spelled func(string) string) string {
	plain := func(s string) string { return s }
	var b strings.Builder
	for _, found := range r.Compared {
		fmt.Fprintf(&b, "%s\n%s  %s\n\n", found.heading(plain), found.difference(), strings.Join(found.facts(plain), "\n  "))
	}
	for _, line := range r.notes(plain) {
		b.WriteString(spelled(line) + "\n")
	}
	for _, t := range r.Tiers {
		if t.Same+t.Differs > 0 && t.Tier != usage.ResultTier { // the title covers the others
			fmt.Fprintf(&b, "%-7s %d same, %d differ%s\n", t.Tier+":", t.Same, t.Differs, notHeld(t))
		}
	}
	fmt.Fprintf(&b, "%s; the live calls took %d tokens in and %d out\n", r.title(), r.Input, r.Output)
	return b.String()
}

func notHeld(t tierCount) string {
	if t.Held {
		return ""
	}
	return ", not held"
}

// mostOfCall is the maximum number of bytes in Markdown for the differences of one call.
const mostOfCall = 6000

// markdown returns the report in at most limit bytes of GitHub-flavoured Markdown, with the number of omitted calls.
// Its quotes contain no active markup or mentions.
func (r *checkReport) markdown(limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### traceforge check: %s\n\n| tier | same | differ |\n|---|--:|--:|\n", r.title())
	for _, t := range r.Tiers {
		fmt.Fprintf(&b, "| %s%s | %d | %d |\n", t.Tier, notHeld(t), t.Same, t.Differs)
	}
	fmt.Fprintf(&b, "\nThe live calls took %d tokens in and %d out.\n", r.Input, r.Output)
	var end strings.Builder
	for _, line := range r.notes(shortCode) {
		end.WriteString("\n- " + line)
	}
	const room = 100 // for the last line
	for i := range r.Compared {
		found := &r.Compared[i]
		diff := found.difference()
		if len(diff) > mostOfCall {
			cut := strings.LastIndexByte(diff[:mostOfCall], '\n') + 1
			diff = diff[:cut] + fmt.Sprintf("  … %d bytes more\n", len(diff)-cut)
		}
		section := fmt.Sprintf("\n#### %s\n\n%s\n- %s\n", found.heading(shortCode), page.CodeBlock("diff", diff),
			strings.Join(found.facts(shortCode), "\n- "))
		if b.Len()+len(section)+end.Len()+room > limit {
			left := len(r.Compared) - i
			are := page.Count(left, "more call is", "more calls are")
			fmt.Fprintf(&b, "\n%s not shown: traceforge check shows them all.\n", are)
			break
		}
		b.WriteString(section)
	}
	if end.Len() > 0 {
		b.WriteString(end.String() + "\n")
	}
	return b.String()
}

// shortCode quotes the beginning of a text.
func shortCode(text string) string { return page.Code(page.Clip(text, 300)) }

// A comparison is the result of check --live: the outcome of each test with live answers of several models.
type comparison struct {
	OK   bool   `json:"ok"`   // all tests passed with all models
	Runs []fork `json:"runs"` // one for each test and model
}

// A fork is a run of a test on live answers.
type fork struct {
	Model string `json:"model,omitempty"` // the requested model, as --model names it; empty for the model in the code
	page.Test
	Outcome string       `json:"outcome"`        // pass, fail or skip
	Why     string       `json:"why,omitempty"`  // the first message of a test that failed
	Calls   int          `json:"calls"`          // number of live calls
	Input   int64        `json:"input"`          // input tokens of the live calls
	Output  int64        `json:"output"`         // tokens of the live answers
	Cost    *float64     `json:"cost,omitempty"` // cost by the prices of config.json; omitted if a price is unknown
	Seconds float64      `json:"seconds"`        // duration in seconds
	Models  []usage.Live `json:"models"`         // the models that answered
}

// forks runs tests on live answers, once for each model.
func (c *call) forks(packages []coverage.Package, run string, values url.Values) error {
	s, _, err := place.OpenStore("")
	if err != nil {
		return err
	}
	config, err := s.Config()
	if err != nil {
		return err
	}
	found := comparison{OK: true, Runs: []fork{}}
	for _, model := range orOne(c.values("model"), "") {
		if values.Del("model"); model != "" {
			values.Set("model", model)
		}
		c.say("live: %s%s", page.Count(len(packages), "package", "packages"), strings.TrimRight(", "+model, ", "))
		test := &coverage.GoTest{Packages: packages,
			Env: []string{gotest.UpdateEnv + "=live", usage.CheckEnv + "=" + values.Encode()}}
		receipts, ended, err := runTests(c, test, run)
		if err != nil {
			return err
		}
		found.OK = found.OK && len(ended.Failed()) == 0
		for _, receipt := range receipts {
			found.Runs = append(found.Runs, forkOf(config, model, receipt, test))
		}
	}
	slices.SortStableFunc(found.Runs, func(a, b fork) int { return a.Test.Compare(b.Test) })
	c.answer(found, func() { c.table(found.table()) })
	if len(found.Runs) == 0 {
		return errors.New("no test with a recorder ran")
	}
	return withFindings(!found.OK)
}

// forkOf combines a receipt and the result of go test for one run.
func forkOf(config *store.Config, model string, r usage.Receipt, test *coverage.GoTest) fork {
	name := page.Test{Package: r.Package, Name: r.Test}
	f := fork{Model: model, Test: name, Outcome: r.Outcome, Why: test.Said[name], Seconds: test.Elapsed[name],
		Models: orEmpty(r.Live)}
	_, asked, _ := strings.Cut(model, "=")
	cost, known := 0.0, len(r.Live) > 0
	for _, l := range r.Live {
		f.Calls, f.Input, f.Output = f.Calls+l.Calls, f.Input+l.Input, f.Output+l.Output
		used := &modelio.Usage{InputTokens: &l.Input, OutputTokens: &l.Output}
		more, ok := lint.Prices(config.Prices).Cost(&snapshot.Snapshot{
			Request:  modelio.Request{Model: asked},
			Response: snapshot.Response{Response: modelio.Response{Model: l.Model, Usage: used}},
		})
		cost, known = cost+more, known && ok
	}
	if known {
		f.Cost = &cost
	}
	return f
}

// table has a line for each test and model. A test with the name of one in another package has its package.
func (r *comparison) table() *page.Table {
	named := func(f *fork) string {
		if slices.ContainsFunc(r.Runs, func(o fork) bool { return o.Test.Name == f.Test.Name && o.Package != f.Package }) {
			return f.Test.Name + " in " + f.Package
		}
		return f.Test.Name
	}
	of := func(cell func(*fork) string) func(int) string {
		return func(row int) string { return cell(&r.Runs[row]) }
	}
	return &page.Table{Rows: len(r.Runs), Columns: []page.Column{
		{Name: "test", Shrinks: true, Cell: of(named)},
		{Name: "model", Shrinks: true, Cell: of(func(f *fork) string { return cmp.Or(f.Model, "(as it is)") })},
		{Name: "outcome", Shrinks: true,
			Cell: of(func(f *fork) string { return strings.TrimSuffix(f.Outcome+": "+f.Why, ": ") })},
		{Name: "calls", Right: true, Cell: of(func(f *fork) string { return fmt.Sprint(f.Calls) })},
		{Name: "tokens", Right: true, Cell: of(func(f *fork) string { return fmt.Sprint(f.Input + f.Output) })},
		{Name: "cost", Right: true, Cell: of(func(f *fork) string {
			if f.Cost == nil {
				return ""
			}
			return fmt.Sprintf("%.4f", *f.Cost)
		})},
		{Name: "time", Right: true, Cell: of(func(f *fork) string { return fmt.Sprintf("%.2fs", f.Seconds) })},
	}}
}

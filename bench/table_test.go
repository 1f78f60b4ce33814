package bench

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The benchmarks are the rows of docs/performance.md. Each runs its work beside the limit and the peers in turn, in one
// process, and reports the ratios of the medians. With -table they are printed as Markdown too, and with -page they take
// the place of the table in a page.
var (
	asTable = flag.Bool("table", false, "print the rows as Markdown at the end")
	page    = flag.String("page", "", "write the rows into this page, behind its line "+tableMark)
	tests   = flag.Int("tests", 10_000, "tests of the stores that are written, compared and verified")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *asTable {
		print(os.Stdout)
	}
	if *page != "" && code == 0 {
		if err := writePage(*page); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// tableMark is the line of a page that the table stands behind, as its last part.
const tableMark = "<!-- make bench writes what follows -->"

// writePage puts the table, with its date, in the place of what a page has behind its mark.
func writePage(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, ok := strings.Cut(string(text), tableMark)
	if !ok {
		return fmt.Errorf("%s has no line %s", file, tableMark)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n%s, ", before, tableMark, time.Now().Format(time.DateOnly))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil { // of a quiet machine it is 1 to 2
		begin, _, _ := strings.Cut(string(load), " ")
		fmt.Fprintf(&b, "load average %s at the end, ", begin)
	}
	print(&b)
	return os.WriteFile(file, []byte(b.String()), 0o666)
}

// A row is one line of the table.
type row struct {
	work   string
	limit  string // what it is, and how long it took
	peers  string
	ours   string
	wanted string // unbound: nothing is
	met    bool

	kind  string        // rows of one kind of limit do the same work there
	each  time.Duration // what the limit of an operation took
	spare float64       // what is wanted, in parts of what came; 0: the limit has no part in it
}

// unbound is wanted of a row that has no bound.
const unbound = "–"

// alike is by how much the limits of one kind may differ. Beyond it a ratio says more of the limit than of us.
const alike = 1.25

var rows []row

// verdict says whether a row of a table is met, and whether it would be with the fastest limit of its kind.
func (r row) verdict(all []row) string {
	slow := 1.0
	for _, other := range all {
		if r.kind != "" && other.kind == r.kind {
			slow = max(slow, float64(r.each)/float64(other.each))
		}
	}
	said := "short"
	switch {
	case r.wanted == unbound:
		said = unbound
	case r.met && r.spare > 0 && r.spare < slow:
		said = "met by a slow limit"
	case r.met:
		said = "met"
	}
	if slow > alike {
		said += fmt.Sprintf("; the limit takes %.3gx of that of a like row", slow)
	}
	return said
}

// print writes the table.
func print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s/%s, %d processors\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintln(w, "| work | limit | peers | traceforge | wanted | |\n|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.work, r.limit, cmp.Or(r.peers, "–"), r.ours, r.wanted, r.verdict(rows))
	}
}

// add adds a row; one that was run again, as go test does with -count, takes the place of the former.
func add(r row) {
	same := func(other row) bool { return other.work == r.work }
	if i := slices.IndexFunc(rows, same); i >= 0 {
		rows[i] = r
		return
	}
	rows = append(rows, r)
}

// A contestant does the work of a row once, and returns how long that took: what it prepares does not count.
type contestant struct {
	name  string
	run   func() time.Duration
	later *[]time.Duration // of each call but the first; nil: calls are not told apart
}

// A contest is what came of contestants that ran in turn: medians of their runs, and of their later calls.
type contest struct {
	names []string
	took  map[string]time.Duration
	later map[string]time.Duration
}

// compete runs the contestants in turn, as often as -benchtime says. The first one is the limit.
func compete(b *testing.B, all ...contestant) contest {
	b.Helper()
	took := map[string][]time.Duration{}
	for _, c := range all {
		c.run() // warm
		if c.later != nil {
			*c.later = nil
		}
	}
	for b.Loop() {
		for _, c := range all {
			took[c.name] = append(took[c.name], c.run())
		}
	}
	result := contest{took: map[string]time.Duration{}, later: map[string]time.Duration{}}
	for _, c := range all {
		result.names = append(result.names, c.name)
		result.took[c.name] = median(took[c.name])
		b.ReportMetric(float64(result.took[c.name]), "ns/"+strings.ReplaceAll(c.name, " ", "-"))
		if c.later != nil {
			result.later[c.name] = median(*c.later)
		}
	}
	for name := range result.took {
		if name != result.names[0] {
			b.ReportMetric(result.ratio(name), "x-"+strings.ReplaceAll(name, " ", "-"))
		}
	}
	b.ReportMetric(0, "ns/op")
	return result
}

// median returns the middle one of durations; 0: there are none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ratio returns how many times as long as the limit a contestant took.
func (c contest) ratio(name string) float64 {
	return float64(c.took[name]) / float64(c.took[c.names[0]])
}

// p50 returns the same of the later calls, the first one left out.
func (c contest) p50(name string) float64 {
	return float64(c.later[name]) / float64(c.later[c.names[0]])
}

// row returns the row of a contest: n operations were one run. atMost is 0 where nothing is wanted.
func (c contest) row(work string, n int, atMost float64) row {
	r := row{work: work, wanted: unbound, each: c.took[c.names[0]] / time.Duration(n)}
	if atMost > 0 {
		r.wanted, r.spare = fmt.Sprintf("at most %gx", atMost), atMost/c.ratio(ours)
		r.met = r.spare >= 1
	}
	r.limit = fmt.Sprintf("%s %s", c.names[0], short(r.each))
	r.ours = fmt.Sprintf("%.3gx", c.ratio(ours))
	r.peers = c.peers(func(name string) string { return fmt.Sprintf("%.3gx", c.ratio(name)) })
	return r
}

// perCall is the row of calls of one test: the mean with the first call, and in brackets the median of the others. p50 is 0 where
// nothing is wanted of that.
func (c contest) perCall(work string, n int, mean, p50 float64) row {
	r := c.row(work, n, mean)
	both := func(name string) string { return fmt.Sprintf("%.3gx (%.3gx)", c.ratio(name), c.p50(name)) }
	r.ours, r.peers = both(ours), c.peers(both)
	if p50 > 0 {
		r.wanted += fmt.Sprintf(" (%gx)", p50)
		r.spare = min(r.spare, p50/c.p50(ours))
		r.met = r.spare >= 1
	}
	return r
}

// peers lists the contestants that are neither the limit nor ours.
func (c contest) peers(figure func(name string) string) string {
	var list []string
	for _, name := range c.names[1:] {
		if name != ours {
			list = append(list, name+" "+figure(name))
		}
	}
	return strings.Join(list, ", ")
}

// like says which work the limit of a row does.
func (r row) like(kind string) row {
	r.kind = kind
	return r
}

// also holds one more figure of a row against what is wanted of it.
func (r row) also(value, atMost float64, unit string) row {
	r.ours += fmt.Sprintf(", %.3g %s", value, unit)
	r.wanted += fmt.Sprintf(", %g %s", atMost, unit)
	r.met = r.met && value <= atMost
	return r
}

// short returns a duration with three digits.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// allocations returns how often f allocates.
func allocations(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

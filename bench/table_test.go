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

// The benchmarks are the rows of docs/performance.md. Each runs its work, the limit and the peers in turn in one
// process, and reports the ratios of the medians. -table also prints them as Markdown, and -page replaces the table in
// a page with them.
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

// tableMark is the line of a page before its table. The table is the last part of the page.
const tableMark = "<!-- make bench writes what follows -->"

// writePage replaces everything after the page's mark with the table and its date.
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
	if load, err := os.ReadFile("/proc/loadavg"); err == nil { // 1 to 2 on a quiet machine
		begin, _, _ := strings.Cut(string(load), " ")
		fmt.Fprintf(&b, "load average %s at the end, ", begin)
	}
	print(&b)
	return os.WriteFile(file, []byte(b.String()), 0o666)
}

// A row is one line of the table.
type row struct {
	work   string
	limit  string // the limit's name and time
	peers  string
	ours   string
	wanted string // the bound, or unbound
	met    bool

	kind  string        // the kind of limit; the limits of one kind do the same work
	each  time.Duration // the limit's time per operation
	spare float64       // the bound divided by the measured ratio; 0 if there is no bound on a ratio
}

// unbound is the value of wanted in a row without a bound.
const unbound = "–"

// alike is the greatest ratio between limits of one kind. With a greater ratio, a row's figure depends on its limit
// more than on us.
const alike = 1.25

var rows []row

// verdict tells whether a row meets its bound, and whether it would do so with the fastest limit of its kind.
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

// add adds a row. If the row was run before, as with go test -count, it replaces the former.
func add(r row) {
	same := func(other row) bool { return other.work == r.work }
	if i := slices.IndexFunc(rows, same); i >= 0 {
		rows[i] = r
		return
	}
	rows = append(rows, r)
}

// A contestant does the work of a row once and returns its time, without the preparation.
type contestant struct {
	name  string
	run   func() time.Duration
	later *[]time.Duration // times of all calls except the first; nil if calls are not timed separately
}

// A contest holds the results of contestants that ran in turn: the median times of their runs and of their later calls.
type contest struct {
	names []string
	took  map[string]time.Duration
	later map[string]time.Duration
}

// compete runs the contestants in turn, -benchtime times. The first contestant is the limit.
func compete(b *testing.B, all ...contestant) contest {
	b.Helper()
	took := map[string][]time.Duration{}
	for _, c := range all {
		c.run() // warm up
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

// median returns the median of durations, or 0 if there are none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ratio returns a contestant's time divided by the limit's.
func (c contest) ratio(name string) float64 {
	return float64(c.took[name]) / float64(c.took[c.names[0]])
}

// p50 returns the same ratio for the later calls, without the first one.
func (c contest) p50(name string) float64 {
	return float64(c.later[name]) / float64(c.later[c.names[0]])
}

// row returns the row of a contest whose runs had n operations. If atMost is 0, the row has no bound.
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

// perCall returns the row of a contest whose runs were tests of n calls: the mean including the first call, and in
// brackets the median of the later ones. If p50 is 0, the median has no bound.
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

// peers formats the figures of all contestants except the limit and ours.
func (c contest) peers(figure func(name string) string) string {
	var list []string
	for _, name := range c.names[1:] {
		if name != ours {
			list = append(list, name+" "+figure(name))
		}
	}
	return strings.Join(list, ", ")
}

// like sets the kind of a row's limit.
func (r row) like(kind string) row {
	r.kind = kind
	return r
}

// also adds another figure and its bound to a row.
func (r row) also(value, atMost float64, unit string) row {
	r.ours += fmt.Sprintf(", %.3g %s", value, unit)
	r.wanted += fmt.Sprintf(", %g %s", atMost, unit)
	r.met = r.met && value <= atMost
	return r
}

// short formats a duration with three digits.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// allocations returns the number of allocations of f.
func allocations(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

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
	wanted string
	met    bool
}

var rows []row

// print writes the table.
func print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s/%s, %d processors\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintln(w, "| work | limit | peers | traceforge | wanted | |\n|---|---|---|---|---|---|")
	for _, r := range rows {
		mark := "short"
		if r.met {
			mark = "met"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.work, r.limit, cmp.Or(r.peers, "–"), r.ours, r.wanted, mark)
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
	name string
	run  func() time.Duration
}

// A contest is what came of contestants that ran in turn: medians.
type contest struct {
	names []string
	took  map[string]time.Duration
}

// compete runs the contestants in turn, as often as -benchtime says. The first one is the limit.
func compete(b *testing.B, all ...contestant) contest {
	b.Helper()
	took := map[string][]time.Duration{}
	for _, c := range all {
		c.run() // warm
	}
	for b.Loop() {
		for _, c := range all {
			took[c.name] = append(took[c.name], c.run())
		}
	}
	result := contest{took: map[string]time.Duration{}}
	for _, c := range all {
		result.names = append(result.names, c.name)
		slices.Sort(took[c.name])
		result.took[c.name] = took[c.name][len(took[c.name])/2]
		b.ReportMetric(float64(result.took[c.name]), "ns/"+strings.ReplaceAll(c.name, " ", "-"))
	}
	for name := range result.took {
		if name != result.names[0] {
			b.ReportMetric(result.ratio(name), "x-"+strings.ReplaceAll(name, " ", "-"))
		}
	}
	b.ReportMetric(0, "ns/op")
	return result
}

// ratio returns how many times as long as the limit a contestant took.
func (c contest) ratio(name string) float64 {
	return float64(c.took[name]) / float64(c.took[c.names[0]])
}

// row returns the row of a contest: n operations were one run.
func (c contest) row(work string, n int, atMost float64) row {
	r := row{work: work, wanted: fmt.Sprintf("at most %gx", atMost), met: c.ratio(ours) <= atMost}
	r.limit = fmt.Sprintf("%s %s", c.names[0], short(c.took[c.names[0]]/time.Duration(n)))
	r.ours = fmt.Sprintf("%.3gx", c.ratio(ours))
	var peers []string
	for _, name := range c.names[1:] {
		if name != ours {
			peers = append(peers, fmt.Sprintf("%s %.3gx", name, c.ratio(name)))
		}
	}
	r.peers = strings.Join(peers, ", ")
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

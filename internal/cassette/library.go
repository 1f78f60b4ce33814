package cassette

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/recorder"
)

// A Library answers the calls of many tests from many recordings, as the server for [recorder.Recordings]. Tests may
// share a recording: each is served all of it. The zero value is empty.
type Library struct {
	mu      sync.Mutex
	volumes []*volume
	at      map[string][]*volume // by method and URL, and by method, URL and body
}

// A volume is a recording in a library.
type volume struct {
	*Recording
	file  string             // relative to the working directory
	pkg   string             // import path of the nearest package at or above it
	name  string             // see bare
	lent  map[string]callSet // calls that answered, by test
	asked callSet            // calls that answered any test
}

// Add appends a recording.
func (l *Library) Add(file, pkg string, r *Recording) {
	name := strings.TrimSuffix(file, ".gz")
	v := &volume{r, file, pkg, bare(strings.TrimSuffix(name, path.Ext(name))), map[string]callSet{}, callSet{}}
	if l.at == nil {
		l.at = map[string][]*volume{}
	}
	l.volumes = append(l.volumes, v)
	for _, c := range r.Calls {
		for _, at := range []string{c.request.at(), c.request.whole()} {
			if in := l.at[at]; len(in) == 0 || in[len(in)-1] != v {
				l.at[at] = append(in, v)
			}
		}
	}
}

func (r *request) at() string    { return r.method + " " + place(r.url) }
func (r *request) whole() string { return r.at() + "\n" + r.body }

// ServeHTTP answers a [recorder.RecordedCall].
func (l *Library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call recorder.RecordedCall
	err := json.NewDecoder(r.Body).Decode(&call)
	asked := &request{call.Method, parsed(call.URL), meaning(call.Type, call.Body)}
	if err != nil || asked.url == nil {
		http.Error(w, "no call", http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	json.NewEncoder(w).Encode(l.answer(call.Of.Package, call.Of.Test, asked, call.Taken))
}

// answer answers from a recording that has answered the test before. Otherwise it prefers recordings of the test's own
// package, then those whose path is most similar to the test's name, then those that no test has used.
func (l *Library) answer(pkg, test string, asked *request, taken []string) recorder.RecordedAnswer {
	who := pkg + " " + test
	if len(taken) > 0 { // otherwise a new test would go through thousands of recordings
		for _, v := range l.at[asked.at()] {
			if passed := v.passed(v.lent[who], taken); len(passed) > 0 {
				v.lend(who, passed)
			}
		}
	}
	var near []*volume
	first := map[bool]int{true: -1}
	for _, at := range []string{asked.whole(), asked.at()} {
		near = slices.Clone(l.at[at])
		slices.SortStableFunc(near, func(x, y *volume) int {
			return cmp.Or(first[x.lent[who] != nil]-first[y.lent[who] != nil], first[x.pkg == pkg]-first[y.pkg == pkg],
				cmp.Compare(y.likeness(test), x.likeness(test)), first[len(x.lent) == 0]-first[len(y.lent) == 0])
		})
		for _, v := range near {
			c, why := v.find(asked, v.lent[who])
			if c == nil || why != "" && at == asked.whole() {
				continue
			}
			v.lend(who, v.upTo(c))
			return recorder.RecordedAnswer{Status: c.status, Header: c.head(why), Body: c.body}
		}
	}
	if len(near) > 0 {
		return recorder.RecordedAnswer{Missing: near[0].missing(asked)}
	}
	return recorder.RecordedAnswer{Missing: "no recording has an answer for " + asked.at()}
}

// lend notes calls that have answered a test, or records of it.
func (v *volume) lend(who string, calls callSet) {
	if v.lent[who] == nil {
		v.lent[who] = callSet{}
	}
	maps.Copy(v.lent[who], calls)
	maps.Copy(v.asked, calls)
}

// Unasked reports, for each recording, how many of its calls no test has made, and no record was taken from. taken has
// the origins of the records, by the package of their test.
func (l *Library) Unasked(taken map[string][]string) (said []string) {
	for _, v := range l.volumes {
		maps.Copy(v.asked, v.passed(v.asked, taken[v.pkg]))
		if n := len(v.Calls); len(v.asked) < n {
			said = append(said, fmt.Sprintf("%s: no test asked for %d of its %d calls", v.file, n-len(v.asked), n))
		}
	}
	return said
}

// bare returns a path or a test's name without the characters that tools put in the place of others.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// likeness returns the length of the longest suffix that the path shares with the name of the test or of a parent test.
func (v *volume) likeness(test string) (longest int) {
	for at := len(test); at >= 0; at = strings.LastIndexByte(test[:at], '/') {
		n, name := 0, bare(test[:at])
		for n < len(name) && n < len(v.name) && name[len(name)-1-n] == v.name[len(v.name)-1-n] {
			n++
		}
		longest = max(longest, n)
	}
	return longest
}

package page

import (
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// A Place is where a call is made.
type Place struct {
	Package string `json:"package,omitempty"` // import path of the test's package
	Test    string `json:"test,omitempty"`    // its full name
	Call    int    `json:"call"`              // its number in the test's document; 0 means it has none
	File    string `json:"file,omitempty"`    // of the source, below the module
	Line    int    `json:"line,omitempty"`
	Command string `json:"command,omitempty"` // of a program that is no test: what traceforge exec runs
}

// A Call is a call that two recordings, or a recording and a run, do not have alike.
type Call struct {
	Place
	Request []drift.Change `json:"request,omitempty"`
	Answer  []drift.Change `json:"answer,omitempty"`
	Adopted bool           `json:"adopted,omitempty"` // the answer is that to another request

	// Inherits is the number of the call of the test whose messages this one has in front, with their changes. They
	// are not in Request. 0 means it has none.
	Inherits int `json:"-"`

	Spent
}

// A Spent is what calls took, before and after; 0 means not known.
type Spent struct {
	TokensBefore int64   `json:"tokens_before,omitempty"`
	TokensAfter  int64   `json:"tokens_after,omitempty"`
	CostBefore   float64 `json:"cost_before,omitempty"` // in the repository's own currency
	CostAfter    float64 `json:"cost_after,omitempty"`
}

func (s *Spent) add(other Spent) {
	s.TokensBefore += other.TokensBefore
	s.TokensAfter += other.TokensAfter
	s.CostBefore += other.CostBefore
	s.CostAfter += other.CostAfter
}

// A Cause is a change that calls have in common. A call with several changes has several causes. Calls
// whose answers changed, and nothing of their requests, have one cause in common: see [OtherAnswers].
type Cause struct {
	Key     string       `json:"key"`               // equal in all processes
	Change  drift.Change `json:"change"`            // that of the first call
	Calls   []Place      `json:"calls"`             // as they were added
	Answers []Answered   `json:"answers,omitempty"` // of calls without a more special cause
	Adopted int          `json:"adopted,omitempty"` // how many calls kept the answer to another request
	Spent                // by Calls of which both sides are known

	MoreCalls   int `json:"calls_more,omitempty"`   // how many more there are, which causes before this list
	MoreAnswers int `json:"answers_more,omitempty"` // how many more there are, which causes before this list

	latest          int  // Causes.added when a call was last added to the cause
	calls, answered span // of Calls and Answers
}

// A span says that a list is a part of a test's list, and where it begins there: see extended. test 0: it is no part.
type span struct{ begin, test int }

// An Answered is a call whose answer changed too.
type Answered struct {
	Place
	Changes []drift.Change `json:"changes,omitempty"` // of the answer; nil means not kept
}

// OtherAnswers is the kind of the cause that calls have whose answers changed, and nothing of their requests.
const OtherAnswers = "answer"

// Causes groups calls by what changed. Its zero value is ready. It keeps one change a cause, some answers,
// the places of the calls, and what the last test's answers said. It is for one goroutine at a time.
type Causes struct {
	Answers int // how many changed answers of a cause are kept; 0 means 3

	byKey map[string]*Cause
	order []*Cause

	added int // how many calls
	tests int // how many tests they were of

	// These are about the test whose calls were added last.
	test    Test
	said    map[string]bool // the lines of its answers that changed
	keys    map[sides]string
	places  []Place // of its calls
	answers []Answered
	links   map[int]*link // by call
	all     []*Cause      // of its last call
}

// A link is the causes of a call that are of its messages, and the link of the call that it continues.
type link struct {
	causes []*Cause
	front  *link
}

// A sides is a kind of component and its two texts, which calls of a test share.
type sides struct {
	kind          string
	before, after *string
}

// Add adds a call. It returns the causes of its own, and how many it has with those that it inherits. The calls of a
// test are added one after the other: a message that repeats a changed answer is no cause.
func (c *Causes) Add(call Call) (own []*Cause, n int) {
	if test := (Test{call.Package, call.Test}); c.said == nil || c.test != test {
		c.test, c.said, c.keys = test, map[string]bool{}, map[sides]string{}
		c.places, c.answers, c.links, c.tests = nil, nil, map[int]*link{}, c.tests+1
	}
	c.added++
	all := c.all[:0]
	add := func(cause *Cause) {
		if cause.latest != c.added {
			cause.latest, all = c.added, append(all, cause)
		}
	}
	at := &link{front: c.links[call.Inherits]}
	if at.front != nil && at.front.causes == nil {
		at.front = at.front.front // so that no walk passes calls that add none
	}
	for _, change := range call.Request {
		if c.follows(change) {
			continue
		}
		cause := c.cause(c.key(change), change)
		if change.OfMessages() {
			at.causes = append(at.causes, cause)
		}
		add(cause)
	}
	own = slices.Clone(all)
	for front := at.front; front != nil; front = front.front {
		for _, cause := range front.causes {
			add(cause)
		}
	}
	if len(all) == 0 && len(call.Answer) > 0 {
		add(c.cause(OtherAnswers, drift.Change{Component: OtherAnswers, Kind: OtherAnswers}))
		own = all[:1:1]
	}
	c.all, c.links[call.Call] = all, at
	for _, change := range call.Answer {
		change.Visit(func(op, line string) { c.said[op+line] = true })
	}
	c.place(call, all)
	return own, len(all)
}

const usualAnswers = 3

// place adds the last call of the test to its causes. In a conversation, a changed message is a cause of all calls
// after it. So that this does not cost memory for each pair of a message and a call, causes share one list of places,
// and one of answers, as long as they have all calls from their first one on.
func (c *Causes) place(call Call, causes []*Cause) {
	c.places = append(c.places, call.Place)
	if len(call.Answer) > 0 {
		answered := Answered{Place: call.Place}
		few := func(cause *Cause) bool { return len(cause.Answers) < cmp.Or(c.Answers, usualAnswers) }
		if slices.ContainsFunc(causes, few) {
			answered.Changes = call.Answer
		}
		c.answers = append(c.answers, answered)
	}
	for _, cause := range causes {
		cause.Calls = extended(cause.Calls, &cause.calls, c.places, c.tests)
		cause.Spent.add(call.Spent)
		if call.Adopted {
			cause.Adopted++
		}
		if len(call.Answer) > 0 {
			cause.Answers = extended(cause.Answers, &cause.answered, c.answers, c.tests)
		}
	}
}

// extended returns a list with the last element of all, the list of the test. As long as the list has all elements from
// its first one on, it is a part of all, and shares its memory.
func extended[T any](list []T, at *span, all []T, test int) []T {
	last := len(all) - 1
	switch {
	case len(list) == 0:
		*at = span{last, test}
	case at.test != test || at.begin+len(list) != last:
		at.test = 0
		return append(list, all[last])
	}
	return all[at.begin : last+1 : last+1]
}

// follows reports whether a changed message repeats an answer of the test that changed: it is no cause of its own.
func (c *Causes) follows(change drift.Change) bool {
	if change.Kind != drift.AnswerSent || len(c.said) == 0 {
		return false
	}
	follows := true
	change.Visit(func(op, line string) { follows = follows && c.said[op+line] })
	return follows
}

func (c *Causes) key(change drift.Change) string {
	at := sides{change.Kind, change.Before, change.After}
	key, known := c.keys[at]
	if !known {
		key = change.Key()
		c.keys[at] = key
	}
	return key
}

// List returns the causes, those of the most calls first; it is empty where there are none, and not nil. No call may be
// added after it.
func (c *Causes) List() []*Cause {
	c.settle()
	all := append([]*Cause{}, c.order...)
	slices.SortStableFunc(all, func(a, b *Cause) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	return all
}

// mostAgain is how many calls a program is told again that causes before have listed. A conversation may have thousands, of which each
// turn is a cause of all behind it.
const mostAgain = 20

// brief leaves out what causes before have listed, for a program.
func brief(causes []*Cause) {
	called, answered := map[Place]bool{}, map[Place]bool{}
	for _, cause := range causes {
		all, answers := len(cause.Calls), len(cause.Answers)
		cause.Calls = once(cause.Calls, called, func(p Place) Place { return p })
		cause.Answers = once(cause.Answers, answered, func(a Answered) Place { return a.Place })
		cause.MoreCalls, cause.MoreAnswers = all-len(cause.Calls), answers-len(cause.Answers)
	}
}

// once returns the first elements of a list, and those behind them that are not listed yet.
func once[T any](list []T, listed map[Place]bool, at func(T) Place) (kept []T) {
	for i, element := range list {
		if i < mostAgain || !listed[at(element)] {
			kept = append(kept, element)
			listed[at(element)] = true
		}
	}
	return kept
}

// settle leaves each answer to the cause that has the fewest calls, and to those that have the same calls. Answers
// whose changes are kept come first.
func (c *Causes) settle() {
	owner := map[Place]*Cause{}
	for _, cause := range c.order {
		for i := range cause.Answers {
			at := cause.Answers[i].Place
			if best := owner[at]; best == nil || len(cause.Calls) < len(best.Calls) {
				owner[at] = cause
			}
		}
	}
	for _, cause := range c.order {
		var own, brief []Answered
		for _, answered := range cause.Answers {
			switch best := owner[answered.Place]; {
			case best != cause && !slices.Equal(cause.Calls, best.Calls):
			case answered.Changes != nil:
				own = append(own, answered)
			default:
				brief = append(brief, answered)
			}
		}
		cause.Answers = append(own, brief...)
	}
}

func (c *Causes) cause(key string, first drift.Change) *Cause {
	cause, known := c.byKey[key]
	if !known {
		if c.byKey == nil {
			c.byKey = map[string]*Cause{}
		}
		cause = &Cause{Key: key, Change: first}
		c.byKey[key] = cause
		c.order = append(c.order, cause)
	}
	return cause
}

// Kinds of causes that no difference explains: see [Causes.AddKnown].
const (
	Unrecorded = "unrecorded" // calls without a record
	Uncalled   = "uncalled"   // records without a call
)

// A KnownChange is a change that another process has found: its key is known, and its texts may not be.
type KnownChange struct {
	Key string
	drift.Change
}

// AddKnown adds a call of another process. Changes with one key share the first that has texts. Where it is used, all
// calls are added so.
func (c *Causes) AddKnown(at Place, spent Spent, changes ...KnownChange) {
	for i, change := range changes {
		if slices.ContainsFunc(changes[:i], func(other KnownChange) bool { return other.Key == change.Key }) {
			continue // of a call that is in the cause
		}
		cause := c.cause(change.Key, change.Change)
		if cause.Change.Before == nil && cause.Change.After == nil {
			cause.Change = change.Change
		}
		cause.Calls = append(cause.Calls, at)
		cause.Spent.add(spent)
	}
}

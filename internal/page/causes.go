package page

import (
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// A Place identifies a call.
type Place struct {
	Package string `json:"package,omitempty"` // import path of the test's package
	Test    string `json:"test,omitempty"`    // the test's full name
	Call    int    `json:"call"`              // the call's number in the test's document; 0 if it has none
	File    string `json:"file,omitempty"`    // source file, relative to the module
	Line    int    `json:"line,omitempty"`
	Command string `json:"command,omitempty"` // command of a program that traceforge exec runs
}

// A Call is a call that differs between two recordings, or between a recording and a run.
type Call struct {
	Place
	Request []drift.Change `json:"request,omitempty"`
	Answer  []drift.Change `json:"answer,omitempty"`
	Adopted bool           `json:"adopted,omitempty"` // the answer was given to a different request

	// Inherits is the number of the call in the same test whose messages this one starts with, including their changes,
	// which are not in Request. 0 if there is none.
	Inherits int `json:"-"`

	Spent
}

// A Spent is the usage of calls, before and after; 0 if unknown.
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

// A Cause is a change that several calls have in common. A call with several changes has several causes. Calls of which
// only the answers changed share one cause: see [OtherAnswers].
type Cause struct {
	Key     string       `json:"key"`               // the same in all processes
	Change  drift.Change `json:"change"`            // the change of the first call
	Calls   []Place      `json:"calls"`             // in the order in which they were added
	Answers []Answered   `json:"answers,omitempty"` // of calls without a more specific cause
	Adopted int          `json:"adopted,omitempty"` // number of calls that kept the answer to a different request
	Spent                // of the Calls for which both sides are known

	MoreCalls   int `json:"calls_more,omitempty"`   // number of further calls, which earlier causes list
	MoreAnswers int `json:"answers_more,omitempty"` // number of further answers, which earlier causes list

	latest          int  // Causes.added when a call was last added to the cause
	calls, answered span // of Calls and Answers
}

// A span says where a list starts within the list of a test: see extended. If test is 0, it is not part of one.
type span struct{ begin, test int }

// An Answered is a call whose answer changed too.
type Answered struct {
	Place
	Changes []drift.Change `json:"changes,omitempty"` // changes of the answer; nil if they were not kept
}

// OtherAnswers is the kind of the cause of calls of which only the answers changed.
const OtherAnswers = "answer"

// Causes groups calls by what changed. Its zero value is ready to use. It keeps one change per cause, some answers, the
// places of the calls, and the content of the last test's answers. It is not safe for concurrent use.
type Causes struct {
	Answers int // maximum number of changed answers that are kept per cause; 0 means 3

	byKey map[string]*Cause
	order []*Cause

	added int // number of calls
	tests int // number of tests with calls

	// The fields below are about the test whose calls were added last.
	test    Test
	said    map[string]bool // changed lines of its answers
	places  []Place         // of its calls
	answers []Answered
	links   map[int]*link // by call
	all     []*Cause      // of its last call
}

// A link contains the causes of a call that concern its messages, and the link of the call that it continues.
type link struct {
	causes []*Cause
	front  *link
}

// Add adds a call. It returns the call's own causes, and how many causes it has including inherited ones. The calls of
// a test must be added one after the other: a message that repeats a changed answer is not a cause.
func (c *Causes) Add(call Call) (own []*Cause, n int) {
	if test := (Test{call.Package, call.Test}); c.said == nil || c.test != test {
		c.test, c.said = test, map[string]bool{}
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
		at.front = at.front.front // so that later walks skip calls that add no cause
	}
	for _, change := range call.Request {
		if c.follows(change) {
			continue
		}
		cause := c.cause(change.Key(), change)
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

// place adds the last call of the test to its causes. In a conversation, a changed message is a cause of all later
// calls. To avoid memory for each pair of a message and a call, causes share one list of places and one of answers, as
// long as they contain all calls from their first one on.
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

// extended returns a list with the last element of all, the list of the test, added. As long as the list contains all
// elements from its first one on, it is a part of all and shares its memory.
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

// follows reports whether a changed message repeats a changed answer of the test, so that it is not a cause of its own.
func (c *Causes) follows(change drift.Change) bool {
	if change.Kind != drift.AnswerSent || len(c.said) == 0 {
		return false
	}
	follows := true
	change.Visit(func(op, line string) { follows = follows && c.said[op+line] })
	return follows
}

// List returns the causes, those with the most calls first. It is never nil. No calls may be added after it.
func (c *Causes) List() []*Cause {
	c.settle()
	all := append([]*Cause{}, c.order...)
	slices.SortStableFunc(all, func(a, b *Cause) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	return all
}

// mostAgain limits the calls of a cause that are repeated for programs although earlier causes list them. A
// conversation may have thousands of calls, and each turn is a cause of all later ones.
const mostAgain = 20

// brief removes from causes, for a program, what earlier causes list.
func brief(causes []*Cause) {
	called, answered := map[Place]bool{}, map[Place]bool{}
	for _, cause := range causes {
		all, answers := len(cause.Calls), len(cause.Answers)
		cause.Calls = once(cause.Calls, called, func(p Place) Place { return p })
		cause.Answers = once(cause.Answers, answered, func(a Answered) Place { return a.Place })
		cause.MoreCalls, cause.MoreAnswers = all-len(cause.Calls), answers-len(cause.Answers)
	}
}

// once returns the first elements of a list, and the later ones that are not listed yet.
func once[T any](list []T, listed map[Place]bool, at func(T) Place) (kept []T) {
	for i, element := range list {
		if i < mostAgain || !listed[at(element)] {
			kept = append(kept, element)
			listed[at(element)] = true
		}
	}
	return kept
}

// settle assigns each answer to the cause with the fewest calls, and to causes with the same calls. Answers whose
// changes were kept come first.
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

// Kinds of causes other than differences: see [Causes.AddKnown].
const (
	Unrecorded = "unrecorded" // calls without a record
	Uncalled   = "uncalled"   // records without a call
)

// A KnownChange is a change that another process has found: its key is known, but its texts may not be.
type KnownChange struct {
	Key string
	drift.Change
}

// AddKnown adds a call of another process. Changes with the same key share the first one that has texts. If it is used,
// all calls must be added in this way.
func (c *Causes) AddKnown(at Place, spent Spent, changes ...KnownChange) {
	for i, change := range changes {
		if slices.ContainsFunc(changes[:i], func(other KnownChange) bool { return other.Key == change.Key }) {
			continue // for a call that the cause already has
		}
		cause := c.cause(change.Key, change.Change)
		if cause.Change.Before == nil && cause.Change.After == nil {
			cause.Change = change.Change
		}
		cause.Calls = append(cause.Calls, at)
		cause.Spent.add(spent)
	}
}

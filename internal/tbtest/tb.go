// Package tbtest runs test functions that may fail, without failing the test that watches them. It is for tests of test
// harnesses.
package tbtest

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// A TB is a testing.TB that is independent of the running test. It supports the methods that a harness uses: naming,
// logging, failing, skipping and cleaning up.
type TB struct {
	testing.TB
	name     string
	mu       sync.Mutex
	failed   bool
	skipped  bool
	log      []string
	cleanups []func()
}

// Unfiltered clears the flags that filter tests, until t ends. These flags are meant for t; the tests that it runs
// would accept unplayed records because of them.
func Unfiltered(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{"test.short": "false", "test.skip": ""} {
		was := flag.Lookup(name).Value.String()
		set := func(value string) {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		set(value)
		t.Cleanup(func() { set(was) })
	}
}

// New returns a TB for a caller that ends the test itself, with [TB.End].
func New(name string) *TB { return &TB{name: name} }

// Run runs a test function like package testing does, including its cleanups, and returns the result. A panic fails the
// test, after the cleanups.
func Run(name string, test func(*TB)) *TB {
	t := New(name)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("panic: %v", r)
			}
		}()
		defer t.End()
		test(t)
	}()
	<-done
	return t
}

// End runs the cleanups in reverse order.
func (t *TB) End() {
	for len(t.cleanups) > 0 {
		last := len(t.cleanups) - 1
		cleanup := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		cleanup()
	}
}

// Logged returns the logged messages, each on one or more lines.
func (t *TB) Logged() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.log, "\n")
}

func (t *TB) Helper()          {}
func (t *TB) Name() string     { return t.name }
func (t *TB) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }
func (t *TB) Skipped() bool    { return t.skipped }

func (t *TB) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *TB) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func (t *TB) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = append(t.log, fmt.Sprintf(format, args...))
}

func (t *TB) Log(args ...any) { t.Logf("%s", strings.TrimSuffix(fmt.Sprintln(args...), "\n")) }

// Output returns a writer that logs each write.
func (t *TB) Output() io.Writer { return output{t} }

type output struct{ t *TB }

func (o output) Write(text []byte) (int, error) {
	o.t.Logf("%s", strings.TrimSuffix(string(text), "\n"))
	return len(text), nil
}

func (t *TB) Errorf(format string, args ...any) {
	t.Logf(format, args...)
	t.Fail()
}

func (t *TB) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *TB) SkipNow() {
	t.skipped = true
	runtime.Goexit()
}

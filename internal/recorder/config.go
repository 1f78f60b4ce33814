package recorder

import (
	"path/filepath"
	"regexp"
	"sync"

	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
)

// configs caches what config.json of each store says, by directory, so that a process reads it once.
var configs locked.Map[string, func() (*store.Config, error)]

// readConfig reads the repository's configuration, which holds for all tests.
func (s *setup) readConfig() error {
	dir, err := filepath.Abs(s.store.Dir())
	if err != nil {
		return err
	}
	read, _ := configs.Add(dir, sync.OnceValues(s.store.Config))
	if s.config, err = read(); err != nil {
		return err
	}
	s.rules, err = RulesOf(s.config.Scrub, s.Scrub...)
	return err
}

// RulesOf returns the rules of a configuration, and those of a test.
func RulesOf(config []store.ScrubRule, more ...scrub.Rule) (*scrub.Rules, error) {
	var rules []scrub.Rule
	for _, c := range config {
		if c.Volatile {
			rules = append(rules, scrub.Volatile())
			continue
		}
		// config.go has already compiled the pattern
		rules = append(rules, scrub.Pattern(c.Name, regexp.MustCompile(c.Pattern)))
	}
	return scrub.New(append(rules, more...)...)
}

// An Allowance is what a recorder refuses unless a test allows it; a set of them is their sum.
type Allowance uint8

const (
	CutStreams      Allowance = 1 << iota // a cut stream may be recorded
	TransportErrors                       // an error of the transport may be recorded
	RetryableErrors                       // an answer that asks for another try may be recorded
	NoCalls                               // a test may make no call
)

// allows reports whether the test allows something.
func (s *setup) allows(what Allowance) bool { return s.Allowed&what != 0 }

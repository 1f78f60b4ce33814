package recorder

import (
	"path/filepath"
	"regexp"
	"sync"

	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// configs has what config.json of each store says, by directory: a process reads it once.
var configs sync.Map // of func() (*store.Config, error)

func configOf(s *store.Store) (*store.Config, error) {
	dir, err := filepath.Abs(s.Dir())
	if err != nil {
		return nil, err
	}
	read, _ := configs.LoadOrStore(dir, sync.OnceValues(s.Config))
	return read.(func() (*store.Config, error))()
}

// readConfig reads what the repository says once for all tests.
func (r *Recorder) readConfig() (err error) {
	if r.config, err = configOf(r.store); err != nil {
		return err
	}
	var rules []scrub.Rule
	for _, c := range r.config.Scrub {
		if c.Volatile {
			rules = append(rules, scrub.Volatile())
			continue
		}
		rules = append(rules, scrub.Pattern(c.Name, regexp.MustCompile(c.Pattern))) // config.go has compiled it
	}
	r.rules, err = scrub.New(append(rules, r.Scrub...)...)
	return err
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/near"
	"github.com/traceforge/traceforge-go/internal/pattern"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Config is what a repository says once for all its tests, in config.json (design §2). It is that of
// the store in use; nothing is inherited. The zero value is that of a store without the file.
type Config struct {
	Scrub            []ScrubRule       // what is kept as a placeholder in every test
	Nondeterministic string            // why no request needs to be deterministic; empty: each does
	Hosts            map[string]string // providers of hosts, which are in lower case and without port
	MaxAge           MaxAge
	Budgets          Budgets
	Prices           map[string]Price // by model
	Silences         []Silence        // of rules of traceforge verify --lint
}

// A ScrubRule is what a pattern matches, or what is volatile.
type ScrubRule struct {
	Name     string
	Pattern  string // a regular expression of package regexp
	Volatile bool   // then there is no name and no pattern
}

// Config reads config.json. The error is a [*snapshot.Error] if there is something in it that format.md
// does not specify.
func (s *Store) Config() (*Config, error) {
	text, err := s.ConfigText()
	if err != nil || text == nil {
		return &Config{}, err
	}
	doc, err := jsontext.Parse(text)
	var at *jsontext.Error
	if errors.As(err, &at) {
		return nil, s.failure(configName, at.Pointer, snapshot.RuleJSON, err, "offset %d: %v", at.Offset, at.Err)
	}
	if err != nil {
		return nil, s.unreadable(configName, err)
	}
	r := configReader{}
	config := r.read(doc.Root())
	if len(r.wrong) > 0 {
		inorder.By(r.wrong, snapshot.Violation.Compare)
		return nil, &snapshot.Error{File: s.in(configName), Violations: r.wrong}
	}
	return config, nil
}

// CheckTexts refuses the files of a store that git reads, where they are no files: git would wait for a pipe.
func (s *Store) CheckTexts() error {
	for _, name := range []string{attributesName, ignoreName} {
		info, err := os.Lstat(s.path(name))
		if err == nil && !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
			return s.failure(name, "", snapshot.RuleStray, nil, "%v: delete it", errIrregular)
		}
	}
	return nil
}

// ConfigText returns config.json as it is spelled; nil: there is none.
func (s *Store) ConfigText() ([]byte, error) {
	if err := s.checkLinks(configName); err != nil {
		return nil, err
	}
	f, err := s.toRead(configName)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, s.unreadable(configName, err)
	}
	text, err := readAll(f, s.maxBytes)
	if err != nil {
		return nil, s.unreadable(configName, err)
	}
	return text, nil
}

// A configReader collects what is wrong with a configuration.
type configReader struct{ wrong []snapshot.Violation }

func (r *configReader) fail(pointer, rule, format string, args ...any) {
	r.wrong = append(r.wrong, snapshot.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// A reading reads the value that stands at a pointer, and keeps it.
type reading = func(pointer string, v jsontext.Value)

// into returns what reads a value and keeps it.
func into[T any](to *T, read func(string, jsontext.Value) T) reading {
	return func(pointer string, v jsontext.Value) { *to = read(pointer, v) }
}

// list returns what reads a list and keeps its elements; what names it.
func list[T any](r *configReader, what string, to *[]T, read func(string, jsontext.Value) T) reading {
	return func(pointer string, v jsontext.Value) {
		if !v.IsArray() {
			r.fail(pointer, snapshot.RuleType, "must be %s, is %s", what, v.Kind())
		}
		for i, element := range v.Elements() {
			*to = append(*to, read(pointer+"/"+strconv.Itoa(i), element))
		}
	}
}

func (r *configReader) read(v jsontext.Value) *Config {
	config := &Config{}
	r.object("", v, map[string]reading{
		"scrub":            list(r, "a list of rules", &config.Scrub, r.scrub),
		"nondeterministic": into(&config.Nondeterministic, r.text),
		"hosts": func(pointer string, v jsontext.Value) {
			config.Hosts = map[string]string{}
			r.members(pointer, v, func(host, pointer string, provider jsontext.Value) {
				name := r.text(pointer, provider)
				if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, ":/ ") {
					r.fail(pointer, snapshot.RuleName, "is for a host, which is written in lower case, without scheme, port and path")
				}
				if name != "" && !filename.Legal(name) {
					r.fail(pointer, snapshot.RuleName, "names a provider with %q: it has lower-case letters, digits and hyphens", name)
				}
				config.Hosts[host] = name
			})
		},
		"max_age": into(&config.MaxAge, r.maxAge),
		"budgets": into(&config.Budgets, r.budgets),
		"prices":  into(&config.Prices, r.prices),
		"lint":    into(&config.Silences, r.silences),
	})
	return config
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func (r *configReader) scrub(pointer string, v jsontext.Value) (rule ScrubRule) {
	r.object(pointer, v, map[string]reading{
		"name": func(pointer string, v jsontext.Value) {
			if rule.Name = r.text(pointer, v); rule.Name != "" && !ruleName.MatchString(rule.Name) {
				r.fail(pointer, snapshot.RuleName,
					"begins with a lower-case letter and has such letters, digits, - and _, is %q", rule.Name)
			}
		},
		"pattern": func(pointer string, v jsontext.Value) {
			rule.Pattern = r.text(pointer, v)
			if re, err := regexp.Compile(rule.Pattern); err != nil {
				r.fail(pointer, snapshot.RuleValue, "is no regular expression of Go's: %v", err)
			} else if _, err := pattern.New(re); err != nil {
				r.fail(pointer, snapshot.RuleValue, "%v", err)
			}
		},
		"volatile": func(pointer string, v jsontext.Value) {
			if rule.Volatile = string(v.Raw()) == "true"; !rule.Volatile {
				r.fail(pointer, snapshot.RuleValue, "must be true, is %s", v.Raw())
			}
		},
	})
	members := v.Len()
	if v.IsObject() && !(members == 1 && v.Member("volatile").Present()) &&
		!(members == 2 && v.Member("name").Present() && v.Member("pattern").Present()) {
		r.fail(pointer, snapshot.RuleMissing, `must have a name and a pattern, or "volatile": true alone`)
	}
	return rule
}

// object reads an object of which all members are known.
func (r *configReader) object(pointer string, v jsontext.Value, known map[string]reading) {
	r.members(pointer, v, func(name, pointer string, member jsontext.Value) {
		if read := known[name]; read != nil {
			read(pointer, member)
			return
		}
		names := inorder.Names(known)
		meant := ""
		if like := near.Name(name, names); like != "" {
			meant = "did you mean " + like + "? "
		}
		r.fail(pointer, snapshot.RuleUnknown, "%sthere are %s; a newer traceforge may know more: upgrade "+
			"(go get -u github.com/traceforge/traceforge-go)", meant, strings.Join(names, ", "))
	})
}

func (r *configReader) members(pointer string, v jsontext.Value, member func(name, pointer string, v jsontext.Value)) {
	if !v.IsObject() {
		r.fail(pointer, snapshot.RuleType, "must be an object, is %s", v.Kind())
	}
	for name, value := range v.Members() {
		member(name, pointer+jsontext.PointerTo(name), value)
	}
}

// number returns what reads a number of things, 1 or more.
func number[T int | int64](r *configReader, of string) func(string, jsontext.Value) T {
	return func(pointer string, v jsontext.Value) T {
		n, ok := v.Count()
		if !ok || *n < 1 {
			r.fail(pointer, snapshot.RuleValue, "must be a number of %s, 1 or more, is %s", of, v.Raw())
			return 0
		}
		return T(*n)
	}
}

// text reads a string with something in it.
func (r *configReader) text(pointer string, v jsontext.Value) string {
	text, ok := v.Text()
	switch {
	case !ok:
		r.fail(pointer, snapshot.RuleType, "must be a string, is %s", v.Kind())
	case text == "":
		r.fail(pointer, snapshot.RuleEmpty, "must not be empty")
	}
	return text
}

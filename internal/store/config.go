package store

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/internal/near"
	"github.com/traceforge/traceforge-go/internal/pattern"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Config contains the settings of a repository for all its tests, from config.json (design §2) in the store in use;
// nothing is inherited. The zero value is that of a store without the file.
type Config struct {
	// location of its schema; used only by editors
	Schema           string      `json:"$schema,omitzero"`
	Scrub            []ScrubRule `json:"scrub,omitzero" is:"rules"` // what every test stores as placeholders
	Nondeterministic string      `json:"nondeterministic,omitzero"` // why requests need not be deterministic
	// providers by host, in lower case and without port
	Hosts    map[string]string `json:"hosts,omitzero" is:"hosts"`
	Readings []string          `json:"readings,omitzero" is:"readings"` // kinds of readings that are not findings
	MaxAge   MaxAge            `json:"max_age,omitzero"`                // maximum age of answers
	Budgets  Budgets           `json:"budgets,omitzero"`                // limits enforced by traceforge verify --lint
	Prices   map[string]Price  `json:"prices,omitzero"`                 // prices of a million tokens, by model
	Lint     Lint              `json:"lint,omitzero"`                   // rules of traceforge verify --lint
}

// A ScrubRule replaces the matches of a pattern, or volatile values.
type ScrubRule struct {
	Name     string `json:"name,omitzero" is:"name"`
	Pattern  string `json:"pattern,omitzero" is:"pattern"` // a Go regular expression
	Volatile bool   `json:"volatile,omitzero" is:"true"`   // without a name or pattern
}

// Config reads config.json. The error is a [*snapshot.Error] if the file contains anything that format.md does not
// specify. With an error, as without the file, the configuration is empty.
func (s *Store) Config() (*Config, error) {
	config := &Config{}
	text, err := s.ConfigText()
	if err != nil || text == nil {
		return config, err
	}
	doc, err := jsontext.Parse(text)
	if at, ok := err.(*jsontext.Error); ok {
		if line, _ := conflict.Line(text); line > 0 {
			return config, s.failure(ConfigName, "", snapshot.RuleConflict, err,
				"line %d is a conflict marker of a merge: merge it by hand", line)
		}
		return config, s.failure(ConfigName, at.Pointer, snapshot.RuleJSON, err, "offset %d: %v", at.Offset, at.Err)
	}
	var wrong []snapshot.Violation
	for _, fault := range configFormat.Read(doc.Root(), config) {
		wrong = append(wrong, snapshot.Violation(fault))
	}
	if wrong != nil {
		inorder.By(wrong, snapshot.Violation.Compare)
		return &Config{}, &snapshot.Error{File: s.Shown(ConfigName), Violations: wrong}
	}
	return config, nil
}

// CheckTexts refuses files that git reads if they are not regular files, because git would wait for a pipe.
func (s *Store) CheckTexts() error {
	for _, name := range []string{AttributesName, IgnoreName} {
		info, err := os.Lstat(s.Path(name))
		if err == nil && !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
			return s.failure(name, "", snapshot.RuleStray, nil, "%v: delete it", errIrregular)
		}
	}
	return nil
}

// ConfigText returns the content of config.json; nil if there is none.
func (s *Store) ConfigText() ([]byte, error) {
	if err := s.checkLinks(ConfigName); err != nil {
		return nil, err
	}
	text, err := s.ReadWhole(ConfigName)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, s.unreadable(ConfigName, err)
	}
	return text, nil
}

// configFormat reads config.json.
var configFormat = &fields.Format{
	Types: map[reflect.Type]fields.Reading{
		reflect.TypeFor[string]():    fields.As(readText),
		reflect.TypeFor[float64]():   fields.As(readMoney),
		reflect.TypeFor[ScrubRule](): fields.As(readScrubRule),
		reflect.TypeFor[MaxAge]():    fields.As(readMaxAge),
	},
	Named: map[string]fields.Reading{
		"rules": fields.As(readScrubRules), "name": fields.As(readRuleName), "pattern": fields.As(readPattern),
		"true": fields.As(readTrue), "hosts": fields.As(readHosts), "readings": fields.As(readReadings),
		"size": fields.As(readSize),
		"days": readNumber[int]("days"), "tokens": readNumber[int64]("tokens"),
	},
	Kind:    fields.Problem{Rule: snapshot.RuleType, Text: "must be %s, is %s"},
	Missing: fields.Problem{Rule: snapshot.RuleMissing, Text: "is required"},
	Null:    fields.Problem{Rule: snapshot.RuleType, Text: "must not be null"},
	Unknown: func(r *fields.Reader, name string, known []string) {
		meant := ""
		if like := near.Name(name, known); like != "" {
			meant = "did you mean " + like + "? "
		}
		known = slices.DeleteFunc(known, func(name string) bool { return name == "$schema" }) // irrelevant for tests
		r.Report(snapshot.RuleUnknown, "%sthere are %s; a newer traceforge may know more: upgrade "+
			"(go get -u github.com/traceforge/traceforge-go)", meant, strings.Join(known, ", "))
	},
}

// readText reads a non-empty string.
func readText(r *fields.Reader, v jsontext.Value, s *string) {
	if *s = v.Word(); r.Want(v, "a string") && *s == "" {
		r.Report(snapshot.RuleEmpty, "must not be empty")
	}
}

// readReadings reads kinds of readings about tool calls: only those are findings.
func readReadings(r *fields.Reader, v jsontext.Value, kinds *[]string) {
	all, ok := v.Texts()
	if !ok {
		r.Report(snapshot.RuleType, "must be an array of strings")
	}
	for _, kind := range all {
		if !(snapshot.Reading{Kind: kind}).IsOfCall() {
			r.Report(snapshot.RuleValue,
				"names %q, and kinds of readings that are findings are added-call, arguments, missing-call and name", kind)
		}
	}
	*kinds = all
}

// readNumber returns the reading of a number of things, at least 1.
func readNumber[T int | int64](of string) fields.Reading {
	return fields.As(func(r *fields.Reader, v jsontext.Value, dst *T) {
		n, ok := v.Count()
		if !ok || *n < 1 {
			r.Report(snapshot.RuleValue, "must be a number of %s, 1 or more, is %s", of, v.Raw())
			return
		}
		*dst = T(*n)
	})
}

func readHosts(r *fields.Reader, v jsontext.Value, hosts *map[string]string) {
	r.ByKind(v, hosts)
	for host := range v.Members() {
		r.In(host, func() {
			if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, ":/ ") {
				r.Report(snapshot.RuleName, "is for a host, which is written in lower case, without scheme, port and path")
			}
			if name := (*hosts)[host]; name != "" && !filename.Legal(name) {
				r.Report(snapshot.RuleName, "names a provider with %q: it has lower-case letters, digits and hyphens", name)
			}
		})
	}
}

func readScrubRules(r *fields.Reader, v jsontext.Value, rules *[]ScrubRule) {
	if !v.IsArray() {
		r.Report(snapshot.RuleType, "must be a list of rules, is %s", v.Kind())
		return
	}
	r.ByKind(v, rules)
}

func readScrubRule(r *fields.Reader, v jsontext.Value, rule *ScrubRule) {
	r.ByKind(v, rule)
	members := v.Len()
	if v.IsObject() && !(members == 1 && v.Member("volatile").Present()) &&
		!(members == 2 && v.Member("name").Present() && v.Member("pattern").Present()) {
		r.Report(snapshot.RuleMissing, `must have a name and a pattern, or "volatile": true alone`)
	}
}

func readRuleName(r *fields.Reader, v jsontext.Value, name *string) {
	switch readText(r, v, name); {
	case *name == "":
	case !pattern.IsName(*name):
		r.Report(snapshot.RuleName, "begins with a lower-case letter and has such letters, digits, - and _, is %q", *name)
	case pattern.IsVolatile(*name):
		r.Report(snapshot.RuleName, "is one of the values that differ in each run: call the rule another name than %q", *name)
	}
}

func readPattern(r *fields.Reader, v jsontext.Value, text *string) {
	readText(r, v, text)
	if re, err := regexp.Compile(*text); err != nil {
		r.Report(snapshot.RuleValue, "is no regular expression of Go's: %v", err)
	} else if _, err := pattern.New(re); err != nil {
		r.Report(snapshot.RuleValue, "%v", err)
	}
}

func readTrue(r *fields.Reader, v jsontext.Value, is *bool) {
	if *is = string(v.Raw()) == "true"; !*is {
		r.Report(snapshot.RuleValue, "must be true, is %s", v.Raw())
	}
}

package genkittraceforge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A conversion is that of one value, field by field. Its first error stays.
type conversion struct{ err error }

func (c *conversion) check(name string, err error) {
	if c.err == nil {
		c.err = named(name, err)
	}
}

// failed returns the conversion's error, if any, as one of a value of that name. It is called after the
// fields are converted, also in one return statement.
func (c *conversion) failed(name string) error { return named(name, c.err) }

func named(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// field converts a field.
func field[From, To any](c *conversion, name string, value From, convert func(From) (To, error)) To {
	converted, err := convert(value)
	c.check(name, err)
	return converted
}

// pointer converts a field that may be nil.
func pointer[From, To any](c *conversion, name string, value *From, convert func(*From) (*To, error)) *To {
	if value == nil {
		return nil
	}
	return field(c, name, value, convert)
}

// each returns the conversion of a list; nil stays nil.
func each[From, To any](what string, convert func(From) (To, error)) func([]From) ([]To, error) {
	return func(values []From) ([]To, error) {
		if values == nil {
			return nil, nil
		}
		converted := make([]To, len(values))
		for i, value := range values {
			var err error
			if converted[i], err = convert(value); err != nil {
				return nil, fmt.Errorf("%s %d: %w", what, i, err)
			}
		}
		return converted, nil
	}
}

// eachOf is each for Genkit's lists, which are of pointers. None may be nil.
func eachOf[From, To any](what string, convert func(*From) (To, error)) func([]*From) ([]To, error) {
	return each(what, func(value *From) (converted To, err error) {
		if value == nil {
			return converted, errors.New("is nil")
		}
		return convert(value)
	})
}

// set returns a pointer to v; nil for the zero value, which Genkit does not tell from an absent one.
func set[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

func orZero[T any](v *T) T {
	if v == nil {
		return *new(T)
	}
	return *v
}

// put adds a member that modelio does not name, unless it is absent.
func (c *conversion) put(unknown *modelio.Object, name string, v any) {
	if raw := field(c, name, v, fromValue); raw != nil {
		jsontext.Keep(unknown, name, raw)
	}
}

// putWord is put for a text that is absent where it is empty.
func (c *conversion) putWord(unknown *modelio.Object, name, word string) {
	if word != "" {
		c.put(unknown, name, word)
	}
}

// take decodes a member into v, if it is there, and removes it.
func (c *conversion) take(unknown modelio.Object, name string, v any) {
	if raw, ok := unknown[name]; ok {
		delete(unknown, name)
		c.check(name, json.Unmarshal(raw, v))
	}
}

// spare copies unknown, for callers that delete from it, without members that spell out Genkit's zero values: null,
// false, 0 and "".
func spare(unknown modelio.Object) modelio.Object {
	left := modelio.Object{}
	for name, raw := range unknown {
		switch string(raw) {
		case "null", "false", "0", `""`:
		default:
			left[name] = raw
		}
	}
	return left
}

// none fails if members are left that Genkit has no place for.
func (c *conversion) none(left modelio.Object) {
	if len(left) > 0 {
		c.check("", fmt.Errorf("genkit has no place for %s", strings.Join(slices.Sorted(maps.Keys(left)), ", ")))
	}
}

// done ends the conversion of a value of which nothing may be left.
func done[To any](c *conversion, converted *To, left modelio.Object) (*To, error) {
	if c.none(left); c.err != nil {
		return nil, c.err
	}
	return converted, nil
}

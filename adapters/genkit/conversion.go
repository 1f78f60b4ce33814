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

// A conversion converts one value, field by field, and keeps the first error.
type conversion struct{ err error }

func (c *conversion) check(name string, err error) {
	if c.err == nil {
		c.err = named(name, err)
	}
}

// failed returns the conversion's error, if any, with the name of the value. Call it after the fields are converted,
// which may be in the same return statement.
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

// each returns a function that converts a list; nil stays nil.
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

// eachOf is each for Genkit's lists of pointers. A nil pointer is an error.
func eachOf[From, To any](what string, convert func(*From) (To, error)) func([]*From) ([]To, error) {
	return each(what, func(value *From) (converted To, err error) {
		if value == nil {
			return converted, errors.New("is nil")
		}
		return convert(value)
	})
}

// set returns a pointer to v; nil for the zero value, which Genkit does not distinguish from an absent one.
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

// put adds a member that modelio has no field for, unless it is absent.
func (c *conversion) put(unknown *modelio.Object, name string, v any) {
	if raw := field(c, name, v, fromValue); raw != nil {
		jsontext.Keep(unknown, name, raw)
	}
}

// putWord is put for a text that is absent if empty.
func (c *conversion) putWord(unknown *modelio.Object, name, word string) {
	if word != "" {
		c.put(unknown, name, word)
	}
}

// take decodes a member into v, if it exists, and removes it.
func (c *conversion) take(unknown modelio.Object, name string, v any) {
	if raw, ok := unknown[name]; ok {
		delete(unknown, name)
		c.check(name, json.Unmarshal(raw, v))
	}
}

// spare copies unknown, for callers that delete from it, without members that are Genkit's zero values: null, false, 0
// and "".
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

// none fails if there are members left that Genkit has no field for.
func (c *conversion) none(left modelio.Object) {
	if len(left) > 0 {
		c.check("", fmt.Errorf("genkit has no place for %s", strings.Join(slices.Sorted(maps.Keys(left)), ", ")))
	}
}

// done ends the conversion of a value, and fails if members are left.
func done[To any](c *conversion, converted *To, left modelio.Object) (*To, error) {
	if c.none(left); c.err != nil {
		return nil, c.err
	}
	return converted, nil
}

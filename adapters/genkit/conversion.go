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

// A conversion converts a value of Genkit's to one of modelio's, or the other way. Each of its methods for a type names
// both sides of all fields, so one method has both directions. The target of a method is empty before.
type conversion struct {
	toGenkit bool
	path     []string // names of the values around the current one
	err      error    // the first error, with its path
}

// fromGenkit converts a value of Genkit's, which messages call a Genkit what.
func fromGenkit[G, M any](what string, genkit *G, convert func(*conversion, *G, *M)) (*M, error) {
	c, converted := conversion{}, new(M)
	if convert(&c, genkit, converted); c.err != nil {
		return nil, fmt.Errorf("from genkit %s: %w", what, c.err)
	}
	return converted, nil
}

// toGenkit is the inverse of fromGenkit.
func toGenkit[G, M any](what string, model *M, convert func(*conversion, *G, *M)) (*G, error) {
	c, converted := conversion{toGenkit: true}, new(G)
	if convert(&c, converted, model); c.err != nil {
		return nil, fmt.Errorf("to genkit %s: %w", what, c.err)
	}
	return converted, nil
}

// check keeps the first error, about a field or, without a name, about the current value.
func (c *conversion) check(name string, err error) {
	if err == nil || c.err != nil {
		return
	}
	c.err = err
	for _, at := range slices.Backward(append(c.path, name)) {
		if at != "" {
			c.err = fmt.Errorf("%s: %w", at, c.err)
		}
	}
}

// in converts a value within the current one.
func (c *conversion) in(name string, convert func()) {
	c.path = append(c.path, name)
	convert()
	c.path = c.path[:len(c.path)-1]
}

// same converts a field that has one type on both sides.
func same[T any](c *conversion, genkit, model *T) {
	if c.toGenkit {
		*genkit = *model
	} else {
		*model = *genkit
	}
}

// either converts a field by a function for each direction.
func either[G, M any](c *conversion, name string, genkit *G, model *M, from func(G) (M, error), to func(M) (G, error)) {
	var err error
	if c.toGenkit {
		*genkit, err = to(*model)
	} else {
		*model, err = from(*genkit)
	}
	c.check(name, err)
}

func (c *conversion) value(name string, genkit *any, model *json.RawMessage) {
	either(c, name, genkit, model, fromValue, toValue)
}

func (c *conversion) object(name string, genkit *map[string]any, model *modelio.Object) {
	either(c, name, genkit, model, fromMap, toMap)
}

func (c *conversion) schema(name string, genkit *map[string]any, model *json.RawMessage) {
	either(c, name, genkit, model, fromSchema, toSchema)
}

// flag converts a field. Genkit does not distinguish false from absent, which is nil in modelio.
func (c *conversion) flag(genkit *bool, model **bool) {
	switch {
	case c.toGenkit:
		*genkit = *model != nil && **model
	case *genkit:
		is := true
		*model = &is
	}
}

// count converts a number of tokens, of which the same holds.
func (c *conversion) count(genkit *int, model **int64) {
	switch {
	case c.toGenkit && *model != nil:
		*genkit = int(**model)
	case !c.toGenkit && *genkit != 0:
		n := int64(*genkit)
		*model = &n
	}
}

// pointer converts a field that may be nil.
func pointer[G, M any](c *conversion, name string, genkit **G, model **M, convert func(*G, *M)) {
	switch {
	case c.toGenkit && *model != nil:
		*genkit = new(G)
	case !c.toGenkit && *genkit != nil:
		*model = new(M)
	default:
		return
	}
	c.in(name, func() { convert(*genkit, *model) })
}

// list converts a list; nil stays nil. Each element is called what, with its index. A nil pointer in it is an error.
func list[G, M any](c *conversion, what string, genkit *[]*G, model *[]M, convert func(*G, *M)) {
	switch {
	case c.toGenkit && *model != nil:
		*genkit = make([]*G, len(*model))
	case !c.toGenkit && *genkit != nil:
		*model = make([]M, len(*genkit))
	}
	for i, element := range *genkit {
		c.in(fmt.Sprint(what, " ", i), func() {
			if c.toGenkit {
				element = new(G)
				(*genkit)[i] = element
			}
			if element == nil {
				c.check("", errors.New("is nil"))
				return
			}
			convert(element, &(*model)[i])
		})
	}
}

// beyond converts the members that modelio has no fields for. convert gets them in an object, and takes those that
// Genkit has fields for. Others are an error, unless they are Genkit's zero values: null, false, 0 and "".
func (c *conversion) beyond(unknown *modelio.Object, convert func(members *modelio.Object)) {
	if !c.toGenkit {
		convert(unknown)
		return
	}
	left := maps.Clone(*unknown)
	maps.DeleteFunc(left, func(_ string, raw json.RawMessage) bool {
		return slices.Contains([]string{"null", "false", "0", `""`}, string(raw))
	})
	convert(&left)
	if len(left) > 0 {
		c.check("", fmt.Errorf("genkit has no place for %s", strings.Join(slices.Sorted(maps.Keys(left)), ", ")))
	}
}

// nothing converts no members: Genkit has no fields for any.
func nothing(*modelio.Object) {}

// member converts a member that modelio has no field for. From Genkit it is absent if it has no JSON text.
func (c *conversion) member(members *modelio.Object, name string, genkit any) {
	if c.toGenkit {
		if raw, ok := (*members)[name]; ok {
			delete(*members, name)
			c.check(name, json.Unmarshal(raw, genkit))
		}
		return
	}
	raw, err := fromValue(genkit)
	if c.check(name, err); raw != nil {
		jsontext.Keep(members, name, raw)
	}
}

// word is member for a text that is absent if empty.
func (c *conversion) word(members *modelio.Object, name string, genkit *string) {
	if c.toGenkit || *genkit != "" {
		c.member(members, name, genkit)
	}
}

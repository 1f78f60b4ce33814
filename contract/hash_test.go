package contract_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
)

// silent are the fields that do not change the request.
var silent = map[string]bool{"CorrelationID": true, "APIKey": true}

// TestHashSensitivity changes each field of many params in all ways that its type allows, and expects another hash each
// time, except for the silent fields (LC "Determinism rule").
func TestHashSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		p := randomParams(rng)
		hash, err := p.Hash()
		require.NoError(t, err)
		seen := map[canon.Hash]string{hash: "the params themselves"}
		fields(reflect.ValueOf(&p).Elem(), "", func(path string, field reflect.Value) {
			old := field.Interface()
			for i, other := range others(rng, field) {
				field.Set(reflect.ValueOf(other))
				changed, err := p.Hash()
				require.NoError(t, err, "%s = %v", path, other)
				what := fmt.Sprintf("%s, change %d: %v", path, i, other)
				if silent[path] {
					require.Equal(t, hash, changed, what)
					continue
				}
				require.NotContains(t, seen, changed, what)
				seen[changed] = what
			}
			field.Set(reflect.ValueOf(old))
		})
		same, err := p.Hash()
		require.NoError(t, err)
		require.Equal(t, hash, same, "all fields are as they were")

		// Only the fields count. The order of members, white space, and the presence of unset options do not.
		text, err := json.MarshalIndent(p, "", "\t")
		require.NoError(t, err)
		for _, spelling := range [][]byte{text, withoutNulls(t, text)} {
			var again contract.GenerateParams
			require.NoError(t, json.Unmarshal(spelling, &again))
			same, err = again.Hash()
			require.NoError(t, err)
			require.Equal(t, hash, same)
		}
	}
}

// TestHashDomain shows the hashed text.
func TestHashDomain(t *testing.T) {
	p := contract.GenerateParams{
		CorrelationID: contract.Some("run-1"), Provider: "openai", Model: "m",
		MessageRefs: []canon.Hash{ref("a")}, APIKey: contract.Secret("openai", 1),
	}
	hash, err := p.Hash()
	require.NoError(t, err)
	require.Equal(t, canon.Sum([]byte(`{"api_key":null,"correlation_id":null,"message_refs":["`+string(ref("a"))+`"],"model":"m","provider":"openai","runtime":{`+
		`"max_tokens":null,"metadata":null,"provider_options_ref":null,"reasoning_effort":null,"response_format_ref":null,"stop_sequences":null,`+
		`"temperature":null,"tool_choice":null,"tool_refs":null}}`)), hash)
	require.NotNil(t, p.CorrelationID, "the params are not changed")
}

func TestHashOfInvalidParams(t *testing.T) {
	_, err := contract.GenerateParams{}.Hash()
	require.ErrorIs(t, err, contract.ErrMissing)
	_, err = contract.GenerateParams{Provider: "p\xff", Model: "m", MessageRefs: []canon.Hash{ref("a")}}.Hash()
	require.EqualError(t, err, "generate params: unicode: a text is not valid UTF-8")
	_, err = contract.GenerateParams{Provider: "p", Model: "m", MessageRefs: []canon.Hash{ref("a")}, Runtime: contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceAuto, Name: "x"}}}.Hash()
	require.EqualError(t, err, "generate params: /runtime/tool_choice/$value: unknown: Auto has no value")
}

// fields visits the leaves of params: the fields of params and of their runtime.
func fields(v reflect.Value, path string, visit func(path string, field reflect.Value)) {
	for i := range v.NumField() {
		name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
		if field := v.Field(i); field.Kind() == reflect.Struct {
			fields(field, name, visit)
		} else {
			visit(name, field)
		}
	}
}

// others returns valid values of a field that differ from its own and from each other.
func others(rng *rand.Rand, field reflect.Value) (values []any) {
	add := func(v any) {
		if reflect.DeepEqual(v, field.Interface()) {
			return
		}
		for _, old := range values {
			if reflect.DeepEqual(v, old) {
				return
			}
		}
		values = append(values, v)
	}
	switch old := field.Interface().(type) {
	case string:
		add(old + "x")
		add("x" + old)
		add(strings.ToUpper(old) + "é")
	case *string:
		add((*string)(nil))
		add(contract.Some("other"))
		add(contract.Some("Other"))
	case *contract.Decimal:
		for _, text := range []contract.Decimal{"0", "0.0", "1", "0.7", "7e-1"} {
			add(contract.Some(text))
		}
		add((*contract.Decimal)(nil))
	case *uint64:
		add((*uint64)(nil))
		add(contract.Some[uint64](0))
		add(contract.Some(rng.Uint64N(1 << 53)))
	case *contract.ToolChoice:
		add((*contract.ToolChoice)(nil))
		for _, tag := range []string{contract.ChoiceAuto, contract.ChoiceNone, contract.ChoiceRequired} {
			add(&contract.ToolChoice{Tag: tag})
		}
		add(&contract.ToolChoice{Tag: contract.ChoiceTool, Name: "f"})
		add(&contract.ToolChoice{Tag: contract.ChoiceTool, Name: "g"})
	case *contract.TextOrSecretRef:
		add((*contract.TextOrSecretRef)(nil))
		add(contract.Secret("other", 1))
		add(contract.Secret("other", 2))
	case *canon.Hash:
		add((*canon.Hash)(nil))
		add(contract.Some(ref("0")))
		add(contract.Some(randomRef(rng)))
	case []canon.Hash:
		add(append([]canon.Hash{randomRef(rng)}, old...))
		add(append(old[:len(old):len(old)], randomRef(rng)))
		if len(old) > 1 {
			swapped := append([]canon.Hash(nil), old...)
			swapped[0], swapped[1] = swapped[1], swapped[0]
			add(swapped)
			add(old[1:])
		}
		if field.Type() == reflect.TypeFor[[]canon.Hash]() && old == nil {
			add([]canon.Hash{})
		}
	case []string:
		add(append([]string{"stop"}, old...))
		add([]string{})
		add([]string(nil))
	case map[string]string:
		more := map[string]string{"more": ""}
		for name, value := range old {
			more[name] = value
			add(map[string]string{name: value + "!"})
		}
		add(more)
		add(map[string]string{})
		add(map[string]string(nil))
	default:
		panic(fmt.Sprintf("a field of type %T has no other values here", old))
	}
	return values
}

func randomRef(rng *rand.Rand) canon.Hash { return canon.Sum(fmt.Append(nil, rng.Uint64())) }

func randomParams(rng *rand.Rand) contract.GenerateParams {
	words := []string{"openai", "anthropic", "a model", "ünï", "\"quoted\"", "<b>", "low"}
	word := func() string { return words[rng.IntN(len(words))] }
	refs := func(least int) (refs []canon.Hash) {
		for range least + rng.IntN(3) {
			refs = append(refs, randomRef(rng))
		}
		return refs
	}
	p := contract.GenerateParams{Provider: word(), Model: word(), MessageRefs: refs(1)}
	maybe := func(set func()) {
		if rng.IntN(2) == 0 {
			set()
		}
	}
	a := &p.Runtime
	maybe(func() { p.CorrelationID = contract.Some(word()) })
	maybe(func() { p.APIKey = contract.Secret(word(), rng.Uint64N(9)) })
	maybe(func() { a.Temperature = contract.Some(contract.Decimal(fmt.Sprintf("0.%d", rng.IntN(99)))) })
	maybe(func() { a.MaxTokens = contract.Some(rng.Uint64N(5000)) })
	maybe(func() { a.ToolRefs = refs(0) })
	maybe(func() { a.ToolChoice = &contract.ToolChoice{Tag: contract.ChoiceTool, Name: word()} })
	maybe(func() { a.ReasoningEffort = contract.Some(word()) })
	maybe(func() { a.StopSequences = []string{word()} })
	maybe(func() { a.Metadata = map[string]string{word(): word(), "k": word()} })
	maybe(func() { a.ProviderOptionsRef = contract.Some(randomRef(rng)) })
	maybe(func() { a.ResponseFormatRef = contract.Some(randomRef(rng)) })
	return p
}

package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	config, err := s.Config()
	require.NoError(t, err)
	require.Equal(t, &Config{}, config, "a store without the file says nothing")

	writeFile(t, dir, ConfigName, `{
  "$schema": "https://example.com/config.json",
  "scrub": [{"name": "order", "pattern": "order-[0-9]+"}, {"volatile": true}],
  "nondeterministic": "the models of this product take no temperature",
  "hosts": {"llm.example.com": "openai"},
  "readings": ["added-call"]
}`)
	config, err = s.Config()
	require.NoError(t, err)
	require.Equal(t, &Config{
		Schema:           "https://example.com/config.json",
		Scrub:            []ScrubRule{{Name: "order", Pattern: "order-[0-9]+"}, {Volatile: true}},
		Nondeterministic: "the models of this product take no temperature",
		Hosts:            map[string]string{"llm.example.com": "openai"},
		Readings:         []string{"added-call"},
	}, config)
}

// TestConfigErrorsOnce checks that a value of another kind, and an empty one, has one fault.
func TestConfigErrorsOnce(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	writeFile(t, dir, ConfigName, `{"nondeterministic":1,"hosts":{"a":"","b":1},"max_age":90,"prices":{"n":{},"m":1},
  "a":1,"lint":{"silence":["x"]},"scrub":["x",{"name":"","pattern":"x"}]}`)
	_, err := s.Config()
	var wrong *snapshot.Error
	require.ErrorAs(t, err, &wrong)
	var places []string
	for _, v := range wrong.Violations {
		places = append(places, v.Pointer)
	}
	require.Equal(t, []string{"/a", "/hosts/a", "/hosts/b", "/lint/silence/0", "/max_age", "/nondeterministic", "/prices/m",
		"/prices/n/input", "/prices/n/output", "/scrub/0", "/scrub/1/name"}, places)
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, reason, text, want string }{
		{"json", "it is JSON", `{"hosts":}`, "/hosts: json: offset 9: "},
		{"conflict", "no side is dropped", "{\n<<<<<<< ours\n=======\n>>>>>>> theirs\n}\n",
			"conflict: line 2 is a conflict marker of a merge: merge it by hand"},
		{"array", "it is an object", `[]`, "type: must be an object, is a list"},
		{"unknown", "a member that is spelled wrongly would say nothing", `{"scrubs":[]}`,
			"/scrubs: unknown: did you mean scrub? there are budgets, hosts, lint, max_age, nondeterministic, prices, readings, scrub"},
		{"readings-kind", "a kind that there is not allows nothing", `{"readings":["added-cal"]}`,
			`/readings: value: names "added-cal", and kinds of readings that are findings are added-call, arguments, missing-call and name`},
		{"readings-harmless", "it is no finding", `{"readings":["text"]}`, `/readings: value: names "text"`},
		{"readings-type", "kinds are a list", `{"readings":"name"}`, "/readings: type: must be an array of strings"},
		{"schema-type", "editors ask for it", `{"$schema":1}`, "/$schema: type: must be a string, is a number"},
		{"schema-near", "it is known, though it is not listed", `{"schema":"x"}`,
			"/schema: unknown: did you mean $schema? there are budgets, hosts, lint, max_age, nondeterministic, prices, readings, scrub"},
		{"schema-inside", "it is of the whole file", `{"lint":{"$schema":"x"}}`, "/lint/$schema: unknown: there are silence"},
		{"scrub-type", "rules are a list", `{"scrub":{"volatile":true}}`, "/scrub: type: must be a list of rules, is an object"},
		{"rule-type", "a rule is an object", `{"scrub":["volatile"]}`, "/scrub/0: type: must be an object, is a string"},
		{"rule-unknown", "secrets do not stand in a repository", `{"scrub":[{"name":"a","value":"b"}]}`,
			"/scrub/0/value: unknown: there are name, pattern, volatile"},
		{"rule-name", "the name stands in placeholders", `{"scrub":[{"name":"A b","pattern":"x"}]}`,
			`/scrub/0/name: name: begins with a lower-case letter and has such letters, digits, - and _, is "A b"`},
		{"rule-volatile", "a placeholder says of which rule it is", `{"scrub":[{"name":"uuid","pattern":"ORD-[0-9]+"}]}`,
			`/scrub/0/name: name: is one of the values that differ in each run: call the rule another name than "uuid"`},
		{"rule-pattern", "a pattern is Go's", `{"scrub":[{"name":"a","pattern":"("}]}`,
			"/scrub/0/pattern: value: is no regular expression of Go's: error parsing regexp: missing closing ): `(`"},
		{"rule-half", "a rule needs both", `{"scrub":[{"name":"a"}]}`,
			`/scrub/0: missing: must have a name and a pattern, or "volatile": true alone`},
		{"rule-name-volatile", "a volatile value has its own name", `{"scrub":[{"name":"a","volatile":true}]}`, "/scrub/0: missing: must have a name and"},
		{"rule-pattern-volatile", "it has its own pattern", `{"scrub":[{"pattern":"b","volatile":true}]}`, "/scrub/0: missing: must have a name and"},
		{"rule-both", "a rule is of one kind", `{"scrub":[{"name":"a","pattern":"b","volatile":true}]}`,
			`/scrub/0: missing: must have a name and a pattern, or "volatile": true alone`},
		{"volatile-false", "what is not to be replaced needs no rule", `{"scrub":[{"volatile":false}]}`,
			"/scrub/0/volatile: value: must be true, is false"},
		{"reason-type", "a reason is a text", `{"nondeterministic":true}`, "/nondeterministic: type: must be a string, is a boolean"},
		{"reason-empty", "reviewers read it", `{"nondeterministic":""}`, "/nondeterministic: empty: must not be empty"},
		{"host-port", "ports are no identity", `{"hosts":{"a.example.com:443":"openai"}}`,
			"/hosts/a.example.com:443: name: is for a host, which is written in lower case, without scheme, port and path"},
		{"host-upper", "a host is looked up in lower case", `{"hosts":{"A.example.com":"openai"}}`, "/hosts/A.example.com: name: is for a host"},
		{"host-empty", "there is none", `{"hosts":{"":"openai"}}`, "/hosts/: name: is for a host"},
		{"host-provider", "it is a directory", `{"hosts":{"a.example.com":"../x"}}`,
			`/hosts/a.example.com: name: names a provider with "../x": it has lower-case letters, digits and hyphens`},
		{"hosts-type", "it maps hosts", `{"hosts":null}`, "/hosts: type: must be an object, is null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}))
			writeFile(t, dir, ConfigName, c.text)
			config, err := s.Config()
			var wrong *snapshot.Error
			require.ErrorAs(t, err, &wrong, c.reason)
			require.Equal(t, &Config{}, config)
			require.Contains(t, err.Error(), "config.json: "+c.want)
			require.Contains(t, err.Error(), `way out: correct it, as docs/format.md has it under "Configuration"`)

			result, err := Audit.Verify(s)
			require.NoError(t, err)
			require.Len(t, result.Findings, len(wrong.Violations), "verify says it too")
			require.Equal(t, ConfigName, result.Findings[0].File)
		})
	}
}

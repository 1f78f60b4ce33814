package traceforgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A secret is the value of a variable of this process that must not be stored (design R12).
type secret struct{ variable, value string }

// secretEndings are what the names of variables with credentials end with.
var secretEndings = []string{"_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY"}

// leastSecret is the length, in bytes, of the shortest value that is taken for a credential. Like
// all of them it has a digit: words do not.
const leastSecret = 16

// secretsOf returns the secrets of an environment.
func secretsOf(environment []string) []secret {
	var secrets []secret
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		ends := func(ending string) bool { return strings.HasSuffix(strings.ToUpper(name), ending) }
		if len(value) >= leastSecret && strings.ContainsFunc(value, unicode.IsDigit) && slices.ContainsFunc(secretEndings, ends) {
			secrets = append(secrets, secret{name, value})
		}
	}
	return secrets
}

// in reports whether a text holds the secret, as it is or as in a URL.
func (s secret) in(text []byte) bool {
	return bytes.Contains(text, []byte(s.value)) || bytes.Contains(text, []byte(url.QueryEscape(s.value)))
}

// refuseSecrets returns the failure of a change that would store a secret of this process. Of a
// stream's answer both its bytes and what they say together are looked at.
func refuseSecrets(c snapshot.Change) error {
	secrets := secretsOf(os.Environ())
	if len(secrets) == 0 {
		return nil
	}
	for _, record := range c.Put {
		doc := snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{*record.Snapshot}}
		if err := doc.Seal(); err != nil {
			return err
		}
		text, err := doc.Encode()
		if err != nil {
			return err
		}
		for _, s := range secrets {
			if s.in(text) {
				return s.leaked(record.Provider, placeOf(s, text))
			}
		}
	}
	for _, s := range secrets {
		if slices.ContainsFunc(c.Blobs, s.in) {
			return s.leaked("a provider's", "in the bytes of the answer")
		}
	}
	return nil
}

func (s secret) leaked(provider, place string) *failure {
	return failuref(fmt.Sprintf("%s call holds the value of %s: nothing was recorded", provider, s.variable), "  "+place,
		"keep it out of prompts and answers; if it is no credential, name the variable otherwise")
}

// placeOf returns the pointer of a string that holds the secret in a document.
func placeOf(s secret, document []byte) string {
	var doc struct{ Snapshots []any }
	if json.Unmarshal(document, &doc) != nil || len(doc.Snapshots) != 1 { // unreachable: it was just encoded
		return ""
	}
	pointer, _ := s.find(doc.Snapshots[0])
	return pointer
}

// find returns the pointer of a string below v that holds the secret, or of a member named so.
func (s secret) find(v any) (pointer string, found bool) {
	switch v := v.(type) {
	case string:
		return "", s.in([]byte(v))
	case []any:
		for i, element := range v {
			if below, found := s.find(element); found {
				return "/" + strconv.Itoa(i) + below, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below, found := s.find(v[name])
			if found || s.in([]byte(name)) {
				return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name) + below, true
			}
		}
	}
	return "", false
}

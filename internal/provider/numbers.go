package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// In an answer, these texts replace a vector, which nobody reads. They contain its length, its first numbers, and a
// hash that ties the record to the raw answer.
const (
	signNumbers = "numbers:" // hash; count; the first numbers
	signBase64  = "base64:"  // hash; size in bytes
)

const (
	fewNumbers   = 8   // maximum length of a list that is kept
	shownNumbers = 3   // numbers that are shown of a longer list
	fewBase64    = 512 // shorter texts are kept
)

// brief writes a value in which texts replace long lists of numbers and long base64 texts. A text that looks like such
// a replacement gets one more backslash before it, so that the two cannot be confused.
func brief(v jsontext.Value) json.RawMessage {
	switch {
	case v.IsObject():
		return jsontext.ObjectText(briefObject(v))
	case v.IsArray():
		if digest, ok := numbers(v); ok {
			return digest
		}
		all := list{}
		for _, e := range v.Elements() {
			all = append(all, brief(e))
		}
		return jsontext.List(all)
	case v.IsWord():
		return briefText(v)
	}
	return v.Raw()
}

// briefObject is brief for the members of an object.
func briefObject(v jsontext.Value, without ...string) modelio.Object {
	o := modelio.Object(v.Rest(without...))
	for name := range o {
		o[name] = brief(v.Member(name))
	}
	return o
}

// numbers returns the replacement for a list of many numbers.
func numbers(v jsontext.Value) (digest json.RawMessage, ok bool) {
	if v.Len() <= fewNumbers {
		return nil, false
	}
	var first []string
	hash, count := sha256.New(), 0
	for i, e := range v.Elements() {
		if _, ok := e.Number(); !ok {
			return nil, false
		}
		if raw := e.Raw(); i < shownNumbers {
			first = append(first, string(raw))
		}
		if count++; i > 0 {
			hash.Write([]byte{','})
		}
		hash.Write(e.Raw())
	}
	return jsontext.Text(
		fmt.Sprintf("%ssha256:%x;%d;%s", signNumbers, hash.Sum(nil), count, strings.Join(first, ","))), true
}

func briefText(v jsontext.Value) json.RawMessage {
	text := v.Word()
	if looks := strings.TrimLeft(text, `\`); strings.HasPrefix(looks, signNumbers) ||
		strings.HasPrefix(looks, signBase64) {
		return jsontext.Text(`\` + text)
	}
	if len(text) < fewBase64 {
		return v.Raw()
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodedLen(len(data)) != len(text) { // there are line breaks
		return v.Raw()
	}
	return jsontext.Text(fmt.Sprintf("%ssha256:%x;%d", signBase64, sha256.Sum256(data), len(data)))
}

// answered returns an answer with the elements of a list as custom parts: embeddings, ranks, verdicts. An element that
// is not an object is put into a member with the given name.
func answered(elements jsontext.Value, name string, without ...string) []modelio.Candidate {
	return candidateOf(partsOf(elements, func(e jsontext.Value) modelio.Part {
		if e.IsObject() {
			return modelio.Part{Custom: briefObject(e, without...)}
		}
		return modelio.Part{Custom: modelio.Object{name: brief(e)}}
	})...)
}

// listed returns the decoder for an answer with a list in a member, whose elements are decoded by [answered].
func listed(member, name string, without ...string) decoder {
	return needs(member, hasList(member), func(body jsontext.Value) *modelio.Response {
		return responseOf(body, embeddingsUsage.of(body), answered(body.Member(member), name, without...), member)
	})
}

// candidateOf returns parts as the only answer of an API that does not generate.
func candidateOf(parts ...modelio.Part) []modelio.Candidate {
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel, Content: parts},
		FinishReason: modelio.FinishStop}
	tidy(&c.Message)
	return []modelio.Candidate{c}
}

// stated returns the decoder for an answer that is one object, such as a token count. It must have one of the members,
// of which most answers have the last.
func stated(members ...string) decoder {
	return needs(members[len(members)-1], has(members...), func(body jsontext.Value) *modelio.Response {
		return &modelio.Response{Candidates: candidateOf(modelio.Part{Custom: briefObject(body, "object")})}
	})
}

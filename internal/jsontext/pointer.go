package jsontext

import (
	"fmt"
	"strings"
)

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// PointerTo returns the RFC 6901 pointer with the given tokens.
func PointerTo(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(token))
	}
	return b.String()
}

// ShortPointer shortens a pointer for messages: it keeps both ends of a long one, which say the most.
func ShortPointer(pointer string) string {
	const most, end = 200, 90
	if len(pointer) <= most {
		return pointer
	}
	return strings.ToValidUTF8(pointer[:end], "") + "…" + strings.ToValidUTF8(pointer[len(pointer)-end:], "")
}

// ParsePointer returns the tokens of an RFC 6901 pointer. The empty pointer, for a complete text, has none.
func ParsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, fmt.Errorf("pointer %q does not begin with a slash", Excerpt(pointer))
	}
	tokens := strings.Split(rest, "/")
	for i, token := range tokens {
		if strings.Count(token, "~") != strings.Count(token, "~0")+strings.Count(token, "~1") {
			return nil, fmt.Errorf("pointer %q has a ~ that neither 0 nor 1 follows", Excerpt(pointer))
		}
		tokens[i] = pointerUnescapes.Replace(token)
	}
	return tokens, nil
}

package jsontext

import (
	"fmt"
	"strings"
)

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// PointerTo returns the RFC 6901 pointer that leads down the members and elements that tokens name.
func PointerTo(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(token))
	}
	return b.String()
}

// ShortPointer returns a pointer as messages show it: of a long one both ends, since the middle says least.
func ShortPointer(pointer string) string {
	const most, end = 200, 90
	if len(pointer) <= most {
		return pointer
	}
	return strings.ToValidUTF8(pointer[:end], "") + "…" + strings.ToValidUTF8(pointer[len(pointer)-end:], "")
}

// ParsePointer returns the tokens of an RFC 6901 pointer; none for the pointer of a whole text,
// which is empty.
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

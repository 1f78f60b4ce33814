package secret

import "strings"

// Words returns the words of a command as they may be kept: without secrets, and without the values of options and
// variables that are named as credentials are, as in --password V, --api-key=V and TOKEN=V.
func (s *Scanner) Words(words []string) []string {
	kept := make([]string, len(words))
	option := "" // whose value is next
	for i, word := range words {
		kept[i] = s.Mask(word)
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case option != "" && !strings.HasPrefix(word, "-"):
			kept[i] = valueOf(option, word)
		case assigned && IsVariable(name) && !strings.ContainsAny(name, " /:?&"):
			kept[i] = name + "=" + valueOf(name, value)
		}
		if option = ""; strings.HasPrefix(word, "-") && !assigned && IsVariable(word) {
			option = word
		}
	}
	return kept
}

// valueOf stands for the value of an option. A number is a count, as of --max-tokens.
func valueOf(option, value string) string {
	if isNumber(value) {
		return value
	}
	return "[the value of " + option + "]"
}

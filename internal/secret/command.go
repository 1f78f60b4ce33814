package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Words returns the words of a command as they may be kept, without secrets. Values of options and variables that are
// named as credentials are left out too, as in --password V, --api-key=V and TOKEN=V, also in the text that a shell runs.
func (s *Scanner) Words(words []string) []string {
	kept := make([]string, len(words))
	option := ""  // whose value is next
	runs := false // a shell
	for i, word := range words {
		kept[i] = s.Mask(word)
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case runs && shellOption.MatchString(words[i-1]):
			kept[i] = s.script(kept[i])
		case option != "" && !strings.HasPrefix(word, "-") && (!isSwitch(option) || !isPlain(word)):
			kept[i] = valueOf(option, word)
		case assigned && IsVariable(name) && !strings.ContainsAny(name, " /:?&"):
			kept[i] = name + "=" + valueOf(name, value)
		}
		if option = ""; strings.HasPrefix(word, "-") && !assigned && IsVariable(word) {
			option = word
		}
		runs = runs || shell.MatchString(word)
	}
	return kept
}

var (
	shell       = regexp.MustCompile(`(^|/)(ba|da|z|k|a|fi)?sh(\.exe)?$`)
	shellOption = regexp.MustCompile(`^-[a-z]*c$`) // its value is what the shell runs: bash -ec TEXT
	// Within a word stands also "[the value of NAME]".
	shellWord = regexp.MustCompile(`(?s)(\[(the|an?) [^\]]*\]|[^\s;&|()"'\\]|\\.|"([^"\\]|\\.)*"?|'[^']*'?)+`)
	// No secret is what only names a variable.
	shellVariable = regexp.MustCompile(`^([\w-]+=)?"?\$(\{\w+\}|[A-Za-z_]\w*)?"?$`)
)

// script returns what a shell runs with its words as they may be kept.
func (s *Scanner) script(text string) string {
	kept := s.Words(shellWord.FindAllString(text, -1))
	return shellWord.ReplaceAllStringFunc(text, func(word string) string {
		next := kept[0]
		if kept = kept[1:]; shellVariable.MatchString(word) {
			return word
		}
		return next
	})
}

// isSwitch reports whether an option is named as one without a value: --use-token, --no-password.
func isSwitch(option string) bool {
	verb, _, more := strings.Cut(strings.TrimLeft(option, "-"), "-")
	return more && slices.Contains(switches, strings.ToLower(verb))
}

// switches are the first words of options that turn something on or off.
var switches = strings.Fields(`use no skip enable disable require allow ask prompt without is has force show hide print`)

// isPlain reports whether a word is a name that no credential looks like. Whoever gives a switch a value is safe.
func isPlain(word string) bool {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-_./", r) }
	return !strings.ContainsFunc(word, odd) && !credible(word, least)
}

// valueOf stands for the value of an option. A number is a count, as of --max-tokens.
func valueOf(option, value string) string {
	if isNumber(value) {
		return value
	}
	return "[the value of " + option + "]"
}

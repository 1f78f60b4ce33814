package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Words returns the words of a command without secrets, so that they can be stored. It also replaces the values of
// options and variables with the names of credentials, such as --password V, --api-key=V and TOKEN=V, including those
// in text that a shell runs.
func (s *Scanner) Words(words []string) []string {
	kept := make([]string, len(words))
	option := ""  // the option whose value comes next
	runs := false // the command is a shell
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
	shellOption = regexp.MustCompile(`^-[a-z]*c$`) // the option whose value a shell runs: bash -ec TEXT
	// A word may contain "[the value of NAME]".
	shellWord = regexp.MustCompile(`(?s)(\[(the|an?) [^\]]*\]|[^\s;&|()"'\\]|\\.|"([^"\\]|\\.)*"?|'[^']*'?)+`)
	// A reference to a variable is no secret.
	shellVariable = regexp.MustCompile(`^([\w-]+=)?"?\$(\{\w+\}|[A-Za-z_]\w*)?"?$`)
)

// script returns the text that a shell runs, with its words in the form that can be stored.
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

// isSwitch reports whether an option's name is that of one without a value: --use-token, --no-password.
func isSwitch(option string) bool {
	verb, _, more := strings.Cut(strings.TrimLeft(option, "-"), "-")
	return more && slices.Contains(switches, strings.ToLower(verb))
}

// switches are first words in the names of options that turn something on or off.
var switches = strings.Fields(`use no skip enable disable require allow ask prompt without is has force show hide print`)

// isPlain reports whether a word is a name that cannot be a credential. So a value after a switch is safe too.
func isPlain(word string) bool {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-_./", r) }
	return !strings.ContainsFunc(word, odd) && !credible(word, least)
}

// valueOf returns a placeholder for the value of an option. A number is kept, because it is a count, as in
// --max-tokens.
func valueOf(option, value string) string {
	if isNumber(value) {
		return value
	}
	return "[the value of " + option + "]"
}

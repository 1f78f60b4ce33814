// Package commandline handles the command of a program: its words as a shell reads them, and the form in which they can
// be stored. No user's test links it.
package commandline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/secret"
)

// Join returns a command of words, each quoted by [gotest.Quote].
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = gotest.Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Words returns the words of a command that [Join] made. ok is false for any other text, which a shell might treat as
// more than one command.
func Words(command string) (words []string, ok bool) {
	for rest := command; ; {
		word, after := unquote(rest)
		if gotest.Quote(word) != rest[:len(rest)-len(after)] {
			return nil, false
		}
		words = append(words, word)
		if after == "" {
			return words, true
		}
		if rest, ok = strings.CutPrefix(after, " "); !ok {
			return nil, false
		}
	}
}

// quoted matches the first word of a text, in one of the three spellings of gotest.Quote.
var quoted = regexp.MustCompile(`^(?:\$'([^']+)'|'((?:[^']|'\\'')*)'|([^ ]*))`)

// unquote returns the first word of a quoted text, and the rest. The caller checks that gotest.Quote spells the word
// the same way.
func unquote(text string) (word, rest string) {
	m := quoted.FindStringSubmatch(text)
	word = octal.ReplaceAllStringFunc(m[1], func(code string) string {
		c, _ := strconv.ParseUint(code[1:], 8, 8)
		return string([]byte{byte(c)})
	})
	return word + strings.ReplaceAll(m[2], `'\''`, "'") + m[3], text[len(m[0]):]
}

var octal = regexp.MustCompile(`\\[0-7]{3}`)

// Masked returns the words of a command without secrets, so that they can be stored. It also replaces the values of
// options and variables with the names of credentials, such as --password V, --api-key=V and TOKEN=V, including those
// in text that a shell runs.
func Masked(words []string, secrets *secret.Scanner) []string {
	kept := make([]string, len(words))
	option := ""  // the option whose value comes next
	runs := false // the command is a shell
	text := false // the shell runs its next operand
	for i, word := range words {
		kept[i] = secrets.Mask(word)
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case text && !strings.HasPrefix(word, "-"):
			kept[i] = script(kept[i], secrets)
			text = false
		case option != "" && !strings.HasPrefix(word, "-") && (!isSwitch(option) || !isPlain(word)):
			kept[i] = valueOf(option, word)
		case assigned && (secret.IsVariable(name) || isLogin(name, value)) && !strings.ContainsAny(name, " /:?&"):
			kept[i] = name + "=" + valueOf(name, value)
		}
		next := words[min(i+1, len(words)-1)]
		if option = ""; strings.HasPrefix(word, "-") && !assigned && (secret.IsVariable(word) || isLogin(word, next)) {
			option = word
		}
		text = text || runs && shellOption.MatchString(word)
		runs = runs || shell.MatchString(word)
	}
	return kept
}

var (
	shell       = regexp.MustCompile(`(^|/)(ba|da|z|k|a|fi)?sh(\.exe)?$`)
	shellOption = regexp.MustCompile(`^-[a-z]*c[a-z]*$`) // the option before the text that a shell runs: bash -ec TEXT
	// A word may contain "[the value of NAME]".
	shellWord   = regexp.MustCompile(`(?s)(\[(the|an?) [^\]]*\]|[^\s;&|()"'\\]|\\.|"([^"\\]|\\.)*"?|'[^']*'?)+`)
	shellQuoted = regexp.MustCompile(`(?s)^(?:'([^']*)'|"([^"\\]*)")$`)
	// A reference to a variable is no secret.
	shellVariable = regexp.MustCompile(`^([\w-]+=)?"?\$(\{\w+\}|[A-Za-z_]\w*)?"?$`)
)

// script returns the text that a shell runs, with its words in the form that can be stored.
func script(text string, secrets *secret.Scanner) string {
	if m := shellQuoted.FindStringSubmatch(text); m != nil { // within the text of another shell
		quote := text[:1]
		return quote + script(m[1]+m[2], secrets) + quote
	}
	kept := Masked(shellWord.FindAllString(text, -1), secrets)
	return shellWord.ReplaceAllStringFunc(text, func(word string) string {
		next := kept[0]
		if kept = kept[1:]; shellVariable.MatchString(word) {
			return word
		}
		return next
	})
}

// isLogin reports whether an option has a name and a password as its value, as in curl -u NAME:PASSWORD. A user's and a
// group's number have the same form.
func isLogin(option, value string) bool {
	return slices.Contains([]string{"-u", "-U", "--user", "--proxy-user"}, option) && login.MatchString(value) &&
		!strings.Contains(value, "://")
}

var login = regexp.MustCompile(`^[^:]+:.*[^0-9]`)

// isSwitch reports whether an option's name is that of one without a value: --use-token, --no-password.
func isSwitch(option string) bool {
	verb, _, more := strings.Cut(strings.TrimLeft(option, "-"), "-")
	return more && slices.Contains(switches, strings.ToLower(verb))
}

// switches are first words in the names of options that turn something on or off.
var switches = strings.Fields(
	`use no skip enable disable require allow ask prompt without is has force show hide print`)

// isPlain reports whether a word is a name that cannot be a credential. So a value after a switch is safe too.
func isPlain(word string) bool {
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-_./", r) }
	return !strings.ContainsFunc(word, odd) && !secret.IsCredible(word)
}

// valueOf returns a placeholder for the value of an option. A number is kept, because it is a count, as in
// --max-tokens.
func valueOf(option, value string) string {
	if strings.Trim(value, "0123456789") == "" {
		return value
	}
	return "[the value of " + option + "]"
}

package scrub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// volatile returns the finders of volatile values. Each first looks for a few bytes that all of its values contain, so
// that long texts are searched quickly.
func volatile() []finder {
	tmp := append(rootOf(os.TempDir(), "/"), tmpRoots...)
	home, _ := os.UserHomeDir()
	homes := append(rootOf(home, ""), homeRoots...)
	return []finder{
		{name: "tmp", find: directories(tmp, matchTemporary), anywhere: directories(tmpRoots, matchTemporary)},
		{name: "home", find: directories(homes, matchHome), anywhere: directories(homeRoots, matchHome)},
		{name: "port", find: findPorts},
		{name: "uuid", find: findUUIDs},
		{name: "time", find: findTimes},
	}
}

// directories returns a function that finds directories below some roots. matches returns the length of the directory
// at the start of a text, or 0. Windows paths start with a drive.
func directories(roots []string, matches func(text, root string) int) func(string) []span {
	return func(text string) (found []span) {
		end := 0
		below := func(start, rest int) { // a root, behind which the rest is
			if start < end || !beginsPath(text[:start]) {
				return
			}
			if n := matches(text[start:], text[start:rest]); n > 0 {
				end = start + n
				found = append(found, span{start, end})
			}
		}
		for i := range len(text) {
			switch text[i] {
			case ':':
				if i > 0 && (strings.HasPrefix(text[i:], `:\`) || strings.HasPrefix(text[i:], ":/")) {
					below(i-1, i+1)
				}
			case '/':
				for _, root := range roots {
					if strings.HasPrefix(text[i:], root) {
						below(i, i+len(root))
					}
				}
			}
		}
		return found
	}
}

// beginsPath reports whether a path can start after the given text. In the middle of a path there is no root.
func beginsPath(before string) bool {
	if before == "" || strings.HasSuffix(before, "file://") {
		return true
	}
	c := before[len(before)-1]
	return !isLetter(c) && !isDigit(c) && !strings.ContainsRune("/\\._-~", rune(c))
}

// Roots of Linux, macOS, BSD and atomic Linux, which any machine may have.
var (
	tmpRoots = []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/tmp/", "/private/var/folders/",
		"/var/folders/"}
	homeRoots = []string{"/home/", "/Users/", "/usr/home/", "/var/home/"}
)

// rootOf returns a directory of this process as a root that ends in end; nil if the directory is unknown.
func rootOf(dir, end string) []string {
	if dir = filepath.ToSlash(filepath.Clean(dir)); len(dir) > 1 && dir[0] == '/' {
		return []string{dir + end}
	}
	return nil
}

const component = `[^/\\\s"'<>|:;,*?()\[\]{}` + "`]+"

var (
	firstComponent = regexp.MustCompile(`^` + component)
	numberedBelow  = regexp.MustCompile(`^(?:/[0-9]+\b)+`) // such as the 001 of t.TempDir
	pytestBelow    = regexp.MustCompile(`^/pytest-[0-9]+/` + component)
	macFolder      = regexp.MustCompile(`^[^/\s]+/[^/\s]+/[A-Z]\b/?`)
	windowsTemp    = regexp.MustCompile(`^[A-Za-z]:[\\/]+Users[\\/]+` + component +
		`[\\/]+AppData[\\/]+Local[\\/]+Temp(?:[\\/]+` + component + `(?:[\\/]+[0-9]+\b)*)?`)
	windowsHome     = regexp.MustCompile(`^[A-Za-z]:[\\/]+Users[\\/]+` + component)
	randomComponent = regexp.MustCompile(`[0-9]|^tmp|^pytest-of-|[-_.][A-Za-z0-9]{6,}$`)
)

// matchTemporary matches a directory that was made for one run: its name, and random names below it. A file with a
// fixed name, such as /tmp/report, does not match.
func matchTemporary(text, root string) int {
	if root[len(root)-1] == ':' {
		return len(windowsTemp.FindString(text))
	}
	end := len(root)
	if strings.HasSuffix(root, "/folders/") {
		folder := macFolder.FindString(text[end:])
		if folder == "" {
			return 0
		}
		end += len(folder)
	}
	name := strings.TrimRight(firstComponent.FindString(text[end:]), ".")
	if !randomComponent.MatchString(name) {
		if strings.HasSuffix(root, "/folders/") {
			return len(strings.TrimSuffix(text[:end], "/"))
		}
		return 0
	}
	end += len(name)
	if strings.HasPrefix(name, "pytest-of-") {
		end += len(pytestBelow.FindString(text[end:]))
	}
	return end + len(numberedBelow.FindString(text[end:]))
}

// matchHome matches a user's directory.
func matchHome(text, root string) int {
	switch root[len(root)-1] {
	case ':':
		return len(windowsHome.FindString(text))
	case '/':
		name := strings.TrimRight(firstComponent.FindString(text[len(root):]), ".")
		if name == "" {
			return 0
		}
		return len(root) + len(name)
	}
	if rest := text[len(root):]; rest != "" && rest[0] != '/' && firstComponent.MatchString(rest) {
		return 0 // part of a longer name
	}
	return len(root)
}

// leastPort is the first port that the operating system assigns to servers that do not choose one.
const leastPort = 32768

func findPorts(text string) (found []span) {
	for i := range len(text) {
		if text[i] != ':' {
			continue
		}
		at, end := i+1, i+1
		for end < len(text) && isDigit(text[end]) {
			end++
		}
		if end-at != 5 {
			continue
		}
		port, _ := strconv.Atoi(text[at:end])
		host := text[:i]
		for _, name := range []string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0"} {
			if port >= leastPort && strings.HasSuffix(host, name) {
				found = append(found, span{at, end})
			}
		}
	}
	return found
}

// findUUIDs finds UUIDs; those of version 4 also without hyphens.
func findUUIDs(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isHex(text[i]) {
			i++
		}
		if n := i - start; n != 8 && n != 32 || start > 0 && isLetter(text[start-1]) {
			continue
		}
		n := len(uuidForm.FindString(text[start:]))
		if n > 0 && (start+n == len(text) || !isLetter(text[start+n]) && !isDigit(text[start+n])) {
			found = append(found, span{start, start + n})
			i = start + n
		}
	}
	return found
}

var uuidForm = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|` +
	`[0-9a-f]{4}4[0-9a-f]{3}[89ab][0-9a-f]{15})`)

// timeForms are formats of a date with a time of day, each with the position of the first colon.
var timeForms = []struct {
	colon int
	form  *regexp.Regexp
}{
	// RFC 3339, ISO 8601, log files, SQL, and the default formats of Go and Python.
	{13, regexp.MustCompile(`^[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?` +
		`(?:Z\b| ?(?:UTC|GMT)\b| ?[+-][0-9]{2}:?[0-9]{2}\b(?: [A-Z]{3,4}\b)?)?(?: m=[+-][0-9.]+)?`)},
	// date and ctime.
	{13, regexp.MustCompile(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}` +
		`(?: [A-Z]{2,5}\b)?(?: [0-9]{4}\b)?`)},
	// RFC 1123 and RFC 9110.
	{19, regexp.MustCompile(`^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} ` +
		`(?:[A-Z]{3}\b|[+-][0-9]{4}\b)`)},
}

func findTimes(text string) (found []span) {
	at := 0 // the end of the last time
	for colon := range len(text) - 1 {
		if text[colon] != ':' || colon < max(at, 2) || !isDigit(text[colon-1]) || !isDigit(text[colon+1]) {
			continue
		}
		for _, t := range timeForms {
			start := colon - t.colon
			if start < 0 || start > 0 && (isDigit(text[start-1]) || isLetter(text[start-1])) {
				continue
			}
			if n := len(t.form.FindString(text[start:])); n > 0 {
				at = start + n
				found = append(found, span{start, at})
				break
			}
		}
	}
	return found
}

// isoDate matches a date of ISO 8601 that is no part of a name, such as a model's.
var isoDate = regexp.MustCompile(
	`(?:^|[^0-9A-Za-z_./-])([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?:[^0-9A-Za-z_/-]|$)`)

// findDates finds dates within texts. A text that consists of a date alone is the version of an API, or a parameter.
func findDates(text string) (found []span) {
	for at := 0; ; {
		m := isoDate.FindStringSubmatchIndex(text[at:])
		if m == nil || m[3]-m[2] == len(text) {
			return found
		}
		found = append(found, span{at + m[2], at + m[3]})
		at += m[3]
	}
}

// clocks matches values from a clock: dates, days of the week, times of day, seconds and milliseconds since 1970.
var clocks = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{4}\b|\b1[0-9]{9}(?:[0-9]{3}){0,3}(?:\.[0-9]+)?\b|` +
	`\b(?:[0-9]{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (?:[0-9]{1,2}(?:st|nd|rd|th)?,? )?[0-9]{4}\b|` +
	`\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?[AaPp][Mm])?\b`)

// WithoutClock returns a text without values from a clock.
func WithoutClock(text json.RawMessage) []byte { return clocks.ReplaceAllLiteral(text, nil) }

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

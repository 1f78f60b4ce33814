package snapshot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

const (
	idMost       = 64 // characters of an ID (design R4)
	slugMost     = 40 // characters of a slug, so that n has room
	idHexDigits  = 12
	tagHexDigits = 8
)

// ID returns the id of the n-th snapshot, counted from 1, that a test recorded first (design
// R4): <slug of the test's name>-<n>-<12 hexadecimal digits>. The digits are from the SHA-256
// of the test package's import path, the test's name and n, with a zero byte between them. The
// id is a legal file name everywhere: at most 64 characters of a to z, 0 to 9 and -.
//
// The slug is the name in lower case with a - for each run of other characters. If that loses
// more than case and punctuation, or is longer than 40 characters, its first 31 are followed
// by - and 8 digits of the name's own SHA-256, so that tests with long or non-ASCII names keep
// apart.
func ID(pkg, test string, n int) string {
	ordinal := strconv.Itoa(n)
	digits := canon.Sum([]byte(pkg + "\x00" + test + "\x00" + ordinal)).Hex()[:idHexDigits]
	slug := slugOf(test)
	room := idMost - len("-") - len(ordinal) - len("-") - idHexDigits
	return slug[:min(len(slug), room)] + "-" + ordinal + "-" + digits
}

func slugOf(test string) string {
	var b strings.Builder
	lossy := false
	for _, r := range test {
		switch {
		case 'A' <= r && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			lossy = lossy || r > 0x7f
			if s := b.String(); s != "" && s[len(s)-1] != '-' {
				b.WriteByte('-')
			}
		}
	}
	slug := strings.TrimSuffix(b.String(), "-")
	if slug != "" && !lossy && len(slug) <= slugMost {
		return slug
	}
	tag := canon.Sum([]byte(test)).Hex()[:tagHexDigits]
	slug = strings.TrimSuffix(slug[:min(len(slug), slugMost-len("-")-tagHexDigits)], "-")
	if slug == "" {
		return tag
	}
	return slug + "-" + tag
}

// checkID says what id must be to name a file, or nothing if it can.
func checkID(id string) string {
	if !isName(id) {
		return "at most 64 characters of a to z, 0 to 9 and -, and not start with -, and not be a device name of Windows"
	}
	return ""
}

// checkProvider says what provider must be to name a directory of a store, or nothing if it can.
func checkProvider(provider string) string {
	if !isName(provider) || provider == blobDir {
		return fmt.Sprintf("at most 64 characters of a to z, 0 to 9 and -, not start with -, not be a device name of Windows, and not be %s", blobDir)
	}
	return ""
}

// isName reports whether s is a legal name of a file or a directory everywhere.
func isName(s string) bool {
	if s == "" || len(s) > idMost || s[0] == '-' || len(s) <= deviceNameMost && deviceNames[s] {
		return false
	}
	for _, c := range []byte(s) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

const deviceNameMost = 4 // characters of a device name

// deviceNames are names that Windows has no files of, with any extension.
var deviceNames = func() map[string]bool {
	names := map[string]bool{"con": true, "prn": true, "aux": true, "nul": true}
	for _, n := range "0123456789" {
		names["com"+string(n)] = true
		names["lpt"+string(n)] = true
	}
	return names
}()

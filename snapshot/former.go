package snapshot

import (
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

const (
	formerSlugMost  = 40 // characters
	formerTagDigits = 8
)

// FormerName returns the document name that a test has in a store of [VersionSF]: without the test's package.
func FormerName(pkg, test string) string {
	short := slug(test)
	lossy := strings.ContainsFunc(test, func(r rune) bool { return r > 0x7f })
	if short == "" || lossy || len(short) > formerSlugMost {
		tag := canon.Sum([]byte(test)).Hex()[:formerTagDigits]
		short = strings.TrimSuffix(short[:min(len(short), formerSlugMost-len("-")-formerTagDigits)], "-")
		short = strings.TrimPrefix(short+"-"+tag, "-")
	}
	return short + "-" + nameDigits(pkg, test)
}

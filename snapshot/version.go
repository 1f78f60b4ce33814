package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// OtherVersion returns the violation of a document or manifest whose version is not [Version]. An older version is
// refused in SF's words, and [VersionSF] with the two ways to migrate it. A newer one needs a newer traceforge: to
// record it again would downgrade the store.
func OtherVersion(version string) Violation {
	if newer(version) {
		message := fmt.Sprintf("Snapshot version %s was written by a newer traceforge, and this one reads %s: "+
			"upgrade (go get -u github.com/traceforge/traceforge-go)", jsontext.Excerpt(version), Version)
		return Violation{Pointer: "/version", Rule: RuleNewer, Message: message}
	}
	wayOut := "Re-record all snapshots"
	if version == VersionSF {
		wayOut = "Bring it over, which makes no call: traceforge snapshot migrate --from " + VersionSF + " --to " + Version +
			" --write, or go test -update"
	}
	message := fmt.Sprintf("Snapshot version %s is no longer supported\n   Current version: %s\n   %s",
		jsontext.Excerpt(version), Version, wayOut)
	return Violation{Pointer: "/version", Rule: RuleVersion, Message: message}
}

// newer reports whether a version is later than [Version]. It is false for an invalid version.
func newer(version string) bool {
	var major, minor, patch int
	fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch) // it would also take signs
	return strings.HasPrefix(version, fmt.Sprintf("%d.%d.%d", major, minor, patch)) &&
		slices.Compare([]int{major, minor, patch}, []int{1, 1, 0}) > 0
}

// CheckNewer returns an [*Error] that is [ErrNewer] if data is a document or manifest with a later version than
// [Version]. Nobody must replace a newer file. It reports no other fault of data.
func CheckNewer(data []byte) error {
	version := jsontext.ValueOf(data).Member("version").Word()
	if !newer(version) {
		return nil
	}
	return &Error{Violations: []Violation{OtherVersion(version)}}
}

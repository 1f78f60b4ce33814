package audit

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/store"
)

// VerifyFiles is [Verify] for the documents that files belong to, or are beside. The files are paths in the store: of
// documents, of raw answers and media, and of strays. It opens no other document, and not the manifest. Files that are
// not there, as those that a branch removed, are no findings by themselves.
func VerifyFiles(s *store.Store, files []string, checks ...store.Check) (*Result, error) {
	return verified(s, checks, func(v *verifier) error {
		v.only = map[string]bool{}
		for _, file := range files {
			first, rest, _ := strings.Cut(file, "/")
			second, _, _ := strings.Cut(rest, "/")
			v.only[stem(first)], v.only[stem(second)] = true, true
		}
		if err := v.documents(); err != nil {
			return err
		}
		return v.texts()
	})
}

// leavesOut reports whether nothing is to be said of a file at the top of a store or in a provider's directory.
func (v *verifier) leavesOut(name string) bool {
	return v.only != nil && !v.only[stem(name)]
}

// stem returns the name of the document that a file is, or is beside.
func stem(name string) string { return strings.TrimSuffix(name, store.DocumentExt) }

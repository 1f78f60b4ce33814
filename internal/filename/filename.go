// Package filename defines the legal names of documents and providers.
package filename

import (
	"slices"
	"strings"
)

// The maximum lengths of names, in characters.
const (
	Most         = 64 // of a provider
	DocumentMost = 96
)

// Legal reports whether s is a legal name of a provider, which is a valid file name on every system.
func Legal(s string) bool { return legal(s, Most) }

// LegalDocument reports whether s is a legal name of a document.
func LegalDocument(s string) bool { return legal(s, DocumentMost) }

func legal(s string, most int) bool {
	return s != "" && len(s) <= most && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!slices.Contains(deviceNames, s)
}

// deviceNames are names that no file on Windows may have, with any extension.
var deviceNames = []string{
	"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

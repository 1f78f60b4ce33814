package snapshot

import (
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
)

const (
	nameHexDigits = 12
	packageMost   = 40 // characters of the package in a name
	slugMost      = filename.DocumentMost - len("-") - nameHexDigits
)

// ProgramPackage takes the place of the package for programs that traceforge exec recorded and that are not Go tests.
// No import path looks like it. The test is the name given to exec, and the function is the program's command.
const ProgramPackage = "traceforge exec"

// DocumentName returns the name of the document with the calls of a test. It joins the last two elements of the
// package's import path, the test's name, and 12 hexadecimal digits of a hash by "-". The hash is the SHA-256 of the
// import path and the test's name, with a zero byte between them. The name followed by "-<n>" is the id of a record. It
// has at most 96 characters and is a legal file name everywhere: a to z, 0 to 9 and "-".
//
// Each part is in lower case, with a "-" for each run of other characters. Path elements that are a major version, such
// as v2, and a "_test" at the end are left out. A longer package keeps its last 40 characters, and a longer test name
// its first.
func DocumentName(pkg, test string) string {
	own := slug(packageOf(pkg))
	if len(own) > packageMost {
		own = strings.TrimPrefix(own[len(own)-packageMost:], "-")
	}
	name := strings.Trim(own+"-"+slug(test), "-")
	name = strings.TrimSuffix(name[:min(len(name), slugMost)], "-")
	return strings.TrimPrefix(name+"-"+nameDigits(pkg, test), "-")
}

func nameDigits(pkg, test string) string {
	return canon.Sum([]byte(pkg + "\x00" + test)).Hex()[:nameHexDigits]
}

// packageOf returns the part of an import path that distinguishes a package from its neighbors.
func packageOf(path string) string {
	if path == ProgramPackage {
		return "exec"
	}
	elements := slices.DeleteFunc(strings.Split(strings.TrimSuffix(path, "_test"), "/"), majorVersion.MatchString)
	return strings.Join(elements[max(0, len(elements)-2):], "-")
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// slug returns a text in lower case, with a "-" for each run of characters other than letters and digits, except at its
// ends.
func slug(text string) string {
	isOther := func(r rune) bool { return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9') }
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, isOther), "-"))
}

// ID returns the id of the n-th record of a document, counted from 1.
func ID(document string, n int) string { return document + "-" + strconv.Itoa(n) }

// ParseID returns the document and the number in an id. ok is false for an id of another form, which other writers of
// the format may use.
func ParseID(id string) (document string, n int, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[i+1:])
	if err != nil || n < 1 || strconv.Itoa(n) != id[i+1:] || !filename.LegalDocument(id[:i]) {
		return "", 0, false
	}
	return id[:i], n, true
}

// Number returns the n of the record's id, by which other records refer to it; 0 if the id has another form.
func (s *Snapshot) Number() int {
	_, n, _ := ParseID(s.ID)
	return n
}

// RawName returns the name of the file with the provider's own bytes of the n-th call, in the document's directory:
// "1.sse". The extension depends on the content type of the answer.
func RawName(n int, r *Response) string {
	contentType := http.Header(r.Headers).Get("Content-Type")
	if values := r.Headers[contentTypeName]; contentType == "" && len(values) > 0 {
		contentType = values[0]
	}
	return strconv.Itoa(n) + "." + extension(contentType)
}

// extension returns the file extension of a content type. It uses its own table, because the operating system's differs
// between machines.
func extension(contentType string) string {
	if known := extensions[contentType]; known != "" {
		return known
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(contentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if known := extensions[kind]; known != "" {
		return known
	}
	if strings.HasPrefix(kind, "text/") {
		return "txt"
	}
	return "bin"
}

var extensions = map[string]string{
	"application/json":     "json",
	"application/pdf":      "pdf",
	"application/x-ndjson": "jsonl",
	"audio/flac":           "flac",
	"audio/mpeg":           "mp3",
	"audio/ogg":            "ogg",
	"audio/wav":            "wav",
	"image/gif":            "gif",
	"image/jpeg":           "jpg",
	"image/png":            "png",
	"image/svg+xml":        "svg",
	"image/webp":           "webp",
	"text/event-stream":    "sse",
	"text/html":            "html",
	"video/mp4":            "mp4",
	"video/webm":           "webm",
}

package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// dataURL returns the data: URI for base64 text, which is not checked.
func dataURL(contentType, base64 string) string {
	return "data:" + contentType + ";base64," + base64
}

// SplitDataURL is the inverse of dataURL.
func SplitDataURL(url string) (contentType, base64 string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}

// media returns a media part. Its content type is known only for a data: URI.
func media(url string) modelio.Part {
	var contentType string
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		contentType, _, _ = strings.Cut(rest, ",")
		contentType, _, _ = strings.Cut(contentType, ";")
	}
	return modelio.MediaPart(contentType, url)
}

// isContentType reports whether s is a media type that SplitDataURL finds again in a data: URI. It may have parameters.
func isContentType(s string) bool {
	major, minor, _ := strings.Cut(s, "/")
	return major != "" && minor != "" && minor[0] != ';' && !strings.ContainsAny(s, ", \t\r\n") &&
		!strings.Contains(s, ";base64")
}

// mediaTypes are the content types for media formats of some APIs, if they are not the kind and the format.
var mediaTypes = []struct{ kind, format, contentType string }{
	{"audio", "mp3", "audio/mpeg"},
	{"document", "pdf", "application/pdf"},
	{"document", "csv", "text/csv"},
	{"document", "doc", "application/msword"},
	{"document", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"document", "xls", "application/vnd.ms-excel"},
	{"document", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"document", "html", "text/html"},
	{"document", "txt", "text/plain"},
	{"document", "md", "text/markdown"},
}

// MediaFormat returns the kind and the format of media with a content type.
func MediaFormat(contentType string) (kind, format string) {
	for _, t := range mediaTypes {
		if t.contentType == contentType {
			return t.kind, t.format
		}
	}
	kind, format, _ = strings.Cut(contentType, "/")
	return kind, format
}

// formattedMedia returns media with a kind and a format. It reports false if [MediaFormat] returns another format.
func formattedMedia(kind, format, base64 string) (*modelio.Media, bool) {
	contentType := kind + "/" + format
	for _, t := range mediaTypes {
		if t.kind == kind && t.format == format {
			contentType = t.contentType
		}
	}
	_, usualFormat := MediaFormat(contentType)
	ok := base64 != "" && isContentType(contentType) && usualFormat == format
	return &modelio.Media{ContentType: contentType, URL: dataURL(contentType, base64)}, ok
}

// The content types that base64 text starts like.
var (
	imageBeginnings = map[string]string{
		"iVBORw": "image/png",
		"/9j/":   "image/jpeg",
		"R0lGOD": "image/gif",
		"UklGR":  "image/webp", // RIFF
	}
	audioBeginnings = map[string]string{
		"UklGR": "audio/wav", // RIFF
		"SUQz":  "audio/mpeg",
		"//uQ":  "audio/mpeg",
		"//PE":  "audio/mpeg",
		"//PU":  "audio/mpeg",
		"ZkxhQ": "audio/flac",
		"T2dnU": "audio/ogg",
	}
)

// sniff returns the content type that base64 text starts like, or unknown.
func sniff(base64 string, beginnings map[string]string, unknown string) string {
	for begin, contentType := range beginnings {
		if strings.HasPrefix(base64, begin) {
			return contentType
		}
	}
	return unknown
}

const unknownType = "application/octet-stream"

// sniffed returns base64 text as media with the content type that it starts like.
func sniffed(base64 string) modelio.Part {
	contentType := sniff(base64, imageBeginnings, "")
	const format = len("UklGRgABAgNX") // in RIFF, images have EBP here, and audio AVE
	if contentType == "image/webp" && !strings.HasPrefix(base64[min(len(base64), format):], "RUJQ") || contentType == "" {
		contentType = sniff(base64, audioBeginnings, unknownType)
	}
	return modelio.MediaPart(contentType, dataURL(contentType, base64))
}

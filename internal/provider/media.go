package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// dataURL returns the data: URI of base64 text, which is not looked at.
func dataURL(contentType, base64 string) string {
	return "data:" + contentType + ";base64," + base64
}

// splitDataURL undoes dataURL.
func splitDataURL(url string) (contentType, base64 string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}

// media returns a media part. What is known of its content type is what a data: URI says.
func media(url string) modelio.Part {
	var contentType string
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		contentType, _, _ = strings.Cut(rest, ",")
		contentType, _, _ = strings.Cut(contentType, ";")
	}
	return modelio.MediaPart(contentType, url)
}

// isContentType reports whether s is a media type that a data: URI can hold so that
// splitDataURL finds it again.
func isContentType(s string) bool {
	major, minor, ok := strings.Cut(s, "/")
	return ok && major != "" && minor != "" && !strings.ContainsAny(s, ";, \t\r\n")
}

// audioType returns the content type of an audio format as OpenAI names it.
func audioType(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + format
}

// audioFormat undoes audioType.
func audioFormat(contentType string) string {
	if contentType == "audio/mpeg" {
		return "mp3"
	}
	return strings.TrimPrefix(contentType, "audio/")
}

// sniffImage returns the content type that base64 text begins like.
func sniffImage(base64 string) string {
	for begin, contentType := range map[string]string{
		"iVBORw": "image/png",
		"/9j/":   "image/jpeg",
		"R0lGOD": "image/gif",
		"UklGR":  "image/webp", // RIFF
	} {
		if strings.HasPrefix(base64, begin) {
			return contentType
		}
	}
	return "application/octet-stream"
}

// sniffAudio returns the content type that base64 text begins like; audio/pcm, which has no
// beginning of its own, if none.
func sniffAudio(base64 string) string {
	for begin, contentType := range map[string]string{
		"UklGR": "audio/wav", // RIFF
		"SUQz":  "audio/mpeg",
		"//uQ":  "audio/mpeg",
		"//PE":  "audio/mpeg",
		"//PU":  "audio/mpeg",
		"ZkxhQ": "audio/flac",
		"T2dnU": "audio/ogg",
	} {
		if strings.HasPrefix(base64, begin) {
			return contentType
		}
	}
	return "audio/pcm"
}

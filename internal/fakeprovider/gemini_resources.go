package fakeprovider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// geminiResources is Google's format for models, files and cached contents.
type geminiResources struct{ gemini }

var _ = serve(func(c *Call) format {
	if googles.MatchString(c.Path) && (c.Method != http.MethodPost || !strings.Contains(c.Path, "/models")) {
		return geminiResources{}
	}
	return nil
})

var googles = regexp.MustCompile(`/v1beta/(models|files|cachedContents)(/[^/:]+)?$`)

func (geminiResources) name() string        { return "gemini.resources" }
func (geminiResources) anyMethod()          {}
func (geminiResources) read(*Call) *Failure { return nil }

// header returns the upload URL for an announced file, or the final status of an uploaded file.
func (f geminiResources) header(x *exchange) http.Header {
	h := f.gemini.header(x)
	switch command := x.call.Header.Get("X-Goog-Upload-Command"); {
	case command == "start":
		h.Set("X-Goog-Upload-Status", "active")
		h.Set("X-Goog-Upload-Url",
			"https://"+x.call.Host+x.call.Path+"?upload_protocol=resumable&upload_id="+x.mint.id("A", alnum, 40))
	case command != "":
		h.Set("X-Goog-Upload-Status", "final")
	}
	return h
}

const shortID = "0123456789abcdefghijklmnopqrstuvwxyz"

func (f geminiResources) whole(x *exchange) []byte {
	upload := x.call.Header.Get("X-Goog-Upload-Command")
	collection, id := path.Split(x.call.Path[strings.Index(x.call.Path, "/v1beta/")+len("/v1beta/"):])
	if collection = strings.TrimSuffix(collection, "/"); collection == "" {
		collection, id = id, ""
	}
	switch {
	case upload == "start":
		return nil
	case x.call.Method == http.MethodDelete:
		return []byte("{}\n")
	case upload != "":
		return indented(object{{"file", f.one(x, "files", "")}})
	case id != "" || x.call.Method == http.MethodPost:
		return indented(f.one(x, collection, id))
	case collection == "models":
		return indented(object{{"models", []object{f.one(x, collection, "gemini-2.5-flash")}}})
	}
	return indented(object{{collection, []object{f.one(x, collection, "")}}})
}

// one returns a resource. A resource without an id is new.
func (geminiResources) one(x *exchange, collection, id string) object {
	now := x.mint.now.Format(time.RFC3339Nano)
	switch collection {
	case "models":
		return object{{"name", "models/" + id}, {"version", "001"}, {"displayName", "Gemini 2.5 Flash"},
			{"inputTokenLimit", 1048576},
			{"outputTokenLimit", 65536}, {"supportedGenerationMethods", []string{"generateContent", "countTokens"}}}
	case "files":
		name := "files/" + x.mint.or(id, "", shortID, 12)
		sum := sha256.Sum256(x.call.Body)
		return object{{"name", name}, {"mimeType", "text/plain"}, {"sizeBytes", strconv.Itoa(len(x.call.Body))},
			{"createTime", now},
			{"updateTime", now}, {"expirationTime", now},
			{"sha256Hash", base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(sum[:])))},
			{"uri", "https://generativelanguage.googleapis.com/v1beta/" + name}, {"state", "ACTIVE"}, {"source", "UPLOADED"}}
	}
	body, _ := parse(x.call.Body) // only a request that creates a resource has a body
	return object{{"name", "cachedContents/" + x.mint.or(id, "", shortID, 40)},
		{"model", body.or("model", "models/gemini-2.5-flash")},
		{"createTime", now}, {"updateTime", now}, {"expireTime", now}, {"displayName", body.or("displayName", "")},
		{"usageMetadata", object{{"totalTokenCount", 2010}}}}
}

package secret

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// TestFind looks for the values of an environment in JSON texts.
func TestFind(t *testing.T) {
	s := New()
	s.Environment([]string{`OPENAI_API_KEY=sk-0123456789/"quoted"`, "SOME_TOKEN=short1", "OTHER_TOKEN=withoutanydigits", "USER=sk-0123456789abcdef", "broken"})
	require.Len(t, s.known, 1, "a value is long, no words, and its variable is named so")
	for _, c := range []struct{ name, why, text, pointer string }{
		{"text", "strings are decoded", `{"a":["b","is sk-0123456789/\"quoted\"."]}`, "/a/1"},
		{"escaped", "however they are spelled", `{"a":"sk-0123456789\/\u0022quoted\""}`, "/a"},
		{"query", "as in a URL", `{"a":{"b/c":"?key=sk-0123456789%2F%22quoted%22"}}`, "/a/b~1c"},
		{"small-query", "in small letters too", `{"a":{"b/c":"?key=sk-0123456789%2f%22quoted%22"}}`, "/a/b~1c"},
		{"surrogate", "in a string that no Go string can hold", `{"a":"\ud800 sk-0123456789/\"quoted\""}`, "/a"},
		{"member", "the name of a member, which is not told", `{"b":{"sk-0123456789/\"quoted\"":1}}`, `/b/[the value of OPENAI_API_KEY]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			hit, found := s.Find([]byte(c.text))
			require.True(t, found, c.why)
			require.Equal(t, Hit{"the value of OPENAI_API_KEY", "OPENAI_API_KEY", c.pointer}, hit)
		})
	}
	_, found := s.Find([]byte(`{"a":"sk-0123456789"}`))
	require.False(t, found)
	hit, found := s.Find([]byte(`no JSON: sk-0123456789/"quoted"`))
	require.True(t, found)
	require.Equal(t, Hit{"the value of OPENAI_API_KEY", "OPENAI_API_KEY", ""}, hit)
	hit, found = s.Find([]byte(`{"a":{"password":"k3Zq8TfPw1"}}`))
	require.True(t, found, "a value that its name makes a secret")
	require.Equal(t, Hit{"a credential named password", "", "/a/password"}, hit)
}

// TestFormatsHaveSources proves that each format says who says so.
func TestFormatsHaveSources(t *testing.T) {
	for _, f := range Formats() {
		require.Regexp(t, `^(gitleaks|betterleaks|trufflehog|noseyparker|warp) \S`, f.Source, f.Prefix)
		require.GreaterOrEqual(t, len(f.Prefix), 3, "the index is one of three bytes")
	}
}

// TestFormats finds a secret of each format, in a text and alone, and nothing where it is one digit shorter, the middle of a
// word, or a placeholder.
func TestFormats(t *testing.T) {
	const digits = "7F3b9D2e5A8c4E6f1B0d"
	s := New()
	for _, f := range Formats() {
		body := ""
		for i := 0; len(body) < f.Least; i++ {
			if d := strings.ToUpper(digits)[i%len(digits)]; f.Digits(digits[i%len(digits)]) {
				body += string(digits[i%len(digits)])
			} else if f.Digits(d) {
				body += string(d)
			}
		}
		hit, found := s.Find([]byte("the key is " + f.Prefix + body + ", take it"))
		require.True(t, found, "%s%s", f.Prefix, body)
		require.NotEmpty(t, hit.What)
		for _, harmless := range []string{
			f.Prefix + strings.Repeat("x", f.Least), f.Prefix + "...", "a" + f.Prefix, f.Prefix + body[:2],
		} {
			_, found := s.Find([]byte("see " + harmless + " there"))
			require.False(t, found, harmless)
		}
	}
}

// TestEncodings finds a value of the environment in each encoding.
func TestEncodings(t *testing.T) {
	s := told("SERVICE_TOKEN")
	each := func(format string, of string) (text string) {
		for _, c := range []byte(of) {
			text += fmt.Sprintf(format, c)
		}
		return text
	}
	var wide, packed bytes.Buffer
	for _, c := range []byte("echo " + opaque) {
		wide.Write([]byte{c, 0})
	}
	w := zlib.NewWriter(&packed)
	_, err := w.Write([]byte(strings.Repeat("the token is ", 9) + opaque))
	require.NoError(t, errors.Join(err, w.Close()))
	for name, text := range map[string]string{
		"hexadecimal": hex.EncodeToString([]byte(opaque)), "capitals": strings.ToUpper(hex.EncodeToString([]byte("a" + opaque))),
		"base32": base32.StdEncoding.EncodeToString([]byte(opaque)), "UTF-16": base64.StdEncoding.EncodeToString(wide.Bytes()),
		"zlib": base64.StdEncoding.EncodeToString(packed.Bytes()), "percent": each("%%%02x", opaque), "percent twice": each("%%25%02X", opaque),
		"quoted-printable": opaque[:9] + "=\r\n" + each("=%02X", opaque[9:]), "escapes": each(`\x%02x`, opaque),
		"HTML": each("&#%d;", opaque), "HTML in hexadecimal": opaque[:5] + each("&#x%x;", opaque[5:]),
	} {
		hit, found := s.Find([]byte("run " + text + " now"))
		require.True(t, found, "%s: %s", name, text)
		require.Equal(t, "the value of SERVICE_TOKEN", hit.What, name)
	}
}

// TestNamesOfHosts finds a host however a stored answer spells it.
func TestNamesOfHosts(t *testing.T) {
	delta := func(text string) string { return `data: {"delta":{"content":"` + text + `"}}` + "\n\n" }
	for _, text := range []string{
		"https://EVIL.example/v1", `{"to":"https:\/\/\u0065vil.example"}`, `{"arguments":"{\"to\":\"\\u0065vil.example\"}"}`,
		"https%3A%2F%2Fevil%2Eexample", delta("go to https://ev") + delta("il.example/v1") + "data: [DONE]\n\n",
		base64.StdEncoding.EncodeToString([]byte("go to https://evil.example")),
	} {
		require.True(t, Names([]byte(text), "evil.example"), text)
	}
	require.False(t, Names([]byte("https://good.example"), "evil.example"))
	require.True(t, Names([]byte("http://[::]/"), "::"))
}

// TestNames tells names of variables and headers that carry a credential from others.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"SSH_KEY_FILE_CONTENT": true, "TLS_KEY_DATA": true, "SERVICE_TOKEN_B64": true, "SSH_KEY_FILE": false, "HTTP_CONTENT": false, "PAGE_DATA": false,
	} {
		require.Equal(t, want, IsVariable(name), name)
	}
	for name, want := range map[string]bool{
		"Helicone-Auth": true, "X-Auth": true, "X-Credential": true, "X-Session": true, "X-Auth-Request-Id": true,
		"Mcp-Session-Id": false, "X-Author": false, "Content-Type": false, "X-Request-Id": false, "Anthropic-Version": false,
	} {
		require.Equal(t, want, isHeader(name), name)
	}
}

// opaque is a secret of no known form.
const opaque = "q7Xw2mPz9LtB4vKd8RsN1yHc"

func told(variable string) *Scanner {
	s := New()
	s.Environment([]string{variable + "=" + opaque})
	return s
}

// TestStreams looks for a secret that events deliver in pieces.
func TestStreams(t *testing.T) {
	pieces := func(template, separator string) string {
		var events []string
		for i := 0; i < len(opaque); i += 5 {
			events = append(events, fmt.Sprintf(template, opaque[i:min(i+5, len(opaque))]))
		}
		return strings.Join(events, separator)
	}
	frame := func(payload string) string {
		var b strings.Builder
		headers := "\x0b:event-type\x07\x00\x05chunk"
		binary.Write(&b, binary.BigEndian, [3]uint32{uint32(16 + len(headers) + len(payload)), uint32(len(headers)), 0})
		return b.String() + headers + payload + "\x00\x00\x00\x00"
	}
	var bedrock strings.Builder
	for event := range strings.SplitSeq(pieces(`{"delta":{"text":"%s"}}`, "\n"), "\n") {
		bedrock.WriteString(frame(`{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(event)) + `","p":"abcd"}`))
	}
	for _, c := range []struct{ name, why, text string }{
		{"sse", "", "data: " + pieces(`{"n":1,"a":[{"b":"%s"}]}`, "\n\ndata: ")},
		{"crlf", "the other line end", "event: x\r\ndata: " + pieces(`{"a":"%s"}`, "\r\n\r\nevent: x\r\ndata: ")},
		{"cr", "and the oldest one, of events that end with an index", "event: x\rdata: " + pieces(`{"a":"%s","index":0}`, "\r\rid: 12\rdata: ")},
		{"lines-of-data", "an event of several lines", "data: " + pieces("{\ndata: \"a\":\"%s\"}", "\n\ndata: ")},
		{"index-in-lines", "whose index is on another line", "data: " + pieces("{\"i\":{\"index\":1,\ndata: \"t\":\"%s\"}}",
			"\n\ndata: {\"i\":{\"index\":2,\ndata: \"t\":\"other\"}}\n\ndata: ")},
		{"cr-broken", "what is cut off ends with its event", "data: " + pieces(`{"a":"%s"}`, "\r\rdata: {\"a\": [{\r\rdata: ")},
		{"crlf-broken", "so it does here", "data: " + pieces(`{"a":"%s"}`, "\r\n\r\ndata: {\"b\": \"\r\n\r\ndata: ")},
		{"index", "two that come in turns", "data: " + pieces(`{"i":{"index":1,"t":"%s"}}`, "\n\ndata: {\"i\":{\"index\":2,\"t\":\"other\"}}\n\ndata: ")},
		{"ndjson", "lines", pieces(`{"a":"%s"}`, "\n")},
		{"array", "Gemini without alt=sse", "[" + pieces(`{"a":[{"b":"%s"}]}`, ",\n") + "]"},
		{"event-stream", "Amazon's frames, in which JSON is base64", bedrock.String()},
		{"arguments", "a JSON text in pieces", strings.ReplaceAll("data: "+pieces(`{"a":"%s"}`, "\n\ndata: "), opaque[:5], `{\"x\":\"`+opaque[:5])},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NotContains(t, c.text, opaque, c.why)
			hit, found := told("API_KEY").Find([]byte(c.text))
			require.True(t, found, c.why)
			require.Equal(t, Hit{What: "the value of API_KEY", Variable: "API_KEY"}, hit)
		})
	}
	_, found := New().Find([]byte(strings.Repeat(`data: {"provider":"xai-","a":"b"}`+"\n\n", 30)))
	require.False(t, found, "what each event has is no piece")
}

// TestWindows looks for secrets anywhere in long texts, where they are decoded by parts.
func TestWindows(t *testing.T) {
	s := told("TOKEN")
	for _, at := range []int{0, window - 10, window, window + overlap - 10, 3*window + 7, 200_000} {
		for name, text := range map[string]string{
			"escaped": strings.Repeat(`\n`, at/2) + strings.Replace(opaque, "X", `\u0058`, 1) + strings.Repeat(`\t`, 50_000),
			"base64":  base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", at) + opaque + strings.Repeat("y", 50_000))),
		} {
			require.Len(t, strings.Split(text, opaque), 1)
			_, found := s.Find([]byte(text))
			require.True(t, found, "%s at %d", name, at)
		}
	}
}

// TestValues says what values of variables are secrets. Each variable is named as a credential.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name, why, value string
		want             bool
	}{
		{"opaque", "", opaque, true},
		{"short", "shorter ones stand in texts by accident", "abc123!", false},
		{"eight", "the length that password rules ask for", "hunter22", true},
		{"truth", "a switch", "true", false},
		{"word", "a word", "summarizationmodel", false},
		{"words", "words", "not-needed-here", false},
		{"sentence", "letters alone are secret from 20 on: passphrases", "correcthorsebatterystaple", true},
		{"letters", "or where no words look so", "bqzxwvkjhplm", true},
		{"capitals", "or where capitals stand within", "aBcDeFgHiJkL", true},
		{"names", "but not where words begin with them", "TraceForgeReplay", false},
		{"date", "digits alone are dates and counts", "2026-01-09", false},
		{"digits", "or secrets, if there are many", "1234567890123456", true},
		{"path", "a file that holds it", "/run/secrets/key1", false},
		{"slash", "base64 that begins with a slash", "/aB3dEfGhIjKlMnOpQrStUvWx/yZ0123456789AbC", true},
		{"windows", "a file that holds it", `C:\secrets\key1`, false},
		{"url", "an address without a password", "https://auth.example1.net/token", false},
		{"reference", "what stands for one", "${OPENAI_API_KEY_1}", false},
		{"placeholder", "documentation", "your-api-key-123", false},
		{"masked", "no value", "sk-xxxxxxxxxxxx1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New()
			s.Environment([]string{"SOME_TOKEN=" + c.value})
			_, found := s.Find([]byte("it is " + c.value + " there"))
			require.Equal(t, c.want, found, c.why)
		})
	}
}

// TestPartsOfValues finds the part of a value that is secret: a password in a URL, a member of a connection string, a cookie.
func TestPartsOfValues(t *testing.T) {
	for _, c := range []struct{ variable, secret string }{
		{"MIRROR=https://me:q7Xw2mPz9LtB@mirror.test/x", "q7Xw2mPz9LtB"}, {"MIRROR=https://me:q7Xw%2F2mPz9LtB@mirror.test/x", "q7Xw/2mPz9LtB"},
		{"CONNECTION_STRING=Endpoint=a.test;Password=q7Xw2mPz9LtB", "q7Xw2mPz9LtB"},
	} {
		s := New()
		s.Environment([]string{c.variable})
		_, found := s.Find([]byte("it is " + c.secret + " there"))
		require.True(t, found, c.variable)
	}
	s := New()
	s.Request(http.Header{"Cookie": {"sid=q7Xw2mPz9LtB; theme=dark"}}, &url.URL{User: url.UserPassword("me", "w8Yx3nQz0MuC")}, func(string) bool { return false })
	for _, secret := range []string{"q7Xw2mPz9LtB", "w8Yx3nQz0MuC"} {
		_, found := s.Find([]byte("it is " + secret + " there"))
		require.True(t, found, secret)
	}
}

// TestVariables says which names of variables are those of credentials; that of others holds is in
// traceforgetest's test of planted secrets.
func TestVariables(t *testing.T) {
	for name := range strings.FieldsSeq(`MAX_TOKENS_COUNT TOKEN_LIMIT TOKENIZERS_PARALLELISM SSH_AUTH_SOCK PWD OLDPWD KEYBOARD MONKEY PUBLIC_KEY
		PASSWORD_FILE GOOGLE_APPLICATION_CREDENTIALS_PATH AUTH_TYPE SECRET_NAME HOME PATH LANG AUTHOR PATTERN COMPASS KEY_PREFIX`) {
		require.False(t, IsVariable(name), name)
	}
	for name := range strings.FieldsSeq("openai_api_key DB_PASSWORD TOKEN AWS_ACCESS_KEY_ID private_key_id OPENAI_KEY_2 KEY1 GITHUB_PAT PGPASSWORD") {
		require.True(t, IsVariable(name), name)
	}
}

// TestWhatIsNoSecret has texts that look like secrets and are none.
func TestWhatIsNoSecret(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"documentation", `export OPENAI_API_KEY="sk-xxxxxxxxxxxxxxxxxxxxxxxx" # or sk-proj-...`},
		{"example-key", "AKIAIOSFODNN7EXAMPLE"},
		{"masked-key", "Incorrect API key provided: sk-proj-********************************abcd."},
		{"header", "Authorization: Bearer $TOKEN, or Authorization: Bearer <token>"},
		{"schema", `{"properties":{"password":{"type":"string"},"api_key":{"type":"string","description":"the key"}}}`},
		{"code", `client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])`},
		{"log-probability", `{"token":"authorization","logprob":-0.1,"bytes":[1,2]}`},
		{"page-token", `{"next_page_token":"CAUQAA"}`},
		{"prose", "a password: it must be long, and its secret key is in the drawer"},
		{"local-database", "postgres://postgres:postgres@localhost:5432/app"},
		{"begin", "look for -----BEGIN PRIVATE KEY----- in files"},
		{"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"},
		{"picture", `"` + strings.Repeat("iVBORw0KGgo+", 30) + "/BSAk3Zq8TfPw1XcN7vLmR5yHd2Gj9" + strings.Repeat("iVBORw0KGgo+", 30) + `"`},
		{"picture-url", `"` + strings.Repeat("iVBORw0KGgo-", 30) + "_sk-k3Zq8TfPw1XcN7vLmR5yHd2Gj9" + strings.Repeat("-iVBORw0KGgo", 30) + `"`},
		{"certificate", "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("k3Zq8TfPw1XcN7vLmR5yHd2Gj9", 4) + "\n-----END CERTIFICATE-----"},
		{"near-azure", "see 4Q~5 and k3Z8Q~TfPw1XcN7vLmR5yHd2Gj9"},
		{"token-in-a-word", "aeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"},
		{"port", "see http://localhost:8080/k3Zq8TfPw1 or write to me@example.com"},
		{"no-assignment", `the password k3Zq8TfPw1XcN7vLmR5y is gone, and "password" "k3Zq8TfPw1" too`},
		{"words", `{"password":"minimum8characters, 1 capital"}`},
		{"call-of-code", "password=tenantPasswordOf(request.User2)"},
		{"picture-begin", `"` + strings.Repeat("iVBORw0KGgo+", 6) + `YCA` + strings.Repeat("k3Zq8TfPw1XcN7vLmR5yHd2Gj9", 40) + `"`},
		{"id", `{"id": "chatcmpl-BSAk3Zq8TfPw1XcN7vLmR5yHd2Gj9"}`}, // its first digits are the time
		{"call", `{"id":"call_5ElhZLZbKoJvLCqj3Xh2RkVq","encrypted_content":"gAAAAABoXk3Zq7Xw2mPz9LtB4vKd8RsN1yHcq7Xw2mPz9LtB4vKd8RsN1yHc"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			hit, found := New().Find([]byte(c.text))
			require.False(t, found, hit.What)
			require.Equal(t, c.text, New().Mask(c.text))
		})
	}
}

// TestSpellings finds what stands beside a key, or around a field, in ways that are seldom.
func TestSpellings(t *testing.T) {
	for _, text := range []string{
		"prod_sk-k3Zq8TfPw1XcN7vLmR5yHd2Gj9", `{"password" : "k3Zq8TfPw1"}`, "password\t=\tk3Zq8TfPw1XcN7vLmR5y", "password: 'k3Zq8TfPw1XcN7vLmR5y'", `{"password": k3Zq8TfPw1XcN7vLmR5y }`,
	} {
		_, found := New().Find([]byte(text))
		require.True(t, found, text)
	}
}

// TestKeyInAPath holds that a slash before a key does not make it data.
func TestKeyInAPath(t *testing.T) {
	for _, before := range []string{"https://search.test/v1/", strings.Repeat("iVBORw0KGgo+", 99) + " /"} {
		_, found := New().Find([]byte(before + "BSAk3Zq8TfPw1XcN7vLmR5yHd2Gj9"))
		require.True(t, found, before)
	}
	for _, before := range []string{
		strings.Repeat("-", 600), strings.Repeat("_", 600), strings.Repeat("=", 600), strings.Repeat("some/long-path_", 60),
		"DATA=" + strings.Repeat("iVBORw0KGgo+", 60) + "==",
	} {
		_, found := New().Find([]byte(before + "sk-k3Zq8TfPw1XcN7vLmR5yHd2Gj9"))
		require.True(t, found, "%.20s: longer than a URL, and no data", before)
	}
	long := strings.Repeat("k3Zq8TfPw1XcN7vLmR5yHd2Gj9", 40)
	for _, prefix := range []string{"ops_eyJ", "bedrock-api-key-", "ABSK", "fm2_"} {
		for _, before := range []string{`{"key":"`, "SERVICE_TOKEN=", "https://a.test/"} {
			_, found := New().Find([]byte(before + prefix + long))
			require.True(t, found, "%s%s: a key that is as long as data", before, prefix)
		}
	}
}

func TestMask(t *testing.T) {
	s := told("TOKEN")
	require.Equal(t, "a [the value of TOKEN], b", s.Mask("a "+opaque+", b"))
	require.Equal(t, "see\n  [the value of TOKEN] there", s.Mask("see\n  "+base64.StdEncoding.EncodeToString([]byte("me:"+opaque))+" there"))
	require.Equal(t, `{"a":"[the value of TOKEN]"}`, s.Mask(`{"a":"`+opaque+`"}`))
	type record struct {
		Text string
		JSON json.RawMessage
		Map  map[string]json.RawMessage
		More []*record
	}
	r := &record{opaque, json.RawMessage(`"` + opaque + `"`), map[string]json.RawMessage{"a": json.RawMessage(`["` + opaque + `"]`)}, []*record{{Text: opaque}}}
	require.True(t, s.Holds(r, nil))
	require.True(t, New().Holds(map[string]json.RawMessage{"authorization": json.RawMessage(`"` + opaque + `"`)}, nil))
	s.Hide(r)
	require.False(t, s.Holds(r, nil))
	require.Equal(t, "[the value of TOKEN]", r.More[0].Text)
	require.JSONEq(t, `["[the value of TOKEN]"]`, string(r.Map["a"]))
	texts := []string{"see sk-" + strings.Repeat("x", 70), "then, at last, sk-k3Zq8TfPw1XcN7vLmR5yHd2Gj9 there"}
	s.Hide(texts)
	require.Equal(t, "then, at last, [an API key] there", texts[1], "each text has long runs of its own")
}

// FuzzMask proves that nothing that is found in a text is left in it.
func FuzzMask(t *testing.F) {
	f := mutation.New(t)
	f.Add([]byte("a " + opaque + ` \u0041%41 ` + base64.StdEncoding.EncodeToString([]byte(opaque))))
	f.Add([]byte("data: {\"a\":\"x\"}\n\n[{\"bytes\":\"eyJhIjoxfQ==\"}]\x1f\x8b"))
	f.Add([]byte("postgres://a:" + opaque + "@h -----BEGIN PRIVATE KEY-----\n" + strings.Repeat("aB3/", 40) + ` "password" : "hunter2!!"`))
	s := told("TOKEN")
	f.Fuzz(func(t *testing.T, text []byte) {
		s.Find(text)
		masked := s.Mask(string(text))
		require.NotContains(t, masked, opaque)
		if !strings.Contains(string(text), "[") {
			require.False(t, s.Holds(masked, nil) && !s.Holds(string(text), nil))
		}
	})
}

// TestHideOnce masks what requests of a conversation share once: with each of them it would be quadratic.
func TestHideOnce(t *testing.T) {
	type part struct{ Text *string }
	type message struct {
		Role    string
		Content []part
	}
	const turns = 2000
	messages := make([]message, turns)
	for i := range messages {
		text := strings.Repeat("word ", 20)
		messages[i] = message{"user", []part{{&text}}}
	}
	key := "sk-proj-" + strings.Repeat("aB3dE6gH9", 8)
	*messages[5].Content[0].Text = key
	requests := make([][]message, turns)
	for i := range requests {
		requests[i] = messages[: i+1 : i+1]
	}
	s := New()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Hide(&requests)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20))
	require.NotContains(t, *requests[turns-1][5].Content[0].Text, key)
}

// TestLooker looks at what requests of a conversation share once, and finds what each says itself.
func TestLooker(t *testing.T) {
	type message struct{ Content map[string]json.RawMessage }
	type request struct{ Messages []message }
	const turns, secretAt = 2000, 5
	const key = `"sk-proj-7F3b9D2e5A8c4E6f1B0d7F3b9D2e5A8c4E6f"`
	looked := func(turns int) (allocated uint64) {
		messages := make([]message, turns)
		for i := range messages {
			messages[i].Content = map[string]json.RawMessage{"text": json.RawMessage(`"a word"`)}
		}
		messages[secretAt].Content["password"] = json.RawMessage(`"` + opaque + `"`)
		looker := New().Looker()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range messages {
			require.Equal(t, i == secretAt, looker.Holds(&request{messages[:i+1]}), i)
		}
		runtime.ReadMemStats(&after)
		require.True(t, looker.Holds(&request{[]message{{messages[0].Content}, {map[string]json.RawMessage{"a": json.RawMessage(key)}}}}))
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, looked(2*turns), 3*looked(turns))
}

// TestHoldsOnce looks once at a text that requests repeat, in memory of their own, until another secret is known. Text without
// encodings costs no memory.
func TestHoldsOnce(t *testing.T) {
	type request struct {
		Text *string
		JSON json.RawMessage
	}
	made := func(begin string) request {
		text := begin + strings.Repeat(`a \"word\" of %41, `, 5000)
		return request{&text, json.RawMessage(`"` + text + `"`)}
	}
	s := New()
	holds := func(want bool, r request) (allocated uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, want, s.Holds(&r, nil))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Greater(t, holds(false, made("hunter-7Tz4q ")), uint64(100_000), "it is decoded")
	require.Less(t, holds(false, made("hunter-7Tz4q ")), uint64(10_000))
	s.Environment([]string{"APP_PASSWORD=hunter-7Tz4q"})
	holds(true, made("hunter-7Tz4q "))
	holds(true, request{JSON: made("hunter-7Tz4q ").JSON})
	lent := made("")
	holds(false, lent)
	copy(lent.JSON[1:], "hunter-7Tz4q ")
	holds(true, request{JSON: lent.JSON})
	answer := []byte(`{"text":"hunter-7Tz4q is it"}`)
	text := jsontext.ValueOf(answer).Member("text").Word() // in its memory
	holds(true, request{Text: &text})
	require.False(t, s.Holds(&text, answer), "is left to who looks at the answer")
	require.True(t, s.Holds(&text, bytes.Clone(answer)))
	plain := strings.Repeat("a word, ", 20_000)
	require.Less(t, holds(false, request{Text: &plain}), uint64(10_000))
}

// TestLinear looks at no run of digits for each literal in it, which would be quadratic where a text repeats one.
func TestLinear(t *testing.T) {
	looked := func(f Format, n int) (bytes int) {
		digits := f.Digits
		f.Digits = func(c byte) bool { bytes++; return digits(c) }
		s := New()
		s.index.add(needle{what: f.Kind, literal: f.Prefix, span: f.span})
		s.Find([]byte(strings.Repeat(f.Prefix, n)))
		return bytes
	}
	for _, f := range Formats() {
		require.Less(t, looked(f, 2000), 3*looked(f, 1000)+3000, f.Prefix)
	}
	copied := func(literal string, n int) uint64 {
		s, text := New(), []byte(strings.Repeat(literal, n))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Find(text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, literal := range []string{"password=", "password=1.", "password=xxxx1", "api_key=", "eyJhbGciOi.", "-----BEGIN PRIVATE KEYxxxx"} {
		require.Less(t, copied(literal, 2000), 3*copied(literal, 1000), literal)
		var long longRuns
		formats().next([]byte(strings.Repeat(literal, 1000)), 0, &long)
		for of, run := range long {
			require.Less(t, run.start, 100, "%s: what ends at %q begins at the first", literal, of)
		}
		require.NotEmpty(t, long, literal)
	}
}

// TestInflated bounds how much a scan decompresses, and reports compressed data that it leaves out.
func TestInflated(t *testing.T) {
	packed := func(size int, end string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(append(bytes.Repeat([]byte("to be or not, "), size/14), end...))
		require.NoError(t, errors.Join(err, w.Close()))
		return base64.StdEncoding.EncodeToString(b.Bytes()) + " "
	}
	s, bomb := told("SERVICE_TOKEN"), packed(mostInflated+14, "")
	for _, c := range []struct {
		name, why, text string
		before, after   int // bytes decompressed
		what            string
	}{
		{"one", "the rest of it is not searched", bomb, 0, mostInflated, ""},
		{"many", "the sum is bounded", strings.Repeat(bomb, 40), 0, mostInAll, tooMuch},
		{"secret", "is found before that", packed(140, opaque) + strings.Repeat(bomb, 40), 0, 140 + len(opaque), "the value of SERVICE_TOKEN"},
		{"left out", "it may contain a secret", packed(140, opaque), mostInAll, mostInAll, tooMuch},
		{"other", "all other text is searched", opaque + " " + bomb, mostInAll, mostInAll, "the value of SERVICE_TOKEN"},
	} {
		v := view{index: s.index, inflated: c.before}
		what, _ := v.find([]byte(c.text))
		require.Equal(t, c.what, what, "%s: %s", c.name, c.why)
		require.Equal(t, c.after, v.inflated, c.name)
	}
	hit, _ := s.Find([]byte(`{"a":"` + strings.Repeat(bomb, 3) + `"}`))
	require.Equal(t, Hit{What: tooMuch, Pointer: "/a"}, hit)
	looker := s.Looker()
	looker.view.inflated = mostInAll
	require.False(t, looker.Holds(bomb), "each value is a scan of its own")
}

// TestHarmlessHeaders takes no header that gateways and SDKs send for a credential, but any other whose value is opaque.
func TestHarmlessHeaders(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "headers.txt"))
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok && !strings.HasPrefix(line, "#") {
			s := New()
			s.Request(http.Header{name: {value}}, nil, nil)
			require.Zero(t, s.Known(), line)
			n++
		}
	}
	require.Greater(t, n, 200)
	for _, name := range []string{"X-Gateway", "X-Pass", "Helicone", "X-Tenant-Code", "Ocp-Apim-Subscription", "X-Signed"} {
		s := New()
		s.Request(http.Header{name: {opaque}}, nil, nil)
		hit, found := s.Find([]byte("see " + opaque + " there"))
		require.True(t, found, name)
		require.Equal(t, "the value of the header "+name, hit.What)
	}
}

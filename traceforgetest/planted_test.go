package traceforgetest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// fake returns n characters of an alphabet, the same ones each time, and others for another seed. All
// planted secrets are made so, while the test runs: none stands in a file for scanners to find.
func fake(seed, n int, alphabet string) string {
	var b strings.Builder
	for state := uint64(seed)*0x9E3779B97F4A7C15 + 1; b.Len() < n; {
		state = state*6364136223846793005 + 1442695040888963407
		b.WriteByte(alphabet[state>>33%uint64(len(alphabet))])
	}
	return b.String()
}

const (
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	figures = "0123456789"
	hexed   = "0123456789abcdef"
	mixed   = small + capital + figures
)

// A planted is a secret, and how this process or its request knows it; with neither it is told by its form.
type planted struct {
	name, secret    string
	variable, value string // in the environment; empty value: the secret
	header, query   string // of the request
	wrap            func(secret string) string
	setAfterNew     bool
}

// formats are secrets of known forms: design R12.
func formats() (all []planted) {
	add := func(name, secret string) { all = append(all, planted{name: name, secret: secret}) }
	for i, f := range []struct {
		name, prefix, alphabet string
		n                      int
	}{
		{"openai-project", "sk-proj-", mixed + "_-", 148}, {"openai-old", "sk-", mixed, 48}, {"openai-service", "sk-svcacct-", mixed, 100},
		{"anthropic", "sk-ant-api03-", mixed + "_-", 95}, {"openrouter", "sk-or-v1-", hexed, 64}, {"google", "AIza", mixed, 35},
		{"google-oauth", "ya29.", mixed, 120}, {"google-client", "GOCSPX-", mixed, 28}, {"aws", "AKIA", capital + "234567", 16},
		{"aws-session", "ASIA", capital + "234567", 16}, {"bedrock", "ABSK", mixed, 120}, {"groq", "gsk_", mixed, 52}, {"xai", "xai-", mixed, 80},
		{"replicate", "r8_", mixed, 37}, {"nvidia", "nvapi-", mixed, 64}, {"perplexity", "pplx-", mixed, 48}, {"huggingface", "hf_", small + capital, 34},
		{"github", "ghp_", mixed, 36}, {"github-app", "ghs_", mixed, 36}, {"github-fine", "github_pat_", mixed, 82}, {"gitlab", "glpat-", mixed, 20},
		{"slack-bot", "xoxb-", figures, 40}, {"slack-user", "xoxp-", figures, 50}, {"slack-app", "xapp-1-", mixed, 50},
		{"slack-hook", "https://hooks.slack.com/services/T", mixed, 43}, {"stripe", "sk_live_", mixed, 24}, {"npm", "npm_", mixed, 36},
		{"pypi", "pypi-AgEIcHlwaS5vcmc", mixed, 80}, {"sendgrid", "SG.", mixed + ".", 66}, {"twilio", "SK", hexed, 32}, {"databricks", "dapi", hexed, 32},
		{"digitalocean", "dop_v1_", hexed, 64}, {"shopify", "shpat_", hexed, 32}, {"linear", "lin_api_", mixed, 40}, {"vault", "hvs.", mixed, 95},
		{"azure-storage", "AccountKey=", mixed, 86}, {"telegram", "https://api.telegram.org/bot1234567890:", mixed, 35},
	} {
		add(f.name, f.prefix+fake(i, f.n, f.alphabet))
	}
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"1234567890","name":"J"}`))
	add("jwt", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))+"."+claims+"."+fake(1, 43, mixed))
	add("private-key", pem())
	add("azure-client", "abc8"+"Q~"+fake(2, 34, mixed))
	all = append(all, planted{name: "postgres", secret: fake(3, 16, mixed),
		wrap: func(secret string) string { return "postgres://app:" + secret + "@db.internal:5432/shop" }})
	add("assigned", "AWS_SECRET_ACCESS_KEY="+fake(4, 40, mixed))
	add("curl", "curl -H 'Authorization: Bearer "+fake(5, 40, mixed)+"'")
	return all
}

func pem() string {
	var lines []string
	for i := range 6 {
		lines = append(lines, fake(100+i, 64, mixed+"+/"))
	}
	return "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Join(lines, "\n") + "\n-----END " + "PRIVATE KEY-----"
}

// values are secrets of no form, that the process or the request has.
func values() []planted {
	plain := fake(7, 32, mixed)
	account, _ := json.Marshal(map[string]string{"type": "service_account", "project_id": "shop", "private_key": pem(), "private_key_id": fake(8, 40, hexed)})
	return []planted{
		{name: "variable", secret: plain, variable: "OPENAI_API_KEY"},
		{name: "after-new", secret: plain, variable: "OPENAI_API_KEY", setAfterNew: true},
		{name: "quote", secret: `pa"ss` + fake(9, 12, mixed) + `\x`, variable: "DB_PASSWORD"},
		{name: "letters", secret: fake(10, 24, small), variable: "SOME_SECRET"},
		{name: "newline-behind", secret: plain, variable: "GITHUB_PAT", value: plain + "\n"},
		{name: "short", secret: fake(11, 7, small) + "7!", variable: "SMTP_PASS"},
		{name: "signs", secret: fake(12, 20, mixed) + "+/=&" + fake(13, 10, mixed), variable: "AZURE_OPENAI_KEY"},
		{name: "account", secret: pem(), variable: "GOOGLE_CREDENTIALS", value: string(account)},
		{name: "account-id", secret: fake(8, 40, hexed), variable: "GOOGLE_CREDENTIALS", value: string(account)},
		{name: "pem-line", secret: fake(102, 64, mixed+"+/"), variable: "TLS_PRIVATE_KEY", value: pem()},
		{name: "url-password", secret: fake(14, 16, mixed), variable: "DATABASE_URL", value: "postgres://app:" + fake(14, 16, mixed) + "@localhost/shop"},
		{name: "proxy-password", secret: fake(15, 16, mixed), variable: "HTTPS_PROXY", value: "http://me:" + fake(15, 16, mixed) + "@proxy:3128"},
		{name: "bearer", secret: plain, header: "Authorization: Bearer " + plain},
		{name: "x-api-key", secret: plain, header: "X-Api-Key: " + plain},
		{name: "api-key", secret: plain, header: "Api-Key: " + plain},
		{name: "google-key", secret: plain, header: "X-Goog-Api-Key: " + plain},
		{name: "basic", secret: plain, header: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+plain))},
		{name: "basic-user", secret: plain, header: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(plain+":"))},
		{name: "cookie", secret: plain, header: "Cookie: theme=dark; session=" + plain},
		{name: "signature", secret: plain, header: "Authorization: AWS4-HMAC-SHA256 Credential=me/20260101/eu/bedrock/aws4_request, SignedHeaders=host, Signature=" + plain},
		{name: "query", secret: plain, query: "key=" + plain},
		{name: "private-token", secret: plain, query: "private_token=" + plain},
		{name: "sid", secret: plain, query: "sid=" + plain},
	}
}

// variables are names of credentials in use: findings D3.
var variables = strings.Fields(`OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY AZURE_OPENAI_KEY API_KEY TOKEN SECRET PASSWORD DB_PASSWORD
	PGPASSWORD MYSQL_PWD REDIS_PASSWORD DATABASE_PASS GITHUB_PAT GH_TOKEN GITLAB_PRIVATE_TOKEN NPM_TOKEN NODE_AUTH_TOKEN HF_TOKEN
	AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK AZURE_CLIENT_SECRET AZURE_STORAGE_KEY
	AZURE_STORAGE_CONNECTION_STRING GOOGLE_CREDENTIALS SLACK_BOT_TOKEN SLACK_SIGNING_SECRET STRIPE_SECRET_KEY TWILIO_AUTH_TOKEN
	SENTRY_DSN JWT_SIGNING_KEY ENCRYPTION_KEY SSH_PRIVATE_KEY GPG_PASSPHRASE COOKIE_SECRET OPENAI_KEY2 DOCKER_AUTH_CONFIG VAULT_TOKEN
	PINECONE_APIKEY NETRC BASIC_AUTH APP_SECRETS CI_JOB_JWT SERVICE_CREDENTIALS`)

// encodings are how a secret stands in a text.
var encodings = map[string]func(string) string{
	"plain":   func(s string) string { return s },
	"percent": func(s string) string { return "https://h.example/?q=" + url.QueryEscape(s) },
	"percent-all": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	},
	"base64":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + s)) },
	"base64url": func(s string) string { return "/v1/" + base64.RawURLEncoding.EncodeToString([]byte("x="+s)) },
	"mime": func(s string) string {
		return wrapped(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x ", 30) + s)))
	},
	"data-url": func(s string) string { return "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(s)) },
	"json":     func(s string) string { text, _ := json.Marshal(map[string]string{"a": s}); return string(text) },
	"escaped": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, `\u%04X`, c)
		}
		return b.String()
	},
	"gzip": func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, s)
		w.Close()
		return base64.StdEncoding.EncodeToString(b.Bytes())
	},
	"form": func(s string) string { return "a=1&b=" + url.QueryEscape(s) + "&c=3" },
}

func wrapped(s string) string {
	var lines []string
	for len(s) > 76 {
		lines, s = append(lines, s[:76]), s[76:]
	}
	return strings.Join(append(lines, s), "\r\n")
}

// A spot is where in a call a text stands: what is sent, and what is answered.
type spot struct {
	chat   func(text string) any
	answer func(text string) (status int, contentType, body string)
	url    string
	send   func(client *http.Client, address, text string, header http.Header) error
}

func quoted(s string) string { text, _ := json.Marshal(s); return string(text) }

func events(template string, text string, size int) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(size, len(text))
		fmt.Fprintf(&b, "data: "+template+"\n\n", quoted(text[:n]))
		text = text[n:]
	}
	return b.String() + "data: [DONE]\n\n"
}

func spots() map[string]spot {
	prompt := func(edit func(c chat, text string) chat) spot {
		return spot{chat: func(text string) any { return edit(newChat("Hi"), text) }}
	}
	message := func(role, name string, value func(string) any) spot {
		return prompt(func(c chat, text string) chat {
			return c.with("messages", []any{map[string]any{"role": role, "content": "x", name: value(text)}})
		})
	}
	body := func(status int, contentType string, body func(text string) string) spot {
		return spot{answer: func(text string) (int, string, string) { return status, contentType, body(text) }}
	}
	generic := func(s spot) spot { s.url = "https://models.example/v2/complete"; return s }
	return map[string]spot{
		"prompt":      message("user", "content", func(text string) any { return "see " + text + " there" }),
		"system":      message("system", "content", func(text string) any { return text }),
		"part":        message("user", "content", func(text string) any { return []any{map[string]any{"type": "text", "text": text}} }),
		"unknown":     message("user", "extra", func(text string) any { return map[string]any{"deep": []any{text}} }),
		"member":      message("user", "extra", func(text string) any { return map[string]any{text: 1} }),
		"user":        prompt(func(c chat, text string) chat { return c.with("user", text) }),
		"metadata":    prompt(func(c chat, text string) chat { return c.with("metadata", map[string]any{"a": text}) }),
		"tool":        prompt(func(c chat, text string) chat { return c.with("tools", []any{function("f", text, "x")}) }),
		"tool-schema": prompt(func(c chat, text string) chat { return c.with("tools", []any{function("f", "d", text)}) }),
		"stop":        prompt(func(c chat, text string) chat { return c.with("stop", []any{text}) }),
		"answer": body(200, "application/json", func(text string) string {
			return strings.Replace(completion, `"unpacked"`, quoted("it is "+text+"."), 1)
		}),
		"unread": body(200, "application/json", func(text string) string {
			return strings.Replace(completion, `{"id"`, `{"debug":{"echo":`+quoted(text)+`},"id"`, 1)
		}),
		"error": body(401, "application/json", func(text string) string {
			return `{"error":{"message":` + quoted("Incorrect API key provided: "+text) + `,"type":"invalid_request_error"}}`
		}),
		"stream": body(200, "text/event-stream", func(text string) string {
			return events(`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, text, 5)
		}),
		"generic-prompt": generic(prompt(func(c chat, text string) chat { return chat{"input": text, "temperature": 0} })),
		"generic-answer": generic(body(200, "application/json", func(text string) string { return `{"output":` + quoted(text) + `}` })),
		"generic-stream": generic(body(200, "text/event-stream", func(text string) string { return events(`{"out":{"piece":%s}}`, text, 3) })),
		"generic-lines": generic(body(200, "application/x-ndjson", func(text string) string {
			lines := strings.ReplaceAll(events(`{"piece":%s}`, text, 4), "data: ", "")
			return strings.ReplaceAll(strings.TrimSuffix(lines, "[DONE]\n\n"), "\n\n", "\n")
		})),
		"upload": {url: "https://api.openai.com/v1/files", send: func(client *http.Client, address, text string, header http.Header) error {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			w.WriteField("purpose", "batch")
			part, _ := w.CreateFormFile("file", "a.txt")
			io.WriteString(part, text)
			w.Close()
			req, _ := http.NewRequest("POST", address, &b)
			req.Header = header
			req.Header.Set("Content-Type", w.FormDataContentType())
			return do(client, req)
		}},
	}
}

func function(name, description, enum string) any {
	return map[string]any{"type": "function", "function": map[string]any{"name": name, "description": description,
		"parameters": map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "enum": []any{enum}}}}}}
}

func do(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("%d: %s", resp.StatusCode, answer)
	}
	return err
}

// plant runs a test that records a call with a secret in a spot, and one that replays it, after another
// was recorded in its place. It returns where the secret, or the encoded text, got to.
func plant(t *testing.T, p planted, where spot, encode func(string) string) (stored, printed string) {
	s := newScene(t)
	text := p.secret
	if p.wrap != nil {
		text = p.wrap(text)
	}
	text = encode(text)
	leaks := func(in string) bool {
		in = strings.ReplaceAll(in, `\n`, "\n")
		return strings.Contains(in, p.secret) || strings.Contains(in, quotedInner(p.secret)) || strings.Contains(in, text) ||
			strings.Contains(in, quotedInner(text)) || len(p.secret) > 24 && strings.Contains(in, p.secret[len(p.secret)-12:])
	}
	if p.variable != "" && !p.setAfterNew {
		value := p.value
		if value == "" {
			value = p.secret
		}
		t.Setenv(p.variable, value)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = stdout; out.Close() }()
	t.Setenv("GITHUB_ACTIONS", "true")

	ask := func(text string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			if p.setAfterNew {
				os.Setenv(p.variable, p.secret)
				tb.Cleanup(func() { os.Unsetenv(p.variable) })
			}
			address := where.url
			if address == "" {
				address = "https://api.openai.com/v1/chat/completions"
			}
			if p.query != "" {
				address += "?" + p.query
			}
			header := http.Header{"Content-Type": {"application/json"}}
			if name, value, ok := strings.Cut(p.header, ": "); ok {
				header.Set(name, value)
			}
			var err error
			if where.send != nil {
				err = where.send(tf.Client(), address, text, header)
			} else {
				var body any = newChat("Hi")
				if where.chat != nil {
					body = where.chat(text)
				} else if where.url != "" {
					body = chat{"input": "Hi", "temperature": 0}
				}
				data, _ := json.Marshal(body)
				req, _ := http.NewRequest("POST", address, bytes.NewReader(data))
				req.Header = header
				err = do(tf.Client(), req)
			}
			if whole := (*url.Error)(nil); errors.As(err, &whole) {
				err = whole.Err // net/http's text has the URL
			}
			if err != nil && where.answer == nil {
				tb.Logf("%v", err)
			}
		}
	}
	answering := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			io.Copy(io.Discard, r.Body)
		}
		status, contentType, body := 200, "application/json", completion
		if where.answer != nil {
			status, contentType, body = where.answer(text)
		} else if where.url != "" {
			body = `{"output":"fine"}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	lifted := []traceforgetest.Option{traceforgetest.Upstream(answering), traceforgetest.Nondeterministic("planted")}
	tb := s.run("TestIt", ask(text), lifted...)
	require.NoError(t, os.MkdirAll(s.dir, 0o777))
	for name, content := range s.files() {
		if leaks(content) || strings.HasSuffix(name, ".json") && strings.Contains(name, "/") {
			stored = name + ": " + tb.Logged()
		}
	}
	if where.answer == nil { // a replay that asks otherwise prints what it got
		requirePass(t, s.run("TestIt", ask("nothing"), lifted...))
		t.Setenv("TRACEFORGE_UPDATE", "")
		replay := s.run("TestIt", ask(text), lifted...)
		require.True(t, replay.Failed())
		if leaks(replay.Logged()) {
			printed = "replay: " + replay.Logged()
		}
	}
	if leaks(tb.Logged()) {
		printed = "recording: " + tb.Logged()
	}
	annotated, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	if leaks(strings.ReplaceAll(string(annotated), "%0A", "\n")) {
		printed = "annotation: " + string(annotated)
	}
	return stored, printed
}

func quotedInner(s string) string { q := quoted(s); return q[1 : len(q)-1] }

// TestPlantedSecrets plants secrets of all kinds in all places and encodings, and counts: none is stored, and
// none is printed.
func TestPlantedSecrets(t *testing.T) {
	plain := encodings["plain"]
	all, stored, printed := 0, 0, 0
	try := func(name string, p planted, where spot, encode func(string) string) {
		t.Run(name, func(t *testing.T) {
			all++
			s, pr := plant(t, p, where, encode)
			if s != "" {
				stored++
				t.Errorf("stored: %s", s)
			}
			if pr != "" {
				printed++
				t.Errorf("printed: %s", pr)
			}
		})
	}
	everywhere := spots()
	for _, p := range formats() {
		try("format/"+p.name+"/prompt", p, everywhere["prompt"], plain)
		try("format/"+p.name+"/stream", p, everywhere["stream"], plain)
	}
	for _, p := range values() {
		try("value/"+p.name+"/prompt", p, everywhere["prompt"], plain)
		try("value/"+p.name+"/error", p, everywhere["error"], plain)
	}
	for i, name := range variables {
		try("variable/"+name, planted{secret: fake(200+i, 24, mixed), variable: name}, everywhere["answer"], plain)
	}
	for name, where := range everywhere {
		try("place/"+name+"/value", planted{secret: fake(7, 32, mixed), variable: "OPENAI_API_KEY"}, where, plain)
		try("place/"+name+"/format", planted{secret: "sk-ant-" + fake(8, 60, mixed)}, where, plain)
		if strings.Contains(name, "stream") || strings.Contains(name, "lines") {
			continue
		}
		for encoding, encode := range encodings {
			try("encoded/"+name+"/"+encoding, planted{secret: fake(9, 28, mixed) + "+/-" + fake(10, 5, mixed), variable: "OPENAI_API_KEY"}, where, encode)
		}
	}
	for _, field := range []struct {
		name, why string
		tool      any
	}{
		{"mcp-headers", "OpenAI's MCP tools", map[string]any{"type": "mcp", "server_url": "https://mcp.example", "headers": map[string]any{"Authorization": "Bearer " + fake(20, 20, mixed)}}},
		{"mcp-authorization", "OpenAI's MCP tools", map[string]any{"type": "mcp", "authorization": fake(20, 20, mixed)}},
		{"authorization-token", "Anthropic's MCP servers", map[string]any{"authorization_token": fake(20, 20, mixed)}},
		{"client-secret", "OAuth", map[string]any{"client_secret": fake(20, 20, mixed)}},
		{"api-key", "a connector", map[string]any{"apiKey": fake(20, 20, mixed)}},
	} {
		for _, place := range []string{"metadata", "generic"} {
			where := spot{chat: func(string) any { return newChat("Hi").with("metadata", field.tool) }}
			if place == "generic" {
				where = spot{chat: func(string) any { return chat{"input": "Hi", "tools": []any{field.tool}} }, url: everywhere["generic-prompt"].url}
			}
			s, pr := plant(t, planted{secret: fake(20, 20, mixed)}, spot{chat: func(text string) any {
				if text == "nothing" {
					return newChat("Hi")
				}
				return where.chat("")
			}, url: where.url}, plain)
			all++
			if s != "" {
				stored++
				t.Errorf("%s (%s) stored: %s", field.name, field.why, s)
			}
			if pr != "" {
				printed++
				t.Errorf("%s (%s) printed: %s", field.name, field.why, pr)
			}
		}
	}
	t.Logf("of %d planted, %d stored, %d printed", all, stored, printed)
	require.GreaterOrEqual(t, all, 400)
}

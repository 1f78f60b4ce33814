package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// least is the minimum length, in bytes, of a value that is treated as a secret. Password rules ask for eight; shorter
// values (dev, 1234, test1) occur in texts by accident.
const least = 8

// Environment gives the scanner the secrets in a process's environment: values of variables with the names of
// credentials, and passwords in URLs of other variables. It is cheap if nothing has changed.
func (s *Scanner) Environment(environment []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(environment, s.latest) {
		return
	}
	s.latest = slices.Clone(environment)
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		what := "the value of " + name
		s.names[what] = name
		s.variable(what, value, IsVariable(name))
	}
}

// variable adds the secrets in a variable's value.
func (s *Scanner) variable(what, value string, credential bool) {
	value = strings.TrimSpace(value)
	for field := range strings.FieldsSeq(value) {
		scheme := strings.Index(field, "://")
		if scheme < 0 {
			continue
		}
		if start, end := password([]byte(field), scheme, nil); end > 0 {
			s.add(what, field[start:end])
			if plain, err := url.PathUnescape(field[start:end]); err == nil {
				s.add(what, plain)
			}
			s.add(what, field)
			return
		}
	}
	if !credential || strings.Contains(value, "://") && !strings.ContainsAny(value, "?;") {
		return // a URL without a password
	}
	if json.Valid([]byte(value)) && strings.HasPrefix(value, "{") { // such as a service account
		doc, _ := jsontext.ParseReplacing([]byte(value)) // with repeated members, it has none
		for name, member := range doc.Root().Members() {
			if secret, ok := member.Text(); ok && IsVariable(name) {
				s.add(what, secret)
			}
		}
		return
	}
	for part := range strings.SplitSeq(value, ";") { // parts of a connection string
		name, secret, ok := strings.Cut(part, "=")
		if ok && (IsVariable(name) || strings.HasSuffix(strings.ToLower(name), "key")) {
			s.add(what, secret)
		}
	}
	s.add(what, value)
}

// Request gives the scanner the credentials of a request, from its headers and its URL.
func (s *Scanner) Request(header http.Header, at *url.URL, isCredential func(query string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, values := range header {
		for _, value := range values {
			if isHeader(name) || IsOpaque(value) && !isHarmless(name) {
				s.header("the value of the header "+name, value)
			}
		}
	}
	if at == nil {
		return
	}
	if secret, ok := at.User.Password(); ok {
		s.add("the password of the URL", secret)
	}
	for name, values := range at.Query() {
		for _, value := range values {
			if isCredential(name) {
				s.add("the value of the query's "+name, value)
			}
		}
	}
}

// header adds the secrets in a header's value: the token after Bearer, the password in Basic, a signature, the values
// of cookies.
func (s *Scanner) header(what, value string) {
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		s.add(what, value)
	}
	if strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
			user, password, _ := strings.Cut(string(plain), ":")
			s.add(what, password)
			if len(user) >= leastAssigned { // the user is the key, and there is no password
				s.add(what, user)
			}
		}
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ' ' || r == ',' || r == ';' }) {
		s.parameter(what, part)
	}
	if strings.HasSuffix(what, "Cookie") {
		s.parameter(what, scheme)
	}
}

func (s *Scanner) parameter(what, part string) {
	name, value, ok := strings.Cut(strings.TrimSuffix(part, ";"), "=")
	if !ok || strings.Trim(value, "=") == "" { // padding of base64
		s.add(what, part)
		return
	}
	if name != "SignedHeaders" {
		s.add(what, strings.Trim(value, `"`))
	}
}

// add adds a value if it may be a secret. Each line of a multi-line value is a secret too, because texts may break the
// value elsewhere.
func (s *Scanner) add(what, value string) {
	value = strings.TrimSpace(value)
	if s.known[value] || !credible(value, least) {
		return
	}
	s.known[value] = true
	clear(s.clean)
	s.literal(what, value)
	quoted := string(jsontext.Text(value))
	for _, spelled := range []string{quoted[1 : len(quoted)-1], url.QueryEscape(value)} {
		if spelled != value {
			s.literal(what, spelled)
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(value, `\n`, "\n")) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) >= leastAssigned && !strings.HasPrefix(line, "-----") && !strings.Contains(line, " ") {
			s.add(what, line)
		}
	}
}

// literal adds a needle. A short value must be a word of its own, not part of a longer one.
func (s *Scanner) literal(what, value string) {
	n := needle{what: what, literal: value}
	if len(value) < leastAssigned {
		n.span = func(text []byte, at int, _ *longRuns) (start, end int) {
			end = at + len(value)
			if at > 0 && isAlphanumeric(text[at-1]) && isAlphanumeric(value[0]) ||
				end < len(text) && isAlphanumeric(text[end]) && isAlphanumeric(value[len(value)-1]) {
				return 0, 0
			}
			return at, end
		}
	}
	s.index.add(n)
}

// IsCredible reports whether a value can be a secret.
func IsCredible(value string) bool { return credible(value, least) }

// credible reports whether a value may be a secret: it is long enough, and is not a word, path, number, date or
// placeholder.
func credible(value string, least int) bool {
	if len(value) < least || placeholder([]byte(value)) || isPath(value) {
		return false
	}
	var letters, digits, others, capitals int
	for _, r := range value {
		switch {
		case unicode.IsUpper(r):
			capitals++
			letters++
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case !strings.ContainsRune("-_. /:", r):
			others++
		}
	}
	switch {
	case letters == 0 && others == 0:
		return digits >= 16 // shorter ones may be a date, a port, an account or a count
	case digits > 0 || others > 0:
		return true
	case capitals > 0 && capitals < letters && !capitalized(value):
		return len(value) >= 12
	}
	return letters >= 20 || letters >= 12 && !pronounceable(value)
}

// capitalized reports whether every capital starts a word, followed by at least three small letters.
func capitalized(value string) bool {
	for i := range len(value) {
		if unicode.IsUpper(rune(value[i])) {
			for _, c := range []byte(value[i+1 : min(i+4, len(value))]) {
				if unicode.IsUpper(rune(c)) {
					return false
				}
			}
		}
	}
	return true
}

// pronounceable reports whether letters may form words, which never have five consonants in a row.
func pronounceable(value string) bool {
	run := 0
	for _, c := range []byte(strings.ToLower(value)) {
		if run++; strings.IndexByte("aeiouy-_. /:", c) >= 0 {
			run = 0
		}
		if run >= 5 {
			return false
		}
	}
	return true
}

// isPath reports whether a value is the path of a file or directory. A value with long elements of mixed characters is
// base64 that happens to start with a slash.
func isPath(value string) bool {
	if len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/') {
		return true
	}
	if !strings.HasPrefix(value, "/") {
		return strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") || strings.HasPrefix(value, "~/")
	}
	for element := range strings.SplitSeq(value, "/") {
		if len(element) >= leastAssigned && strings.ContainsFunc(element, unicode.IsDigit) &&
			strings.ContainsFunc(element, unicode.IsUpper) && strings.ContainsFunc(element, unicode.IsLower) {
			return false
		}
	}
	return !strings.ContainsAny(value, "+=")
}

// placeholders are parts of values that are placeholders.
var placeholders = []string{
	"xxxx", "****", "....", "example", "your-", "your_", "placeholder", "redacted", "changeme", "insert",
}

// placeholder reports whether a value is a placeholder, as in documentation.
func placeholder(value []byte) bool {
	text := strings.ToLower(string(value[:min(len(value), 400)]))
	contains := func(sign string) bool { return strings.Contains(text, sign) }
	begins := func(sign string) bool { return strings.HasPrefix(text, sign) }
	if slices.ContainsFunc(placeholders, contains) || slices.ContainsFunc([]string{"$", "{{", "<", "%("}, begins) {
		return true
	}
	for range 4 {
		text = strings.ReplaceAll(text, text[:min(len(text), 1)], "")
	}
	return text == "" // a few characters, repeated
}

// IsVariable reports whether a variable, or a member of a JSON text, has the name of a credential: DB_PASSWORD,
// AZURE_OPENAI_KEY, TOKEN, AWS_BEARER_TOKEN_BEDROCK, private_key_id. The name of a credential's file, address or limit
// is not one.
func IsVariable(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(variables, name) {
		return true
	}
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n := len(words); n > 1 && slices.Contains(contents, words[n-1]) { // SSH_KEY_FILE_CONTENT
		words = words[:n-1]
		if words[n-2] == "FILE" {
			words = words[:n-2]
		}
	}
	if len(words) == 0 || slices.Contains(besides, words[len(words)-1]) {
		return false
	}
	for i, word := range words {
		word = strings.TrimRight(word, "0123456789")
		last := i == len(words)-1
		switch {
		case slices.Contains(credentialWords, word):
			return true
		case (word == "KEY" || word == "KEYS") && !slices.Contains(words, "PUBLIC") &&
			(last || words[i+1] == "ID" || isNumber(words[i+1])):
			return true
		case slices.ContainsFunc(credentialEndings, func(ending string) bool { return strings.HasSuffix(word, ending) }):
			return true
		}
	}
	return false
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// credentialWords are words in the names of credentials; credentialEndings end such names without a separator, as in
// PGPASSWORD.
var (
	credentialWords = strings.Fields(`TOKEN TOKENS SECRET SECRETS PAT PASS PWD PW AUTH BEARER JWT CREDENTIALS CREDENTIAL
		CREDS COOKIE SIGNATURE DSN WEBHOOK SAS`)
	credentialEndings = strings.Fields(`PASSWORD PASSWD PASSPHRASE APIKEY SECRET TOKEN ACCESSKEY PRIVATEKEY SECRETKEY`)
)

// besides are last words in names of things that belong to a credential but are not secret.
var besides = strings.Fields(
	`FILE PATH DIR NAME ARN HEADER TYPE TTL LIMIT EXPIRY EXPIRES ENDPOINT HOST PORT REGION VERSION
	ENABLED SOCK METHOD MODE PREFIX USER USERNAME COUNT DOMAIN ISSUER AUDIENCE ALGORITHM PROVIDER SERVER`)

// contents are last words in names that say how a credential is encoded, or that it is the content of a file.
var contents = strings.Fields(`B64 BASE64 CONTENT CONTENTS DATA VALUE`)

// variables are names of credentials that the words above do not cover. A URL counts if it has a password.
var variables = strings.Fields(
	`DATABASE_URL REDIS_URL MONGODB_URI MONGO_URL AMQP_URL RABBITMQ_URL POSTGRES_URL MYSQL_URL
	CELERY_BROKER_URL AZURE_STORAGE_CONNECTION_STRING APPLICATIONINSIGHTS_CONNECTION_STRING CONNECTION_STRING
	GOOGLE_APPLICATION_CREDENTIALS_JSON DOCKER_AUTH_CONFIG NPM_CONFIG__AUTH NETRC KUBECONFIG_DATA`)

// isHeader reports whether a request header contains a credential.
func isHeader(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "portkey", "") // the name of a gateway
	if strings.Contains(name, "idempotency") {
		return false
	}
	words := strings.Split(name, "-")
	if last := words[len(words)-1]; slices.Contains(words, "auth") || last == "session" ||
		strings.HasPrefix(last, "credential") {
		return true
	}
	credential := []string{"authorization", "key", "token", "secret", "cookie", "password", "signature", "jwt"}
	return slices.ContainsFunc(credential, func(word string) bool { return strings.Contains(name, word) })
}

// isHarmless reports whether the opaque value of a request header is not a credential but an id, a trace, a hash or a
// program's name.
func isHarmless(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "-"), func(word string) bool {
		return strings.HasSuffix(word, "id") || slices.Contains(harmlessWords, word)
	})
}

var harmlessWords = strings.Fields(`agent b3 baggage checksum context crc32c cursor date digest etag fingerprint hash idempotency match md5 range ray sha256
	stainless trace traceparent tracestate version`)

// IsOpaque reports whether a value is one word of at least 16 letters and digits, which no model, host or path is.
func IsOpaque(value string) bool {
	run := slices.MaxFunc(
		strings.FieldsFunc(value+" x", func(r rune) bool { return r >= 0x80 || !isAlphanumeric(byte(r)) }),
		func(a, b string) int { return len(a) - len(b) })
	return !strings.ContainsAny(value, ` ,;:@(){}"`) && strings.ContainsAny(run, "0123456789") &&
		credible(run, leastAssigned)
}

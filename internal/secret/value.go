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

// least is the length, in bytes, of the shortest value that is taken for a secret. Eight is what password
// rules ask for; shorter ones (dev, 1234, test1) stand in texts by accident.
const least = 8

// Environment gives the scanner the secrets of a process's environment: values of variables that are named as
// credentials are, and passwords in URLs of others. It is cheap where nothing changed.
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

// variable adds what is secret in a variable's value.
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
	if json.Valid([]byte(value)) && strings.HasPrefix(value, "{") { // a service account, for one
		s.members(what, value)
		return
	}
	for part := range strings.SplitSeq(value, ";") { // of a connection string
		name, secret, ok := strings.Cut(part, "=")
		if ok && (IsVariable(name) || strings.HasSuffix(strings.ToLower(name), "key")) {
			s.add(what, secret)
		}
	}
	s.add(what, value)
}

// members adds the members of a JSON object that are named as credentials are.
func (s *Scanner) members(what, text string) {
	doc, _ := jsontext.ParseReplacing([]byte(text)) // where it is none, or has a member twice, there are none
	for name, member := range doc.Root().Members() {
		if value, ok := member.Text(); ok && IsVariable(name) {
			s.add(what, value)
		}
	}
}

// Request tells the scanner of the credentials that a request carries, in its header and its URL.
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

// header adds what is secret in a header's value: Bearer and a token, Basic and a password, a signature,
// the values of cookies.
func (s *Scanner) header(what, value string) {
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		s.add(what, value)
	}
	if strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
			user, password, _ := strings.Cut(string(plain), ":")
			s.add(what, password)
			if len(user) >= leastAssigned { // it is the key, and there is no password
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
	if !ok || strings.Trim(value, "=") == "" { // base64 that ends so
		s.add(what, part)
		return
	}
	if name != "SignedHeaders" {
		s.add(what, strings.Trim(value, `"`))
	}
}

// add adds a value, if it can be a secret. Each line of a value with several is a secret too, wherever the value
// breaks.
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

// literal adds a needle. A short value must stand alone, and not within a longer word.
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

// credible reports whether a value can be a secret: it has a length, and is no word, path, number, date or
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
		return digits >= 16 // not a date, a port, an account, a count
	case digits > 0 || others > 0:
		return true
	case capitals > 0 && capitals < letters && !capitalized(value):
		return len(value) >= 12
	}
	return letters >= 20 || letters >= 12 && !pronounceable(value)
}

// capitalized reports whether capitals stand where words begin, at least three small letters each.
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

// pronounceable reports whether letters may be words: five consonants in a row are none.
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

// isPath reports whether a value is the path of a file or a directory. One whose elements are long and of
// all kinds of characters is base64 that happens to begin with a slash.
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

// placeholder reports whether a value stands for one, as in documentation.
func placeholder(value []byte) bool {
	text := strings.ToLower(string(value[:min(len(value), 400)]))
	for _, sign := range []string{
		"xxxx", "****", "....", "example", "your-", "your_", "placeholder", "redacted", "changeme", "insert",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	for _, sign := range []string{"$", "{{", "<", "%("} {
		if strings.HasPrefix(text, sign) {
			return true
		}
	}
	for range 4 {
		text = strings.ReplaceAll(text, text[:min(len(text), 1)], "")
	}
	return text == "" // few characters, again and again
}

// IsVariable reports whether a variable, or a member of a JSON text in one, is named as credentials are: DB_PASSWORD,
// AZURE_OPENAI_KEY, TOKEN, AWS_BEARER_TOKEN_BEDROCK, private_key_id. A name of the file, the address or the limit of
// a credential is no such name.
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

// credentialWords are words of the names of credentials; credentialEndings are what such words end with
// where nothing divides them, as in PGPASSWORD.
var (
	credentialWords = strings.Fields(`TOKEN TOKENS SECRET SECRETS PAT PASS PWD PW AUTH BEARER JWT CREDENTIALS CREDENTIAL
		CREDS COOKIE SIGNATURE DSN WEBHOOK SAS`)
	credentialEndings = strings.Fields(`PASSWORD PASSWD PASSPHRASE APIKEY SECRET TOKEN ACCESSKEY PRIVATEKEY SECRETKEY`)
)

// besides are the last words of names of things that go with a credential, and are none.
var besides = strings.Fields(`FILE PATH DIR NAME ARN HEADER TYPE TTL LIMIT EXPIRY EXPIRES ENDPOINT HOST PORT REGION VERSION
	ENABLED SOCK METHOD MODE PREFIX USER USERNAME COUNT DOMAIN ISSUER AUDIENCE ALGORITHM PROVIDER SERVER`)

// contents are the last words of names that say how a credential is encoded, or that it is the content of a file.
var contents = strings.Fields(`B64 BASE64 CONTENT CONTENTS DATA VALUE`)

// variables are names of credentials that their words do not tell. A URL counts where it has a password.
var variables = strings.Fields(`DATABASE_URL REDIS_URL MONGODB_URI MONGO_URL AMQP_URL RABBITMQ_URL POSTGRES_URL MYSQL_URL
	CELERY_BROKER_URL AZURE_STORAGE_CONNECTION_STRING APPLICATIONINSIGHTS_CONNECTION_STRING CONNECTION_STRING
	GOOGLE_APPLICATION_CREDENTIALS_JSON DOCKER_AUTH_CONFIG NPM_CONFIG__AUTH NETRC KUBECONFIG_DATA`)

// isHeader reports whether a request header carries a credential.
func isHeader(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "portkey", "") // a gateway
	if strings.Contains(name, "idempotency") {
		return false
	}
	words := strings.Split(name, "-")
	if last := words[len(words)-1]; slices.Contains(words, "auth") || last == "session" || strings.HasPrefix(last, "credential") {
		return true
	}
	credential := []string{"authorization", "key", "token", "secret", "cookie", "password", "signature", "jwt"}
	return slices.ContainsFunc(credential, func(word string) bool { return strings.Contains(name, word) })
}

// isHarmless reports whether a request header is one whose opaque value is no credential: an id, a trace, a hash, a
// program.
func isHarmless(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "-"), func(word string) bool {
		return strings.HasSuffix(word, "id") || slices.Contains(harmlessWords, word)
	})
}

var harmlessWords = strings.Fields(`agent b3 baggage checksum context crc32c cursor date digest etag fingerprint hash idempotency match md5 range ray sha256
	stainless trace traceparent tracestate version`)

// IsOpaque reports whether a value is one word of 16 letters and digits or more, which no model, host or path has.
func IsOpaque(value string) bool {
	run := slices.MaxFunc(strings.FieldsFunc(value+" x", func(r rune) bool { return r >= 0x80 || !isAlphanumeric(byte(r)) }),
		func(a, b string) int { return len(a) - len(b) })
	return !strings.ContainsAny(value, ` ,;:@(){}"`) && strings.ContainsAny(run, "0123456789") && credible(run, leastAssigned)
}

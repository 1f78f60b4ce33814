package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// chat returns a chat request of about size bytes in canonical form.
func chat(size int) []byte {
	text := strings.Repeat("Say \"why\" in one line.\nThe naïve answer won't do. ", max(0, size-340)/56)
	return []byte(`{"max_tokens":256,"messages":[{"content":"You are terse.","role":"system"},{"content":` + quote(text) +
		`,"role":"user"}],"model":"gpt-4o-mini","seed":42,"stream":false,"temperature":0,"tools":[{"function":{"name":"get_weather",` +
		`"parameters":{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"}},"type":"function"}],"top_p":0.95}`)
}

// history returns the request of an agent's late turn, of about size bytes, in canonical form.
func history(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"messages":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"path\":\"src/file%d.go\",\"line\":%d}","name":"read_file"},"id":"call_%d","type":"function"}]}`, i, i*7, i)
		fmt.Fprintf(&b, `,{"content":%s,"role":"tool","tool_call_id":"call_%d"}`, quote(strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %s: %w\", name, err)\n\t}\n", 6)), i)
	}
	b.WriteString(`],"model":"gpt-4o-mini","temperature":0}`)
	return b.Bytes()
}

func quote(text string) string {
	quoted, err := JSON([]byte(`"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`))
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// shuffled returns text with the members of every object in falling order and with white space.
func shuffled(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	open, _ := d.Token()
	delim, ok := open.(json.Delim)
	if !ok {
		return text
	}
	var parts []string
	for d.More() {
		part := ""
		if delim == '{' {
			name, _ := d.Token()
			part = quote(name.(string)) + ": "
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			panic(err)
		}
		part += string(shuffled(value))
		if delim == '{' {
			parts = append([]string{part}, parts...)
		} else {
			parts = append(parts, part)
		}
	}
	return []byte(string(delim) + strings.Join(parts, ", ") + map[json.Delim]string{'{': "}", '[': "]"}[delim])
}

// embedding returns the answer of an embeddings API in canonical form.
func embedding(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"data":[{"embedding":[`)
	for i := uint32(1); b.Len() < size; i++ {
		if i > 1 {
			b.WriteByte(',')
		}
		// Seven or eight digits, as most providers send: the shortest that a float32 has.
		b.WriteString(strconv.FormatFloat(float64(float32(i*2654435761)/(1<<36)-0.03), 'f', -1, 32))
	}
	b.WriteString(`],"index":0,"object":"embedding"}],"object":"list"}`)
	return b.Bytes()
}

// BenchmarkJSON reports, beside the throughput, how many times as long each takes as sha256
// over the same bytes.
func BenchmarkJSON(b *testing.B) {
	for _, text := range []struct {
		name      string
		canonical []byte
	}{
		{"chat-2KB", chat(2 << 10)},
		{"history-100KB", history(100 << 10)},
		{"embedding-100KB", embedding(100 << 10)},
	} {
		mixed := shuffled(text.canonical)
		for _, op := range []struct {
			name string
			src  []byte
			run  func([]byte)
		}{
			{"sha256", text.canonical, func(src []byte) { sha256.Sum256(src) }},
			{"json.Valid", text.canonical, func(src []byte) { json.Valid(src) }},
			{"Canonical", text.canonical, func(src []byte) { Canonical(src) }},
			{"Canonical+sha256", text.canonical, func(src []byte) { Canonical(src); sha256.Sum256(src) }},
			{"JSON", text.canonical, func(src []byte) { JSON(src) }},
			{"JSON-shuffled", mixed, func(src []byte) { JSON(src) }},
			{"KeepNumbers-shuffled", mixed, func(src []byte) { KeepNumbers(src) }},
		} {
			b.Run(text.name+"/"+op.name, func(b *testing.B) {
				b.SetBytes(int64(len(op.src)))
				b.ReportAllocs()
				for b.Loop() {
					op.run(op.src)
				}
				taken := b.Elapsed()
				start := time.Now()
				for range b.N {
					sha256.Sum256(op.src)
				}
				b.ReportMetric(float64(taken)/float64(time.Since(start)), "x-sha256")
			})
		}
	}
}

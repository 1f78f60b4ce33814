package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// awsFrame returns a frame of AWS's event streams.
func awsFrame(event, payload string) string {
	header := func(name, value string) string {
		return string([]byte{byte(len(name))}) + name + "\x07" + string(binary.BigEndian.AppendUint16(nil, uint16(len(value)))) + value
	}
	headers := header(":message-type", "event") + header(":event-type", event)
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(headers)+len(payload)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestAnswer holds what is kept of answers to a request that has two uuids, that the same run is served
// what the provider sent, and another one its own values. What the answer is the first to say stays.
func TestAnswer(t *testing.T) {
	const runA, runB = "dddddddd-0000-4000-8000-00000000000d", "eeeeeeee-0000-4000-8000-00000000000e"
	const json, sse, lines, aws = "application/json", "text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"
	for _, c := range []struct {
		name, reason, contentType string
		body                      func(a, b string) string
	}{
		{"json", "strings, with all else as it is spelled", json, func(a, b string) string {
			return `{ "b": 1.0, "a":"caf\u00e9 ` + a + ` \"\/` + b + `\"\ud83d","A":["cccccccc-0000-4000-8000-000000000003"]}`
		}},
		{"names", "members, too", json, func(a, b string) string { return `{"` + a + `":{"` + b + `":1}}` }},
		{"text", "an answer that is no JSON", "text/html", func(a, b string) string { return "<p>" + a + "</p>\n{" + b + "}" }},
		{"sse", "events, comments and line ends", sse, func(a, b string) string {
			return ": x\r\nevent: x\r\ndata: {\"text\":\"" + a + "\"}\r\n\r\ndata: " + b + "\n\ndata: [DONE]\n\n"
		}},
		{"sse-lines", "data of several lines", sse, func(a, b string) string { return "data: {\"text\":\ndata: \"" + a + " " + b + "\"}\n\n" }},
		{"sse-cut", "an event that was cut off", sse, func(a, b string) string { return "data: {\"text\":\"" + a + "\"}\n\ndata: {\"text\":\"" + b }},
		{"ndjson", "one value a line, in one piece each", lines, func(a, b string) string {
			return "{\"response\":\"" + a + "\"}\n{\"response\":\"" + b + "\"}\n"
		}},
		{"aws", "lengths and checksums", aws, func(a, b string) string {
			return awsFrame("contentBlockDelta", `{"delta":{"text":"to `+a+`"}}`) + awsFrame("messageStop", `{}`) + awsFrame("x", b)
		}},
		{"aws-base64", "JSON in base64", aws, func(a, b string) string {
			return awsFrame("chunk", `{"bytes":"`+inBase64(`{"delta":{"text":"to `+a+`"}}`)+`","p":"`+b+`"}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := func(body string) *provider.Answer {
				return &provider.Answer{ContentType: c.contentType, Body: []byte(body)}
			}
			live := newRules(t, Volatile()).valuesOf(idA, idB)
			kept := c.body("{{uuid:1}}", "{{uuid:2}}")
			require.Equal(t, kept, string(live.Answer(answer(c.body(idA, idB)))), c.reason)

			same, err := live.Restore(answer(kept), math.MaxInt64)
			require.NoError(t, err)
			require.Equal(t, c.body(idA, idB), string(same), "the same run gets the bytes of the provider")
			other, err := newRules(t, Volatile()).valuesOf(runA, runB).Restore(answer(kept), math.MaxInt64)
			require.NoError(t, err)
			require.Equal(t, c.body(runA, runB), string(other), "another run gets its own values")
			stored := newRules(t, Volatile()).newValues(true)
			stored.requestEdits("{{uuid:1}} {{uuid:2}}")
			require.Equal(t, kept, string(stored.Answer(answer(kept))), "what was scrubbed stays")
		})
	}
}

// TestSilentEvents edits events without data, of which a stream may have millions, and bounds the memory that they keep.
func TestSilentEvents(t *testing.T) {
	const last = ": the last\n\n"
	for name, silent := range map[string]string{"empty lines": "\n", "comments": ":\n\n"} {
		t.Run(name, func(t *testing.T) {
			many := strings.Repeat(silent, 1<<17/len(silent))
			body := "data: {}\n\n: old\n\n" + many + ": old\n\n" + many + last + "data: {}\n\n"
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			got := rewrite(&provider.Answer{ContentType: "text/event-stream", Body: []byte(body)}, func(text string) []edit {
				if text == last {
					runtime.GC()
					runtime.ReadMemStats(&after)
				}
				if at := strings.Index(text, "old"); at >= 0 {
					return []edit{{span{at, at + len("old")}, "new"}}
				}
				return nil
			}, false)
			require.Equal(t, strings.ReplaceAll(body, "old", "new"), string(got))
			require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4*len(body)))
		})
	}
}

// TestAnswerSpellings holds what of an answer is changed otherwise, or not at all.
func TestAnswerSpellings(t *testing.T) {
	for _, c := range []struct{ name, reason, body, want string }{
		{"escaped", "a value may be escaped", `{"a":"\u0061aaaaaaa-0000-4000-8000-000000000001!\n"}`, `{"a":"{{uuid:1}}!\n"}`},
		{"binary", "sound is no text", "\xff\xfe " + idA, "\xff\xfe " + idA},
		{"comment", "what is between events is kept too", "data: {}\n\n: " + idA + "\n\n: " + idA + "\ndata: {}\n\n",
			"data: {}\n\n: {{uuid:1}}\n\n: {{uuid:1}}\ndata: {}\n\n"},
		{"literal", "the model says it so", `{"a":"{{uuid:1}} ` + idA + `","b":"\u007b{uuid:2}}"}`, `{"a":"{{}}{{uuid:1}} {{uuid:1}}","b":"{{}}\u007b{uuid:2}}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newRules(t, Volatile()).valuesOf(idA)
			require.Equal(t, c.want, string(v.Answer(&provider.Answer{Body: []byte(c.body)})), c.reason)
		})
	}
}

// valuesOf returns the values of a request that has these.
func (r *Rules) valuesOf(values ...string) *Values {
	v := r.newValues(false)
	v.requestEdits(strings.Join(values, " "))
	return v
}

// TestSplitValues holds that the pieces of a value are one, and its placeholder is whole in the event that
// the value begins in.
func TestSplitValues(t *testing.T) {
	a, z := idA[:10], idA[10:]
	for _, c := range []struct {
		name, reason string
		events       []string
		want         []string
	}{
		{"chat", "deltas of one choice", []string{`{"choices":[{"index":0,"delta":{"content":"to ` + a + `"}}]}`, `{"choices":[{"index":0,"delta":{"content":"` + z + `."}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"content":"to {{uuid:1}}"}}]}`, `{"choices":[{"index":0,"delta":{"content":"."}}]}`}},
		{"choices", "two choices are two texts", []string{`{"choices":[{"index":0,"delta":{"content":"` + a + `"}}]}`, `{"choices":[{"index":1,"delta":{"content":"` + a + `"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"` + z + `"}}]}`, `{"choices":[{"index":1,"delta":{"content":"!"}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"content":"{{uuid:1}}"}}]}`, `{"choices":[{"index":1,"delta":{"content":"` + a + `"}}]}`,
				`{"choices":[{"index":0,"delta":{"content":""}}]}`, `{"choices":[{"index":1,"delta":{"content":"!"}}]}`}},
		{"arguments", "those of a tool call, of which the first event says more", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c","type":"function","function":{"name":"f","arguments":"{\"p\":\"` + a + `"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"` + z + `\"}"}}]}}]}`},
			[]string{`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c","type":"function","function":{"name":"f","arguments":"{\"p\":\"{{uuid:1}}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"}"}}]}}]}`}},
		{"anthropic", "blocks by their index, through three events", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + a + `"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + z[:3] + `"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + z[3:] + `"}}`},
			[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"{{uuid:1}}"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`}},
		{"responses", "what was said in pieces is said whole at the end", []string{`{"type":"response.output_text.delta","item_id":"m","delta":"` + a + `"}`,
			`{"type":"response.output_text.delta","item_id":"m","delta":"` + z + `"}`, `{"type":"response.output_text.done","item_id":"m","text":"` + idA + `"}`},
			[]string{`{"type":"response.output_text.delta","item_id":"m","delta":"{{uuid:1}}"}`,
				`{"type":"response.output_text.delta","item_id":"m","delta":""}`, `{"type":"response.output_text.done","item_id":"m","text":"{{uuid:1}}"}`}},
		{"converse", "blocks by another member", []string{`{"contentBlockIndex":0,"delta":{"text":"` + a + `"}}`,
			`{"contentBlockIndex":1,"delta":{"text":"x"}}`, `{"contentBlockIndex":0,"delta":{"text":"` + z + `"}}`},
			[]string{`{"contentBlockIndex":0,"delta":{"text":"{{uuid:1}}"}}`, `{"contentBlockIndex":1,"delta":{"text":"x"}}`, `{"contentBlockIndex":0,"delta":{"text":""}}`}},
		{"parts", "those of one item", []string{`{"content_index":0,"delta":"` + a + `"}`, `{"content_index":1,"delta":"x"}`, `{"content_index":0,"delta":"` + z + `"}`},
			[]string{`{"content_index":0,"delta":"{{uuid:1}}"}`, `{"content_index":1,"delta":"x"}`, `{"content_index":0,"delta":""}`}},
		{"summaries", "of one item's reasoning", []string{`{"summary_index":0,"delta":"` + a + `"}`, `{"summary_index":1,"delta":"x"}`, `{"summary_index":0,"delta":"` + z + `"}`},
			[]string{`{"summary_index":0,"delta":"{{uuid:1}}"}`, `{"summary_index":1,"delta":"x"}`, `{"summary_index":0,"delta":""}`}},
		{"reasoning-details", "what hosts of chat completions send beside the reasoning", []string{
			`{"choices":[{"index":0,"delta":{"reasoning":"` + a + `","reasoning_details":[{"type":"reasoning.summary","index":0,"summary":"` + a + `"}]}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning":"` + z + `","reasoning_details":[{"type":"reasoning.summary","index":0,"summary":"` + z + `"}]}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"reasoning":"{{uuid:1}}","reasoning_details":[{"type":"reasoning.summary","index":0,"summary":"{{uuid:1}}"}]}}]}`,
				`{"choices":[{"index":0,"delta":{"reasoning":"","reasoning_details":[{"type":"reasoning.summary","index":0,"summary":""}]}}]}`}},
		{"watsonx", "its own name for a text", []string{`{"results":[{"generated_text":"` + a + `"}]}`, `{"results":[{"generated_text":"` + z + `"}]}`},
			[]string{`{"results":[{"generated_text":"{{uuid:1}}"}]}`, `{"results":[{"generated_text":""}]}`}},
		{"places", "one choice by its index, wherever it stands", []string{`{"choices":[{"index":1,"delta":{"content":"` + a + `"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"x"}},{"index":1,"delta":{"content":"` + z + `"}}]}`},
			[]string{`{"choices":[{"index":1,"delta":{"content":"{{uuid:1}}"}}]}`, `{"choices":[{"index":0,"delta":{"content":"x"}},{"index":1,"delta":{"content":""}}]}`}},
		{"other-members", "only what grows is joined", []string{`{"model":"` + a + `"}`, `{"model":"` + z + `"}`}, []string{`{"model":"` + a + `"}`, `{"model":"` + z + `"}`}},
		{"adjoining", "a value ends where the pieces of the next begin", []string{`{"response":"` + idA + `"}`, `{"response":"` + a + `"}`, `{"response":"` + z + `"}`},
			[]string{`{"response":"{{uuid:1}}"}`, `{"response":"{{uuid:1}}"}`, `{"response":""}`}},
		{"literal", "what only looks like a placeholder", []string{`{"response":"{{uu"}`, `{"response":"id:1}}"}`}, []string{`{"response":"{{}}{{uu"}`, `{"response":"id:1}}"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, framing := range []struct{ contentType, before, between, after string }{
				{"text/event-stream", "data: ", "\n\ndata: ", "\n\n"}, {"application/x-ndjson", "", "\n", "\n"}, {"application/json", "[", ",\n", "]"},
			} {
				stream := func(events []string) []byte {
					return []byte(framing.before + strings.Join(events, framing.between) + framing.after)
				}
				v := newRules(t, Volatile()).valuesOf(idA)
				kept := v.Answer(&provider.Answer{ContentType: framing.contentType, Body: stream(c.events)})
				require.Equal(t, string(stream(c.want)), string(kept), c.reason)
				restored, err := v.Restore(&provider.Answer{ContentType: framing.contentType, Body: kept}, math.MaxInt64)
				require.NoError(t, err)
				require.Equal(t, c.name == "literal" || c.name == "other-members", bytes.Equal(restored, stream(c.events)))
				require.NotContains(t, string(restored), "{{uuid:1}}")
			}
		})
	}
}

// TestSplitValuesInBase64 does so for the JSON in Bedrock's frames.
func TestSplitValuesInBase64(t *testing.T) {
	stream := func(pieces ...string) (body []byte) {
		for _, piece := range pieces {
			body = append(body, awsFrame("chunk", `{"bytes":"`+inBase64(`{"delta":{"text":"`+piece+`"}}`)+`"}`)...)
		}
		return body
	}
	answer := &provider.Answer{ContentType: "application/vnd.amazon.eventstream", Body: stream("to "+idA[:10], idA[10:]+".")}
	require.Equal(t, stream("to {{uuid:1}}", "."), newRules(t, Volatile()).valuesOf(idA).Answer(answer))
}

// TestFirstSaid holds what becomes of values that the answer is the first to say.
func TestFirstSaid(t *testing.T) {
	answer := func(text string) *provider.Answer { return &provider.Answer{Body: []byte(text)} }
	all := []Rule{Value("key", "s3cret"), Pattern("order", regexp.MustCompile(`ORD-[0-9]{4}`)), Volatile()}
	rules := newRules(t, all...)
	first, second := rules.valuesOf("ORD-1000"), rules.valuesOf("ORD-2000")
	kept1 := first.Answer(answer(`{"a":"ORD-1000 ORD-7777 s3cret ` + idB + `"}`))
	require.Equal(t, `{"a":"{{order:1}} {{order:+1}} {{key:1}} `+idB+`"}`, string(kept1))
	kept2 := second.Answer(answer(`{"a":"ORD-8888 ORD-7777"}`))
	require.Equal(t, `{"a":"{{order:+2}} {{order:+1}}"}`, string(kept2), "a secret has one placeholder through the test")

	replay := newRules(t, Value("key", ""), all[1], all[2])
	first, second = replay.valuesOf("ORD-1111"), replay.valuesOf("ORD-2222")
	served1, err := first.Restore(answer(string(kept1)), math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, `{"a":"ORD-1111 ORD-0001 traceforge-key `+idB+`"}`, string(served1))
	served2, err := second.Restore(answer(string(kept2)), math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, `{"a":"ORD-0002 ORD-0001"}`, string(served2))
	kept3 := replay.valuesOf("ORD-3333").Answer(answer(`{"a":"ORD-0001 ORD-9999"}`))
	require.Equal(t, `{"a":"{{order:+1}} {{order:+3}}"}`, string(kept3), "what was served keeps its placeholder in a live answer")

	_, err = newRules(t).valuesOf().Restore(answer(string(kept1)), math.MaxInt64)
	require.EqualError(t, err, "no value is known for {{key:1}}, {{order:+1}}, {{order:1}}")
	_, err = replay.valuesOf().Restore(answer(`"{{uuid:1}}"`), math.MaxInt64)
	require.EqualError(t, err, "no value is known for {{uuid:1}}", "no other run's value is made up")
}

// TestFirstSaidAtOnce gives placeholders to the secrets of answers that come at the same time, as those of live checks do.
func TestFirstSaidAtOnce(t *testing.T) {
	rules := newRules(t, Pattern("order", regexp.MustCompile(`ORD-[0-9]{4}`)))
	var kept locked.Map[string, bool]
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			kept.Add(string(rules.valuesOf().Answer(&provider.Answer{Body: fmt.Appendf(nil, `"ORD-%04d"`, n)})), true)
		})
	}
	all.Wait()
	require.Len(t, kept.All(), 200, "each secret has a placeholder of its own")
}

func FuzzAnswer(t *testing.F) {
	f := mutation.New(t)
	for _, body := range []string{`{"a":"` + idA + `"}`, "data: {\"text\":\"{{\"}\n\ndata: {\"text\":\"uuid:1}}\"}\n\n", awsFrame("chunk", `{"bytes":"`+inBase64(`{"x":"{{uuid:1}}"}`)+`"}`),
		"[{\"text\":\"a\"}]", "\xff", `{"a":"\u007b\u007buuid:1}}"}`} {
		f.Add(body, "application/json")
		f.Add(body, "text/event-stream")
	}
	f.Fuzz(func(t *testing.T, body, contentType string) {
		rules := newRules(t)
		v := rules.valuesOf()
		kept := v.Answer(&provider.Answer{ContentType: contentType, Body: []byte(body)})
		restored, err := v.Restore(&provider.Answer{ContentType: contentType, Body: kept}, math.MaxInt64)
		require.NoError(t, err)
		require.Equal(t, body, string(restored), "without rules an answer is served as it came")
	})
}

// TestLongRestored serves no answer that many placeholders of a long value make longer than answers may be.
func TestLongRestored(t *testing.T) {
	value := "DOC-" + strings.Repeat("a", 100_000)
	values := newRules(t, Pattern("doc", regexp.MustCompile("DOC-a+"))).valuesOf(value)
	answer := func(times int) *provider.Answer {
		return &provider.Answer{ContentType: "application/json", Body: []byte(`{"a":"` + strings.Repeat("{{doc:1}}", times) + `"}`)}
	}
	restored, err := values.Restore(answer(10), 2<<20)
	require.NoError(t, err)
	require.Len(t, restored, len(`{"a":""}`)+10*len(value))
	_, err = values.Restore(answer(100_000), 2<<20)
	require.ErrorIs(t, err, ErrLong)
}

// TestRestoreKeepsSpelling restores answers with escapes that begin like that of a brace.
func TestRestoreKeepsSpelling(t *testing.T) {
	for _, text := range []string{
		`{"a" : "\u007E\u007c", "b":1e2, "b":[ ] }`, "data: {\"a\" : \"\\u007f\"}\n\ndata: {\"a\n\n", `{"a":"\u007`, `\u007f`,
	} {
		for _, contentType := range []string{"application/json", "text/event-stream"} {
			stored := &provider.Answer{ContentType: contentType, Body: []byte(text)}
			restored, err := newRules(t, Volatile()).valuesOf().Restore(stored, math.MaxInt64)
			require.NoError(t, err)
			require.Equal(t, text, string(restored))
		}
	}
}

// TestRestoredQuotes escapes a value where a JSON text has its placeholder, and nowhere else.
func TestRestoredQuotes(t *testing.T) {
	rules := newRules(t, Value("name", `O"Hara`))
	for stored, want := range map[string]string{`{"a":"{{name:1}}"}`: `{"a":"O\"Hara"}`, `{{name:1}}`: `O"Hara`} {
		restored, err := rules.valuesOf().Restore(&provider.Answer{Body: []byte(stored)}, math.MaxInt64)
		require.NoError(t, err)
		require.Equal(t, want, string(restored))
	}
}

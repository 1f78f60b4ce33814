package provider

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestCitationsMeanOneThing checks for every API with citations that they have the same members, and that places are in
// characters of the whole text, in whatever unit the API counts.
func TestCitationsMeanOneThing(t *testing.T) {
	t.Parallel()
	const text = "Zürich is wet." // "wet" is from character 10 to 13, from byte 11 to 14
	for _, c := range []struct{ name, why, api, answer, want string }{
		{"chat", "in an object of their own", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet.",` +
			`"annotations":[{"type":"url_citation","url_citation":{"url":"https://a","title":"A","content":"rain","start_index":10,"end_index":13}}]}}]}`,
			`10-13 "https://a" "A" "rain" ""`},
		{"chat_type", "clients read it whatever its type says", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet.",` +
			`"annotations":[{"type":"citation","url_citation":{"url":"https://a"}}]}}]}`, `- "https://a" "" "" ""`},
		{"responses_type", "clients read it whatever its type says", responsesAPI, `{"status":"completed","output":[{"type":"message","role":"assistant","content":[` +
			`{"type":"output_text","text":"Zürich is wet.","annotations":[{"type":"link","url":"https://a"},{"type":"file_path","file_id":"file-1"}]}]}]}`,
			`- "https://a" "" "" ""`},
		{"chat_other_beside", "clients read the one they know, whatever is beside it", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{` +
			`"content":"Zürich is wet.","annotations":[{"type":"url_citation","a_citation":{"url":"https://a"},"url_citation":{"url":"https://b"}}]}}]}`,
			`- "https://a" "" "" ""` + "\n" + `- "https://b" "" "" ""`},
		{"responses_other_beside", "clients read the annotation, whatever is in it", responsesAPI, `{"status":"completed","output":[{"type":"message",` +
			`"role":"assistant","content":[{"type":"output_text","text":"Zürich is wet.","annotations":[` +
			`{"type":"url_citation","x_citation":{"url":"https://a"},"url":"https://b"},{"type":"file_path","file_id":"file-1","url":"https://c"}]}]}]}`,
			`- "https://b" "" "" ""` + "\n" + `- "https://a" "" "" ""` + "\n" + `- "https://c" "" "" ""`},
		{"chat_outside", "a place that the text has not is not said", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet.",` +
			`"annotations":[{"type":"url_citation","url_citation":{"url":"https://a","start_index":10,"end_index":99}},{"type":"file","file":{"hash":"x"}}]}}]}`,
			`- "https://a" "" "" ""`},
		{"chat_odd_places", "a place that is none is not said", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet.",` +
			`"annotations":[{"url_citation":{"url":"https://a","start_index":-1,"end_index":3}},{"url_citation":{"url":"https://b","start_index":3}},` +
			`{"url_citation":{"url":"https://c","start_index":3,"end_index":3}}]}}]}`,
			`- "https://a" "" "" ""` + "\n" + `- "https://b" "" "" ""` + "\n" + `- "https://c" "" "" ""`},
		{"azure", "on one's own data", chatAPI, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet.",` +
			`"context":{"citations":[{"url":null,"title":"A","content":"rain","filepath":"a.md"}]}}}]}`, `- "" "A" "rain" "a.md"`},
		{"perplexity", "beside the choices", chatAPI, `{"citations":["https://a"],"search_results":[{"title":"A","url":"https://a","snippet":"rain"}],` +
			`"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet."}}]}`, `- "https://a" "A" "rain" ""`},
		{"xai", "URLs alone", chatAPI, `{"citations":["https://a"],"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet."}}]}`,
			`- "https://a" "" "" ""`},
		{"responses", "places count from the block", responsesAPI, `{"status":"completed","output":[{"type":"message","role":"assistant","content":[` +
			`{"type":"output_text","text":"Zürich "},{"type":"output_text","text":"is wet.","annotations":[` +
			`{"type":"url_citation","url":"https://a","title":"A","start_index":3,"end_index":6},{"type":"file_citation","file_id":"file-1","filename":"a.md","index":6}]}]}]}`,
			`10-13 "https://a" "A" "" ""` + "\n" + `- "" "a.md" "" "file-1"`},
		{"responses_reasoning", "places do not count what the message has not", responsesAPI, `{"status":"completed","output":[` +
			`{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}],"summary":[]},{"type":"message","role":"assistant","content":[` +
			`{"type":"output_text","text":"Zürich is wet.","annotations":[{"type":"url_citation","url":"https://a","start_index":10,"end_index":13}]}]}]}`,
			`10-13 "https://a" "" "" ""`},
		{"anthropic", "a block is cited as a whole", messagesAPI, `{"role":"assistant","stop_reason":"end_turn","content":[` +
			`{"type":"text","text":"Zürich is "},{"type":"text","text":"wet","citations":[` +
			`{"type":"web_search_result_location","url":"https://a","title":"A","cited_text":"rain","encrypted_index":"e"},` +
			`{"type":"char_location","document_index":0,"document_title":"D","cited_text":"rain","start_char_index":0,"end_char_index":4}]},` +
			`{"type":"text","text":"."}]}`, `10-13 "https://a" "A" "rain" ""` + "\n" + `10-13 "" "D" "rain" "0"`},
		{"gemini", "places are bytes", generateAPI, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Zürich is wet."}]},"groundingMetadata":{` +
			`"groundingChunks":[{"web":{"uri":"https://a","title":"A"}},{"web":{"uri":"https://b","title":"B"}}],` +
			`"groundingSupports":[{"segment":{"startIndex":11,"endIndex":14,"text":"wet"},"groundingChunkIndices":[0]}]}}]}`,
			`10-13 "https://a" "A" "" ""` + "\n" + `- "https://b" "B" "" ""`},
		{"gemini_two", "clients read either kind of a chunk", generateAPI, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Zürich is wet."}]},` +
			`"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a"},"maps":{"uri":"https://b"},"image":{"sourceUri":"https://c"}}]}}]}`,
			`- "https://a" "" "" ""` + "\n" + `- "https://b" "" "" ""` + "\n" + `- "https://c" "" "" ""`},
		{"gemini_recites", "what is recited", generateAPI, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Zürich is wet."}]},` +
			`"citationMetadata":{"citationSources":[{"endIndex":14,"uri":"https://a"}]}}]}`, `0-13 "https://a" "" "" ""`},
		{"gemini_other_words", "a place with other words is not said", generateAPI, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Zürich is wet."}]},` +
			`"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a"}}],"groundingSupports":[{"segment":{"endIndex":3,"text":"wet"},"groundingChunkIndices":[0,7,-1,"0"]}]}}]}`,
			`- "https://a" "" "" ""`},
		{"gemini_odd_places", "a place within a character is none", generateAPI, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Zürich is wet."}]},` +
			`"citationMetadata":{"citationSources":[{"startIndex":-1,"endIndex":3,"uri":"https://a"},{"endIndex":2,"uri":"https://b"},{"startIndex":2,"endIndex":4,"uri":"https://c"}]}}]}`,
			`- "https://a" "" "" ""` + "\n" + `- "https://b" "" "" ""` + "\n" + `- "https://c" "" "" ""`},
		{"cohere", "one for each source", cohereAPI, `{"finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"Zürich is wet."}],` +
			`"citations":[{"start":10,"end":13,"text":"wet","sources":[{"type":"document","id":"doc:0","document":{"title":"A","snippet":"rain"}},{"type":"tool","id":"t:1"}]}]}}`,
			`10-13 "" "A" "rain" "doc:0"` + "\n" + `10-13 "" "" "" "t:1"`},
		{"cohere_odd_places", "a place in the plan, or in no content, is not said", cohereAPI, `{"finish_reason":"COMPLETE","message":{"role":"assistant",` +
			`"content":[{"type":"text","text":"Zürich is wet."}],"citations":[{"type":"PLAN","start":0,"end":3,"sources":[{"id":"a"}]},` +
			`{"content_index":1,"start":0,"end":3,"sources":[{"id":"b"}]},{"content_index":-1,"start":0,"end":3,"sources":[{"id":"c"}]}]}}`,
			`- "" "" "" "a"` + "\n" + `- "" "" "" "b"` + "\n" + `- "" "" "" "c"`},
		{"bedrock_odd_places", "a span that is none is not said", retrieveGenerateAPI, `{"output":{"text":"Zürich is wet."},"citations":[` +
			`{"generatedResponsePart":{"textResponsePart":{"span":{"start":-1,"end":2},"text":"Z"}},"retrievedReferences":[{"content":{"text":"a"}}]},` +
			`{"generatedResponsePart":{"textResponsePart":{"span":{"start":13,"end":10},"text":"Z"}},"retrievedReferences":[{"content":{"text":"b"}}]},` +
			`{"generatedResponsePart":{"textResponsePart":{"span":{"start":0},"text":"Z"}},"retrievedReferences":[{"content":{"text":"c"}}]}]}`,
			`- "" "" "a" ""` + "\n" + `- "" "" "b" ""` + "\n" + `- "" "" "c" ""`},
		{"bedrock_retrieve", "the end of a span may be in it", retrieveGenerateAPI, `{"output":{"text":"Zürich is wet."},"citations":[{"generatedResponsePart":` +
			`{"textResponsePart":{"span":{"start":10,"end":12},"text":"wet"}},"retrievedReferences":[{"content":{"text":"rain"},"location":{"webLocation":{"url":"https://a"}}}]}]}`,
			`10-13 "https://a" "" "rain" ""`},
		{"interactions", "places are bytes of a content", interactionsAPI, `{"status":"completed","steps":[{"type":"model_output","content":[` +
			`{"type":"text","text":"Zürich "},{"type":"text","text":"is wet.","annotations":[{"type":"url_citation","url":"https://a","title":"A","start_index":3,"end_index":6}]}]}]}`,
			`10-13 "https://a" "A" "" ""`},
		{"cohere_v1", "documents stand beside the text", cohereV1API, `{"finish_reason":"COMPLETE","text":"Zürich is wet.",` +
			`"citations":[{"start":10,"end":13,"text":"wet","document_ids":["doc_0"]}],"documents":[{"id":"doc_0","title":"A","snippet":"rain","url":"https://a"}]}`,
			`10-13 "https://a" "A" "rain" "doc_0"`},
		{"converse", "a block is cited as a whole", converseAPI, `{"stopReason":"end_turn","output":{"message":{"role":"assistant","content":[{"text":"Zürich is "},` +
			`{"citationsContent":{"content":[{"text":"wet"}],"citations":[{"title":"A","sourceContent":[{"text":"rain"}],"location":{"web":{"url":"https://a"}}}]}},{"text":"."}]}}}`,
			`10-13 "https://a" "A" "rain" ""`},
		{"converse_documents", "a document is known by its place in the request, and a search result by its own words", converseAPI,
			`{"stopReason":"end_turn","output":{"message":{"role":"assistant","content":[{"citationsContent":{"content":[{"text":"Zürich is wet."}],"citations":[` +
				`{"location":{"documentPage":{"documentIndex":1,"start":2,"end":2}}},{"location":{"documentChar":{"documentIndex":2,"start":2,"end":2}}},` +
				`{"location":{"documentChunk":{"documentIndex":3,"start":2,"end":2}}},` +
				`{"source":"s3://b/a","location":{"searchResultLocation":{"searchResultIndex":0}}}]}}]}}}`,
			`0-14 "" "" "" "1"` + "\n" + `0-14 "" "" "" "2"` + "\n" + `0-14 "" "" "" "3"` + "\n" + `0-14 "" "" "" "s3://b/a"`},
		{"generic", "in a form that is known", httpAPI, `{"citations":["https://a"],"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Zürich is wet."}}]}`,
			`- "https://a" "" "" ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resp, err := ifThere(t, c.api).DecodeResponse(&Answer{Status: 200, ContentType: "application/json", Body: []byte(c.answer)})
			require.NoError(t, err)
			require.Equal(t, text, texts.Join(resp.Candidates[0].Message.Content))
			require.Equal(t, c.want, shown(resp.Candidates[0].Citations), c.why)
		})
	}
}

func shown(all []modelio.Citation) (lines string) {
	for i, c := range all {
		place := "-"
		if c.Start != nil {
			place = fmt.Sprintf("%d-%d", *c.Start, *c.End)
		}
		if i > 0 {
			lines += "\n"
		}
		lines += fmt.Sprintf("%s %q %q %q %q", place, c.URL, c.Title, c.Quote, c.Source)
	}
	return lines
}

// TestCitationsOfStreams checks that a stream has the same citations as the whole answer.
func TestCitationsOfStreams(t *testing.T) {
	t.Parallel()
	converse := frames(t, []byte(`contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"wet"}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"citation":{"title":"A","location":{"web":{"url":"https://a"}}}}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"citation":{"title":"B","location":{"web":{"url":"https://b"}}}}}
messageStop {"stopReason":"end_turn"}
`))
	resp, err := byName(t, converseAPI).DecodeResponse(&Answer{Status: 200, ContentType: "application/vnd.amazon.eventstream", Body: converse})
	require.NoError(t, err)
	require.Equal(t, "wet", texts.Join(resp.Candidates[0].Message.Content))
	require.Equal(t, `0-3 "https://a" "A" "" ""`+"\n"+`0-3 "https://b" "B" "" ""`, shown(resp.Candidates[0].Citations))
}

// TestCitedSourcesAreNumbered checks that a cited tool result has the number of its call, since the id is made up.
func TestCitedSourcesAreNumbered(t *testing.T) {
	t.Parallel()
	var n modelio.Numbering
	_, err := n.Request(&modelio.Request{Messages: []modelio.Message{{Role: modelio.RoleModel, Content: []modelio.Part{
		{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "f_x1"}}}}}})
	require.NoError(t, err)
	resp, err := n.Response(&modelio.Response{Candidates: []modelio.Candidate{{Citations: []modelio.Citation{{Source: "f_x1:2"}, {Source: "doc:0"}}}}})
	require.NoError(t, err)
	require.Equal(t, []modelio.Citation{{Source: "call_1:2"}, {Source: "doc:0"}}, resp.Candidates[0].Citations)
}

// TestCitationsOfTraffic checks which APIs cite in real answers, so that no citation is missed.
func TestCitationsOfTraffic(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, x := range corpus(t) {
		codec, ok := Match(x.wire(t))
		if !ok || x.Status != 200 {
			continue
		}
		resp, err := codec.DecodeResponse(x.answer(t))
		if err != nil || len(resp.Candidates) == 0 {
			continue
		}
		for _, c := range resp.Candidates[0].Citations {
			found[codec.API]++
			require.NotEmpty(t, c.URL+c.Title+c.Quote+c.Source, x.Origin)
		}
	}
	for _, api := range []string{chatAPI, responsesAPI, messagesAPI, generateAPI} {
		require.NotZero(t, found[api], "%v", found)
	}
	t.Log(found)
}

// TestRuler counts the characters before each byte of a text that is longer than a step.
func TestRuler(t *testing.T) {
	text := strings.Repeat("aé漢😀\n", 2*rulerStep/11)
	places := newRuler(text)
	want := int64(0)
	for at := range int64(len(text)) {
		if utf8.RuneStart(text[at]) {
			require.Equal(t, want, places.before(at))
			want++
		}
	}
	require.Equal(t, want, places.before(int64(len(text))))
	require.Equal(t, want, newRuler(text[:rulerStep]).before(rulerStep)+newRuler(text[rulerStep:]).before(int64(len(text)-rulerStep)))
}

// TestManyCitations places 50,000 citations in a text of 2 MB: counting the text for each would take minutes.
func TestManyCitations(t *testing.T) {
	t.Parallel()
	const all = 50_000
	var cited []string
	for i := range all {
		cited = append(cited, fmt.Sprintf(`{"startIndex":%d,"endIndex":%d,"uri":"https://a"}`, 40*i, 40*i+5))
	}
	resp, err := byName(t, "google.generate").DecodeResponse(&Answer{Status: 200, ContentType: "application/json", Body: []byte(
		`{"candidates":[{"content":{"parts":[{"text":"` + strings.Repeat("a", 40*all) + `"}]},"finishReason":"STOP","citationMetadata":{"citations":[` +
			strings.Join(cited, ",") + `]}}]}`)})
	require.NoError(t, err)
	require.Len(t, resp.Candidates[0].Citations, all)
	require.EqualValues(t, 40*(all-1)+5, *resp.Candidates[0].Citations[all-1].End)
}

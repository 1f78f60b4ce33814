package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// FuzzParse checks that no text makes Parse panic. Any accepted text can be sealed and written. The result has the same
// content, satisfies Examine, stays equal when written again, and satisfies the schema. The schema also accepts it in
// SF's literal form.
func FuzzParse(t *testing.F) {
	f := mutation.New(t)
	for _, file := range vectors(f) {
		for _, v := range file.Cases {
			f.Add(v.text())
		}
	}
	records, _ := agent("Be brief.\nAlways.", 2)
	f.Add(encode(f, document(f, records...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := snapshot.Parse(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.Nil(t, doc)
			if doc = snapshot.ParseUnsealed(data); doc == nil {
				return
			}
		}
		before := cores(t, doc)
		written, err := doc.Write(nil)
		if err != nil { // a text in pieces has one more level of nesting
			require.ErrorContains(t, err, "depth")
			return
		}
		again, found := spelling.Examine(written)
		require.Empty(t, found)
		require.Equal(t, before, cores(t, again))
		require.NoError(t, again.Seal())
		require.Equal(t, string(written), string(encode(t, again)))
		require.NoError(t, schematest.Validate("document", written))
		literal, err := again.SF()
		require.NoError(t, err)
		require.NoError(t, schematest.Validate("document", literal))
	})
}

// FuzzSeal checks that for any JSON in a record, a document that can be sealed can be written and read back, also by a
// call that continues it.
func FuzzSeal(t *testing.F) {
	f := mutation.New(t)
	f.Add("content", awkward, "1", "/provider_options/0")
	f.Add("", `{"$number":"1"}`, "9223372036854775807", "")
	f.Add("\u2028<&>\x00\n\n", `[1e400,{"10":1,"9":2}]`, "-0.0", "/messages/*/content/text")
	f.Add("a\nb", `{"$text":["a\n","b"]}`, "42", "/tools")
	f.Fuzz(func(t *testing.T, said, raw, seed, ignored string) {
		s := record("TestFuzz", 1)
		s.Request.Options = modelio.Object{"raw": json.RawMessage(raw), said: json.RawMessage(raw)}
		s.Request.Messages[0].Content[0] = modelio.Part{Text: &said, Metadata: modelio.Object{said: json.RawMessage(raw)}}
		s.Request.Seed = number(json.Number(seed))
		s.Response = answered(modelio.TextPart(said), modelio.Part{ToolRequest: &modelio.ToolRequest{Name: said, Ref: said, Input: json.RawMessage(raw)}})
		if ignored != "" {
			s.Source.Ignored = []string{ignored}
		}
		next := s
		next.ID = record("TestFuzz", 2).ID
		next.Request.Messages = append(next.Request.Messages[:1:1], s.Response.Candidates[0].Message, text(modelio.RoleUser, said))
		doc := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{s, next}}
		data, err := doc.Write(nil)
		if err != nil {
			return
		}
		parsed, found := spelling.Examine(data)
		require.Empty(t, found)
		require.Equal(t, doc.Hash, parsed.Hash)
		require.Equal(t, 2, parsed.Snapshots[1].Continues.Messages)
		require.Equal(t, cores(t, doc), cores(t, parsed))
		require.Equal(t, data, encode(t, parsed))
		kept, err := canon.KeepNumbers([]byte(raw))
		require.NoError(t, err)
		got, err := canon.KeepNumbers(parsed.Snapshots[1].Request.Options["raw"])
		require.NoError(t, err)
		require.Equal(t, string(kept), string(got), "what was sent is what comes back")
	})
}

// FuzzSplit checks that the pieces join to the text, that no piece hides a line break, and that an edit changes only
// the pieces around it.
func FuzzSplit(t *testing.F) {
	f := mutation.New(t)
	f.Add(strings.Repeat("One sentence. And another, with a clause; and more! ", 20), 100, 5, "word")
	f.Add(`{"a":1,"b":["`+strings.Repeat("x", 400)+`"],"c":{"d":"`+strings.Repeat(`e\"f `, 80)+`"}}`, 30, 0, "\n")
	f.Add(strings.Repeat("漢字。かな、", 60), 9, 3, "")
	f.Fuzz(func(t *testing.T, text string, at, length int, word string) {
		pieces := snapshot.Split(text)
		require.Equal(t, text, strings.Join(pieces, ""))
		require.Equal(t, pieces, snapshot.Split(strings.Join(pieces, "")))
		for _, p := range pieces {
			require.NotContains(t, strings.TrimSuffix(p, "\n"), "\n")
		}
		if at < 0 || length < 0 || at > len(text) || length > len(text)-at {
			return
		}
		// The lines before and after the edited ones keep their pieces.
		first := strings.LastIndexByte(text[:at], '\n') + 1
		last := len(text)
		if i := strings.IndexByte(text[at+length:], '\n'); i >= 0 {
			last = at + length + i + 1
		}
		edited := snapshot.Split(text[:at] + word + text[at+length:])
		before, after := snapshot.Split(text[:first]), snapshot.Split(text[last:])
		if first > 0 {
			require.Equal(t, before, edited[:len(before)])
		}
		if last < len(text) {
			require.Equal(t, after, edited[len(edited)-len(after):])
		}
	})
}

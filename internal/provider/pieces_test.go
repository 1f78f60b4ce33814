package provider

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// splitMembers returns the names of members that several events of a stream have and whose strings are together a text of
// several words in the decoded answer, each with the text.
func splitMembers(t *testing.T, codec *Codec, a *Answer) map[string]string {
	t.Helper()
	events := a.Events()
	if events == nil || a.Status >= 300 {
		return nil
	}
	resp, err := codec.DecodeResponse(a)
	if err != nil {
		return nil
	}
	whole := map[string]bool{}
	text, err := json.Marshal(resp)
	require.NoError(t, err)
	jsontext.ValueOf(text).EachString(func(v jsontext.Value, _ bool) { whole[v.Word()] = strings.Contains(v.Word(), " ") })
	said, times := map[string]string{}, map[string]int{} // by path, which ends in the member
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		seen := map[string]string{}
		eachPath("", jsontext.ValueOf(event.Data), seen)
		for path, piece := range seen {
			said[path] += piece
			times[path]++
		}
	}
	found := map[string]string{}
	for path, text := range said {
		if times[path] > 1 && whole[text] {
			found[path[strings.LastIndexByte(path, '/')+1:]] = text
		}
	}
	return found
}

// eachPath adds the strings of a value by their paths.
func eachPath(path string, v jsontext.Value, all map[string]string) {
	if text, ok := v.Text(); ok && text != "" {
		all[path] = text
	}
	for name, member := range v.Members() {
		eachPath(path+"/"+name, member, all)
	}
	for _, element := range v.Elements() {
		eachPath(path, element, all)
	}
}

// TestPieces holds that the members whose strings make up a text are known as pieces: a value that events split is found
// only there.
func TestPieces(t *testing.T) {
	found := map[string]string{}
	seeds(t, "answer", func(api, arguments string, body []byte) {
		status, contentType, _ := strings.Cut(arguments, " ")
		n, err := strconv.Atoi(status)
		require.NoError(t, err)
		maps.Copy(found, splitMembers(t, byName(t, api), &Answer{Status: n, ContentType: contentType, Body: body}))
	})
	seeds(t, "frames", func(api, _ string, body []byte) {
		a := &Answer{Status: 200, ContentType: "application/vnd.amazon.eventstream", Body: frames(t, body)}
		maps.Copy(found, splitMembers(t, byName(t, api), a))
	})
	require.Contains(t, found, "stdout", "one that a codec declares")
	delete(found, "tokens") // of log probabilities, which stay apart in the record
	for name, text := range found {
		require.True(t, IsPiece(name), "%s, as in %q", name, text)
	}
}

package recorder

import (
	"bytes"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// differently stands in the note of a record before the first place where programs may read its answer differently.
const differently = "programs may read it differently: "

// noted adds to a note why programs may read an answer differently; "": they do not.
func noted(note, why string) string {
	switch {
	case why == "":
		return note
	case note == "":
		return differently + why
	}
	return note + "; " + differently + why
}

// isUnfit reports whether a note says that an answer does not fit its API.
func isUnfit(note string) bool { return note != "" && !strings.HasPrefix(note, differently) }

// unlike says why programs may read an answer in another way than its record does; "" where all that are
// known read it alike.
func unlike(a *provider.Answer, api string) string {
	l, streams := lookAt(a, api)
	if !streams {
		return l.why
	}
	events := a.Events()
	var event provider.Seen
	for l.why == "" && events.See(&event) {
		l.see(&event)
	}
	return l.why
}

// A look at an answer sees why programs may read it in another way.
type look struct {
	why   string // empty: nothing was seen so far
	api   string
	free  []string // members that hold what a caller has named
	whole bool     // the record has the answer as it is, and takes no member for a word of a model
	lines bool     // no data has several
	done  bool
	said  saidTwice
}

// lookAt looks at an answer. streams says that the look is at its end only with the last event.
func lookAt(a *provider.Answer, api string) (l *look, streams bool) {
	l = &look{api: api, free: free, whole: api == genericAPI && !chats(a) && !provider.Known(a)}
	if codec, ok := provider.Named(api); ok {
		l.free = append(slices.Clip(free), codec.Free...)
	}
	if a.Events() == nil {
		if why := l.misspelled(a.Body); why != "" {
			l.why = "the answer " + why
		}
		return l, false
	}
	if codec, _ := provider.Named(api); codec != nil && codec.Files && !strings.HasPrefix(a.ContentType, "text/event-stream") {
		return l, false
	}
	l.lines = !bytes.HasPrefix(a.Body, []byte{0}) // the frames of AWS
	l.why = framed(a)
	return l, l.why == ""
}

func (l *look) misspelled(text []byte) string {
	if l.whole {
		return ""
	}
	return misspelled(text, l.free)
}

// see looks at the next event. The first one resets what was seen, as an answer may be decoded in several ways.
func (l *look) see(event *provider.Seen) {
	if event.N == 1 {
		l.why, l.done, l.said = "", false, saidTwice{texts: map[string][]byte{}}
	}
	data := event.Said
	switch {
	case l.why != "" || len(data) == 0:
		return
	case l.lines && bytes.IndexByte(data, '\n') >= 0:
		l.why = fmt.Sprintf("event %d has several lines of data, each of which is an event for some", event.N)
		return
	case l.done && bytes.Contains(data, []byte(`"choices"`)):
		l.why = fmt.Sprintf("event %d follows [DONE], where clients stop", event.N)
		return
	case event.Done:
		l.done = true
		return
	case event.Alike && (l.api != responsesAPI || l.said.more(event.Name, event.Piece)):
		return
	}
	why := l.misspelled(data)
	if why == "" && l.api == responsesAPI {
		why = l.said.event(event.Name, data)
	}
	if why != "" {
		l.why = fmt.Sprintf("event %d %s", event.N, why)
	}
}

// chats reports whether the generic codec takes an answer, or a part of it, for one of a model.
func chats(a *provider.Answer) bool {
	chat := func(text []byte) bool {
		if !bytes.Contains(text, []byte("choices")) && !bytes.Contains(text, []byte(`\u`)) {
			return false // as it is spelled, or escaped
		}
		doc, err := jsontext.ParseLenient(text)
		return err == nil && doc.Root().Member("choices").IsArray()
	}
	events := a.Events()
	if events == nil {
		return chat(a.Body)
	}
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if chat(event.Data) {
			return true
		}
	}
	return false
}

const responsesAPI = "openai.responses"

// framed says what clients take apart in different ways.
func framed(a *provider.Answer) string {
	begin := bytes.TrimLeft(a.Body, "\ufeff \t\r\n")
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	switch {
	case begin[0] == 0: // frames of AWS, which have lengths and checksums
		return ""
	case begin[0] == '{':
		if !strings.Contains(mediaType, "json") || mediaType == "application/json" {
			return "of its JSON values some read the first only, as its content type is that of one"
		}
		return ""
	}
	for rest := a.Body; ; {
		_, after, found := bytes.Cut(rest, []byte("\r"))
		if !found {
			return ""
		}
		if rest = after; len(rest) == 0 || rest[0] != '\n' {
			return "a carriage return stands alone, which ends a line for some"
		}
	}
}

// spoken are the members that say what a model said, in the APIs that have a codec.
var spoken = []string{
	"arguments", "args", "candidates", "choices", "content", "delta", "error", "finish_reason", "finishReason", "function",
	"function_call", "functionCall", "input", "message", "name", "output", "parts", "refusal", "response", "stop_reason",
	"stopReason", "text", "thinking", "tool_calls", "tool_use", "toolUse", "type",
}

// free are the members that hold what a caller's tools have named.
var free = []string{"args", "arguments", "input", "json", "parameters"}

// misspelled finds a member that Go's encoding/json takes for one that a model speaks by, since it does not
// tell capitals from small letters, and that is another one for all others.
func misspelled(text []byte, free []string) string {
	suspect := false
	for at := 0; !suspect; {
		colon := bytes.IndexByte(text[at:], ':')
		if colon < 0 {
			return ""
		}
		at += colon + 1
		suspect = hasOddName(bytes.TrimRight(text[:at-1], " \t\r\n"))
	}
	doc, err := jsontext.ParseLenient(text)
	if err != nil {
		return "" // is no JSON, or another's finding
	}
	if name := oddName(doc.Root(), free); name != "" {
		return fmt.Sprintf("has a member %q, which some take for %q", name, strings.ToLower(name))
	}
	return ""
}

// hasOddName reports whether a text ends in a name that is one of spoken except for its spelling. Most names
// are small letters, and are told by that.
func hasOddName(text []byte) bool {
	end := len(text) - 1
	if end < 1 || text[end] != '"' || text[end-1] == '\\' {
		return false // the colon is in a string
	}
	name := text[bytes.LastIndexByte(text[:end], '"')+1 : end]
	for _, c := range name {
		if 'A' <= c && c <= 'Z' || c >= 0x80 || c == '\\' {
			return c == '\\' || isOdd(string(name))
		}
	}
	return false
}

func isOdd(name string) bool {
	fold := func(s string) bool { return strings.EqualFold(s, name) }
	return slices.ContainsFunc(spoken, fold) && !slices.Contains(spoken, name)
}

func oddName(v jsontext.Value, free []string) string {
	for name, m := range v.Members() {
		if isOdd(name) {
			return name
		}
		if slices.Contains(free, name) {
			continue
		}
		if odd := oddName(m, free); odd != "" {
			return odd
		}
	}
	for _, e := range v.Elements() {
		if odd := oddName(e, free); odd != "" {
			return odd
		}
	}
	return ""
}

// saidTwice are the texts of a stream of responses, by their places. The API says each in pieces, then
// whole, then in its item, then in the response: a record has the last, and a program may read any.
type saidTwice struct {
	texts map[string][]byte
	name  string // of the event before
	grew  string // the place of the text that it said a piece of; empty: none
}

// more takes the next piece of the text that the event before said one of, and reports whether it was one.
func (s *saidTwice) more(name string, piece []byte) bool {
	if s.grew == "" || s.name != name || bytes.IndexByte(piece, '\\') >= 0 {
		return false
	}
	s.texts[s.grew] = append(s.texts[s.grew], piece...)
	return true
}

// grown names the texts whose pieces come as events of a type.
var grown = map[string]string{
	"output_text": "content", "refusal": "content", "reasoning_text": "content",
	"reasoning_summary_text": "summary", "function_call_arguments": "arguments", "mcp_call_arguments": "arguments",
	"custom_tool_call_input": "input", "code_interpreter_call_code": "code",
}

func (s *saidTwice) event(name string, data []byte) (why string) {
	s.name, s.grew = name, ""
	doc, err := jsontext.Parse(data)
	if err != nil {
		return ""
	}
	v := doc.Root()
	kind := v.Member("type").Word()
	if name != "" && kind != "" && name != kind {
		return "has another name than type"
	}
	item := string(v.Member("output_index").Raw())
	kind = strings.TrimPrefix(kind, "response.")
	what, which, _ := strings.Cut(kind, ".")
	inner := string(v.Member("content_index").Raw()) + string(v.Member("summary_index").Raw())
	switch {
	case grown[what] != "" && which == "delta":
		s.grew = grown[what] + " " + item + " " + inner
		s.texts[s.grew] = append(s.texts[s.grew], v.Member("delta").Word()...)
	case grown[what] != "" && which == "done":
		return s.whole(grown[what]+" "+item+" "+inner, v)
	case kind == "content_part.done":
		return s.whole("content "+item+" "+inner, v.Member("part"))
	case kind == "reasoning_summary_part.done":
		return s.whole("summary "+item+" "+inner, v.Member("part"))
	case kind == "output_item.done":
		return s.item(item, v.Member("item"))
	case kind == "completed", kind == "incomplete", kind == "failed":
		for i, m := range v.Member("response", "output").Elements() {
			if why := s.item(fmt.Sprint(i), m); why != "" {
				return why
			}
		}
	}
	return ""
}

// item holds what an item says against what was said before of it.
func (s *saidTwice) item(index string, v jsontext.Value) (why string) {
	for _, list := range []string{"content", "summary"} {
		for i, part := range v.Member(list).Elements() {
			if why := s.whole(fmt.Sprint(list, " ", index, " ", i), part); why != "" {
				return why
			}
		}
	}
	for _, name := range []string{"arguments", "input", "code"} {
		if why := s.whole(name+" "+index+" ", v); why != "" {
			return why
		}
	}
	return ""
}

// whole holds a whole text against what was said before of it.
func (s *saidTwice) whole(place string, v jsontext.Value) (why string) {
	kind, _, _ := strings.Cut(place, " ")
	names := []string{kind}
	if kind == "content" || kind == "summary" {
		names = []string{"text", "refusal"}
	}
	for _, name := range names {
		text := v.Member(name).Word()
		if before, said := s.texts[place]; said && text != "" && string(before) != text {
			return fmt.Sprintf("says a text of item %s in another way than the events before", strings.Fields(place)[1])
		} else if text != "" {
			s.texts[place] = []byte(text)
		}
	}
	return ""
}

// unlikeChunks reports whether the chunks of a model say another text than its response, where both say
// one. GK forbids it, and what a model did can be recorded all the same.
func unlikeChunks(body []byte) bool {
	chunked := ""
	response, err := readLines(bytes.NewReader(body), func(chunk *modelio.GenerateResponseChunk) error {
		if chunk != nil && chunk.Index == 0 {
			if chunk.Aggregated != nil && *chunk.Aggregated {
				chunked = ""
			}
			chunked += spokenText(chunk.Content)
		}
		return nil
	})
	if err != nil || response.Message == nil {
		return false
	}
	text := spokenText(response.Message.Content)
	return chunked != "" && text != "" && chunked != text
}

func spokenText(parts []modelio.Part) (text string) {
	for _, part := range parts {
		if part.Text != nil {
			text += *part.Text
		}
	}
	return text
}

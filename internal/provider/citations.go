package provider

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A citationFold collects the citations of an answer while its text is scanned.
type citationFold struct {
	all   []modelio.Citation
	begin int64 // number of characters before the current text
}

// in adds a citation of the characters from start to end of a text that has size characters. A range outside of the
// text is left out.
func (c *citationFold) in(size int64, start, end jsontext.Value, citation modelio.Citation) {
	from, okFrom := start.Count()
	to, okTo := end.Count()
	if okFrom && okTo && 0 <= *from && *from < *to && *to <= size {
		citation.Start, citation.End = c.at(*from), c.at(*to)
	}
	c.add(citation)
}

// whole adds a citation for a complete text of size characters.
func (c *citationFold) whole(size int64, citation modelio.Citation) {
	if size > 0 {
		citation.Start, citation.End = c.at(0), c.at(size)
	}
	c.add(citation)
}

func (c *citationFold) at(n int64) *int64 {
	n += c.begin
	return &n
}

// add adds a citation unless it is empty.
func (c *citationFold) add(citation modelio.Citation) {
	if citation.URL+citation.Title+citation.Quote+citation.Source != "" {
		c.all = append(c.all, citation)
	}
}

// cites returns the citation in an object, by the names of the members with the URL, the title, the quote and the
// source. If a field has several members, the first non-empty one counts.
func cites(v jsontext.Value, url, title, quote, source string) modelio.Citation {
	word := func(names string) string { return firstWord(v, strings.Fields(names)...) }
	return modelio.Citation{URL: word(url), Title: word(title), Quote: word(quote), Source: word(source)}
}

func characters(text string) int64 { return int64(utf8.RuneCountInString(text)) }

// annotations adds annotations that cite, in OpenAI's APIs: directly in responses, and in an object of their own in
// chat completions. Clients read either, whatever the type is and whatever else there is, so each non-empty one counts.
func (c *citationFold) annotations(text string, all jsontext.Value) {
	if all.IsEmpty() {
		return
	}
	size := characters(text)
	cite := func(v jsontext.Value, source string) {
		c.in(size, v.Member("start_index"), v.Member("end_index"), cites(v, "url", "title filename", "content", source))
	}
	for _, a := range all.Elements() {
		source := "file_id"
		if a.Member("type").Word() == "file_path" { // generated, and not based on anything
			source = ""
		}
		cite(a, source)
		for name, inner := range a.Members() {
			if strings.HasSuffix(name, "citation") {
				cite(inner, "file_id")
			}
		}
	}
}

// chatCitations returns the citations of a chat completion's message. If it has none, those in listed count, which
// hosts with search put next to all messages.
func chatCitations(message jsontext.Value, text string, listed jsontext.Value) []modelio.Citation {
	var c citationFold
	c.annotations(text, message.Member("annotations"))
	c.sources(message.Member("context", "citations")) // Azure, with the user's own data
	if c.all == nil {
		c.sources(listed.Member("search_results"))
	}
	if c.all == nil {
		c.sources(listed.Member("citations"))
	}
	return c.all
}

// sources adds a list of sources without positions: URLs or objects.
func (c *citationFold) sources(all jsontext.Value) {
	for _, s := range all.Elements() {
		citation := cites(s, "url uri", "title", "snippet content", "filepath id")
		citation.URL = cmp.Or(s.Word(), citation.URL)
		c.add(citation)
	}
}

// responsesCitations returns the citations in the messages of a response's output.
func responsesCitations(output jsontext.Value) []modelio.Citation {
	var c citationFold
	for _, item := range output.Elements() {
		for _, block := range item.Member("content").Elements() {
			if item.Member("type").Word() != "message" {
				continue
			}
			text := firstWord(block, "text", "refusal")
			c.annotations(text, block.Member("annotations"))
			c.begin += characters(text)
		}
	}
	return c.all
}

// claudeCitations returns the citations in content, each for a complete text.
func claudeCitations(content jsontext.Value) []modelio.Citation {
	var c citationFold
	for _, block := range content.Elements() {
		if block.Member("type").Word() != "text" {
			continue
		}
		size := characters(block.Member("text").Word())
		for _, v := range block.Member("citations").Elements() {
			citation := cites(v, "url", "title document_title", "cited_text", "file_id source")
			citation.Source = cmp.Or(citation.Source, scalarText(v.Member("document_index")))
			c.whole(size, citation)
		}
		c.begin += size
	}
	return c.all
}

// generateCitations returns what a candidate is based on: search results, and what it recites.
func generateCitations(candidate jsontext.Value, text string) []modelio.Citation {
	var c citationFold
	places := newRuler(text)
	var sources [][]modelio.Citation // sources of each chunk, which has one; clients may read any other
	for _, chunk := range candidate.Member("groundingMetadata", "groundingChunks").Elements() {
		var found []modelio.Citation
		for _, v := range chunk.Members() {
			found = append(found, cites(v, "uri sourceUri", "title", "text", "documentName placeId"))
		}
		sources = append(sources, found)
	}
	supported := make([]bool, len(sources))
	for _, support := range candidate.Member("groundingMetadata", "groundingSupports").Elements() {
		segment := support.Member("segment")
		start, end := places.inBytes(segment.Member("startIndex"), segment.Member("endIndex"), segment.Member("text"))
		for _, index := range support.Member("groundingChunkIndices").Elements() {
			if n, ok := index.Count(); ok && *n >= 0 && *n < int64(len(sources)) {
				supported[*n] = true
				for _, citation := range sources[*n] {
					citation.Start, citation.End = start, end
					c.add(citation)
				}
			}
		}
	}
	for n, found := range sources {
		for _, citation := range found {
			if !supported[n] {
				c.add(citation)
			}
		}
	}
	recited := candidate.Member("citationMetadata")
	for _, v := range append(recited.Member("citationSources").Values(), recited.Member("citations").Values()...) {
		citation := cites(v, "uri", "title", "", "")
		citation.Start, citation.End = places.inBytes(v.Member("startIndex"), v.Member("endIndex"), jsontext.Value{})
		c.add(citation)
	}
	return c.all
}

// A ruler converts places in a text, however many there are, without counting the whole text each time.
type ruler struct {
	text  string
	marks []int64 // number of characters before each step
}

const rulerStep = 1 << 12 // bytes

func newRuler(text string) *ruler {
	r := &ruler{text: text, marks: []int64{0}}
	for at := 0; at+rulerStep <= len(text); at += rulerStep {
		r.marks = append(r.marks, r.marks[len(r.marks)-1]+begun(text[at:at+rulerStep]))
	}
	return r
}

// before returns the number of characters before a byte.
func (r *ruler) before(at int64) int64 {
	return r.marks[at/rulerStep] + begun(r.text[at/rulerStep*rulerStep:at])
}

// begun returns the number of characters that begin in a part of a text.
func begun(part string) (n int64) {
	for i := range len(part) {
		if utf8.RuneStart(part[i]) {
			n++
		}
	}
	return n
}

// inBytes converts a range of bytes to characters. It returns nil if the range is outside of the text or does not
// contain the expected words. A missing start is 0.
func (r *ruler) inBytes(start, end, words jsontext.Value) (from, to *int64) {
	first, last := integer(start), integer(end)
	isWithin := func(at int64) bool { return at < int64(len(r.text)) && !utf8.RuneStart(r.text[at]) }
	if first < 0 || first >= last || last > int64(len(r.text)) || isWithin(first) || isWithin(last) ||
		words.IsWord() && r.text[first:last] != words.Word() {
		return nil, nil
	}
	begin, finish := r.before(first), r.before(last)
	return &begin, &finish
}

// cohereCitations returns the citations in a message of Cohere.
func cohereCitations(message jsontext.Value) []modelio.Citation {
	ends := []int64{0} // of the texts of its blocks
	for _, block := range message.Member("content").Elements() {
		ends = append(ends, ends[len(ends)-1]+characters(block.Member("text").Word()))
	}
	var c citationFold
	for _, v := range message.Member("citations").Elements() {
		size, at := int64(0), integer(v.Member("content_index"))
		if v.Member("type").Word() != "PLAN" && at >= 0 && at < int64(len(ends)-1) {
			size, c.begin = ends[at+1]-ends[at], ends[at]
		}
		for _, source := range v.Member("sources").Elements() {
			citation := cites(source.Member("document"), "url", "title", "snippet text content", "")
			citation.Source = source.Member("id").Word()
			c.in(size, v.Member("start"), v.Member("end"), citation)
		}
	}
	return c.all
}

// converseCitations returns the citations in content, each for a complete block.
func converseCitations(content jsontext.Value) []modelio.Citation {
	var c citationFold
	for _, block := range content.Elements() {
		inner := block.Member("citationsContent")
		size := characters(block.Member("text").Word() + joined(inner.Member("content")))
		for _, v := range inner.Member("citations").Elements() {
			citation := modelio.Citation{Title: v.Member("title").Word(), URL: v.Member("location", "web", "url").Word(),
				Source: v.Member("source").Word(), Quote: joined(v.Member("sourceContent"))}
			for _, place := range []string{"documentChar", "documentPage", "documentChunk"} {
				if index, ok := v.Member("location", place, "documentIndex").Count(); ok {
					citation.Source = cmp.Or(citation.Source, strconv.FormatInt(*index, 10))
				}
			}
			c.whole(size, citation)
		}
		c.begin += size
	}
	return c.all
}

// joined returns the texts in a list of objects, joined.
func joined(list jsontext.Value) string {
	var text strings.Builder
	for _, e := range list.Elements() {
		text.WriteString(e.Member("text").Word())
	}
	return text.String()
}

// agentCitations returns the citations of a text from an agent, or generated from search results.
func agentCitations(all jsontext.Value, text string) []modelio.Citation {
	var c citationFold
	whole := []rune(text)
	for _, v := range all.Elements() {
		said := v.Member("generatedResponsePart", "textResponsePart")
		start, end := spanOf(whole, said)
		for _, reference := range v.Member("retrievedReferences").Elements() {
			citation := modelio.Citation{Quote: reference.Member("content", "text").Word(), Start: start, End: end}
			for _, place := range reference.Member("location").Members() {
				if found := firstWord(place, "url", "uri", "id"); strings.Contains(found, "://") {
					citation.URL = found
				} else if found != "" {
					citation.Source = found
				}
			}
			c.add(citation)
		}
	}
	return c.all
}

// spanOf returns the range of a part's words in a text, if they are where its span says. For some models the end is
// included, for others not.
func spanOf(text []rune, said jsontext.Value) (from, to *int64) {
	start, okStart := said.Member("span", "start").Count()
	end, okEnd := said.Member("span", "end").Count()
	words := said.Member("text").Word()
	if !okStart || !okEnd || words == "" || *start < 0 || *start > *end {
		return nil, nil
	}
	size := characters(words)
	for _, last := range []int64{*end, *end + 1} {
		if last <= int64(len(text)) && last-*start == size && string(text[*start:last]) == words {
			return start, &last
		}
	}
	return nil, nil
}

// cohereV1Citations returns the citations of a text, which refer to documents next to it.
func cohereV1Citations(body jsontext.Value, text string) []modelio.Citation {
	documents := map[string]jsontext.Value{}
	for _, d := range body.Member("documents").Elements() {
		documents[d.Member("id").Word()] = d
	}
	var c citationFold
	size := characters(text)
	for _, v := range body.Member("citations").Elements() {
		for _, id := range v.Member("document_ids").Elements() {
			citation := cites(documents[id.Word()], "url", "title", "snippet text", "")
			citation.Source = id.Word()
			c.in(size, v.Member("start"), v.Member("end"), citation)
		}
	}
	return c.all
}

// interactions adds the citations in content, whose positions are bytes of its text.
func (c *citationFold) interactions(content jsontext.Value) {
	text := content.Member("text").Word()
	places := newRuler(text)
	for _, a := range content.Member("annotations").Elements() {
		citation := cites(a, "url document_uri", "title file_name name", "source", "media_id place_id")
		start, end := places.inBytes(a.Member("start_index"), a.Member("end_index"), jsontext.Value{})
		if start != nil {
			citation.Start, citation.End = c.at(*start), c.at(*end)
		}
		c.add(citation)
	}
	c.begin += characters(text)
}

package snapshot

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The schema of the format: SF "Field Definitions" and the members that docs/format.md adds. Each
// function goes through the members of one object in the order in which files have them: documents
// and records in that of SF, all others in canonical order (design R2).

// document is the document at hand.
func (c *coder) document() {
	d, at := c.doc, c.at
	c.object(nil, func() {
		c.text("version", required, &d.Version, version)
		list(c, "snapshots", required, &d.Snapshots, c.record)
		if c.sealing {
			d.Hash = CombinedHash(d.Version, d.seals())
		}
		c.hash("hash", required, &d.Hash)
		if c.reading() {
			c.checkDocument(at)
		}
	})
}

// record is a record of the document at hand.
func (c *coder) record(s *Snapshot) {
	c.index = c.steps[len(c.steps)-1].index
	at, start := c.at, len(c.dst)
	c.object(nil, func() {
		c.text("id", required, &s.ID, notEmpty)
		c.time("timestamp", &s.Timestamp)
		if c.member("source", required, false) == here {
			c.source(&s.Source)
			c.leave()
		}
		if c.member("request", required, false) == here {
			c.request(s)
			c.leave()
		}
		if c.member("response", required, false) == here {
			c.response(&s.Response)
			c.leave()
		}
		if c.sealing {
			s.Hash = sumOf(c.dst[start:], "}")
		}
		c.hash("hash", required, &s.Hash)
		if c.reading() {
			c.checkRecord(at, s)
		}
	})
}

func (c *coder) source(s *Source) {
	first := c.index == 0 || c.form == literal
	c.object(nil, func() {
		c.text("file", required, &s.File, sourcePath)
		c.text("function", required, &s.Function, notEmpty)
		list(c, "ignored", optional, &s.Ignored, c.ignored)
		line := int64(s.Line)
		c.integer("line", required, &line, 1)
		s.Line = int(line)
		c.text("nondeterministic", optional, &s.Nondeterministic, nil)
		pkg, test := s.Package, s.Test
		if !c.reading() && !first {
			if whole := &c.doc.Snapshots[0].Source; pkg != whole.Package || test != whole.Test {
				c.report(RuleValue, "must be of the package and the test of the document's first record")
			}
			pkg, test = "", ""
		}
		c.text("package", optional, &pkg, c.inFirst(first))
		c.text("test", optional, &test, c.inFirst(first))
		if c.reading() {
			s.Package, s.Test = pkg, test
		}
	})
}

// inFirst is the check of a member that stands in the first record only.
func (c *coder) inFirst(first bool) check {
	if first || !c.reading() {
		return nil
	}
	return func(string) string { return "in the document's first record only" }
}

func (c *coder) ignored(pointer *string) {
	if !c.reading() {
		c.writeText(*pointer)
		return
	}
	if c.readText(pointer, false) {
		if tokens, err := jsontext.ParsePointer(*pointer); err != nil || len(tokens) == 0 {
			c.report(RuleValue, "must be an RFC 6901 pointer below the request")
		}
	}
}

// requestMembers are the members of the request at hand, of whose messages those given stand in the
// form at hand.
func (c *coder) requestMembers(s *Snapshot, messages *[]modelio.Message) {
	r := &s.Request
	c.text("api", optional, &r.API, nil)
	if c.form == inMemory || c.form == inFile {
		c.continues(&s.Continues)
	}
	c.number("frequency_penalty", optional, &r.FrequencyPenalty)
	c.number("max_tokens", nullable, &r.MaxTokens)
	if c.reading() {
		list(c, "messages", valued, messages, c.message)
	} else if r.Prompt == nil {
		list(c, "messages", required, messages, c.message)
	}
	c.text("model", required, &r.Model, nil)
	c.number("presence_penalty", optional, &r.PresencePenalty)
	c.optionalPieces("prompt", &r.Prompt)
	if c.form != inCore {
		c.text("provider", optional, &s.Provider, provider)
	}
	c.free("provider_options", &r.Options)
	c.number("seed", optional, &r.Seed)
	list(c, "stop", optional, &r.Stop, c.word)
	c.number("temperature", nullable, &r.Temperature)
	list(c, "tools", optional, &r.Tools, c.tool)
	c.number("top_p", optional, &r.TopP)
}

func (c *coder) message(m *modelio.Message) {
	if !c.reading() && len(m.Unknown) > 0 {
		c.report(RuleUnknown, "a message has content, metadata and role", slices.Sorted(maps.Keys(m.Unknown))[0])
	}
	c.object(nil, func() {
		if c.member("content", required, false) == here {
			c.content(&m.Content)
			c.leave()
		}
		c.free("metadata", &m.Metadata)
		c.text("role", required, (*string)(&m.Role), role)
	})
}

// content is the content of a message: a text, or a list of GK parts (design R15).
func (c *coder) content(parts *[]modelio.Part) {
	if !c.reading() {
		if all := *parts; len(all) == 1 && all[0].Text != nil && isPlain(all, 0) {
			c.writePieces(*all[0].Text)
			return
		}
		elements(c, parts, c.part)
		return
	}
	isText := c.at.IsString()
	for _, e := range c.at.Elements() {
		isText = e.IsString()
		break
	}
	switch {
	case isText:
		text := new(string)
		if c.readText(text, true) {
			*parts = []modelio.Part{{Text: text}}
		}
	case c.at.IsArray():
		elements(c, parts, c.part)
	default:
		c.mismatch("a string, an array of its pieces, or an array of parts")
	}
}

func (c *coder) part(p *modelio.Part) {
	c.object(&p.Unknown, func() {
		if c.member("custom", optional, p.Custom == nil) == here {
			c.freeObject(&p.Custom)
			c.leave()
		}
		inner(c, "media", &p.Media, c.media)
		c.free("metadata", &p.Metadata)
		c.optionalPieces("reasoning", &p.Reasoning)
		c.optionalPieces("text", &p.Text)
		inner(c, "toolRequest", &p.ToolRequest, c.toolRequest)
		inner(c, "toolResponse", &p.ToolResponse, c.toolResponse)
	})
	if kinds(p) > 1 {
		c.report(RuleValue, "must be a part of one kind")
	}
}

// kinds returns how many kinds of part p is at once. Custom may stand beside another, as in
// Genkit's own schema.
func kinds(p *modelio.Part) (n int) {
	for _, set := range [...]bool{p.Text != nil, p.Media != nil, p.ToolRequest != nil, p.ToolResponse != nil, p.Reasoning != nil} {
		if set {
			n++
		}
	}
	return n
}

func (c *coder) media(m *modelio.Media) {
	c.object(&m.Unknown, func() {
		c.text("contentType", optional, &m.ContentType, nil)
		c.text("url", optional, &m.URL, nil)
	})
}

func (c *coder) toolRequest(t *modelio.ToolRequest) {
	c.object(&t.Unknown, func() {
		c.raw("input", &t.Input)
		c.text("name", optional, &t.Name, nil)
		if c.member("partial", optional, !t.Partial) == here {
			if !c.reading() {
				c.write("true")
			} else if t.Partial = string(c.at.Raw()) == "true"; !t.Partial {
				c.emptied()
			}
			c.leave()
		}
		c.text("ref", optional, &t.Ref, nil)
	})
}

func (c *coder) toolResponse(t *modelio.ToolResponse) {
	c.object(&t.Unknown, func() {
		list(c, "content", optional, &t.Content, c.part)
		c.text("name", optional, &t.Name, nil)
		c.raw("output", &t.Output)
		c.text("ref", optional, &t.Ref, nil)
	})
}

func (c *coder) tool(t *modelio.ToolDefinition) {
	c.object(&t.Unknown, func() {
		c.pieces("description", optional, &t.Description)
		c.raw("inputSchema", &t.InputSchema)
		c.free("metadata", &t.Metadata)
		c.text("name", optional, &t.Name, nil)
		c.raw("outputSchema", &t.OutputSchema)
	})
}

// inner is a member that is an object; nil where there is none.
func inner[T any](c *coder, name string, p **T, fields func(*T)) {
	if c.member(name, optional, *p == nil) != here {
		return
	}
	if c.reading() {
		*p = new(T)
	}
	fields(*p)
	c.leave()
}

func (c *coder) word(s *string) {
	if c.reading() {
		c.readText(s, false)
	} else {
		c.writeText(*s)
	}
}

func (c *coder) milliseconds(ms *int64) {
	if c.reading() {
		c.readInteger(ms, 0)
	} else {
		c.writeInteger(*ms)
	}
}

// hash is a member that is a hash; empty where there is none.
func (c *coder) hash(name string, n need, h *canon.Hash) {
	c.text(name, n, (*string)(h), func(s string) string {
		if !canon.Hash(s).Valid() {
			return "sha256: and 64 lower-case hexadecimal digits"
		}
		return ""
	})
}

// time is a member with one spelling: RFC 3339 in UTC, with three digits of milliseconds or, where
// they are zero, none.
func (c *coder) time(name string, t *time.Time) {
	if c.member(name, required, false) != here {
		return
	}
	defer c.leave()
	if !c.reading() {
		c.writeText(formatTime(*t))
		return
	}
	var s string
	if !c.readText(&s, false) {
		return
	}
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || parsed.IsZero() || formatTime(parsed) != s {
		c.reportf(RuleValue, "must be a time in UTC such as 2026-01-09T10:30:00Z or 2026-01-09T10:30:00.250Z, is %q", excerpt(s))
		return
	}
	*t = parsed
}

func formatTime(t time.Time) string {
	layout := "2006-01-02T15:04:05.000Z"
	if t = t.UTC(); t.Nanosecond() < int(time.Millisecond) {
		layout = "2006-01-02T15:04:05Z"
	}
	return t.Format(layout)
}

func version(s string) string {
	if s != Version {
		return Version
	}
	return ""
}

func notEmpty(s string) string {
	if s == "" {
		return "a string that is not empty"
	}
	return ""
}

func provider(s string) string {
	if !IsName(s) {
		return "at most 64 of the characters a to z, 0 to 9 and -, not start with -, and not be a device name of Windows"
	}
	return ""
}

// sourcePath is a path as design R13 wants it, so that it is the same on every machine.
func sourcePath(s string) string {
	if !fs.ValidPath(s) || s == "." || strings.ContainsRune(s, '\\') {
		return "a relative path with forward slashes, without . and .."
	}
	return ""
}

func role(s string) string {
	switch modelio.Role(s) {
	case modelio.RoleSystem, modelio.RoleUser, modelio.RoleModel, modelio.RoleTool:
		return ""
	}
	return "one of system, user, model, tool"
}

func finishReason(s string) string {
	switch modelio.FinishReason(s) {
	case modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked, modelio.FinishOther:
		return ""
	}
	return "one of stop, length, blocked, other"
}

func incomplete(s string) string {
	if s != "aborted" && s != "error" {
		return "one of aborted, error"
	}
	return ""
}

package snapshot

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// The schema of the format: SF "Field Definitions" and the members that docs/format.md adds. Each function visits the
// members of one object in file order: documents and records in the order of SF, all others in canonical order (design
// R2).

// document is the current document.
func (c *coder) document() {
	d, at := c.doc, c.at
	c.old = c.form == literal || c.reading() && at.Member("version").Word() == VersionSF
	c.object(nil, func() {
		c.text("version", required, &d.Version, isVersion)
		list(c, "snapshots", required, &d.Snapshots, c.record)
		if c.sealing {
			d.Hash = d.combinedHash()
		}
		c.hash("hash", required, &d.Hash)
		if c.reading() {
			c.checkDocument(at)
		}
	})
}

// record is a record of the current document.
func (c *coder) record(s *Snapshot) {
	c.index = c.steps[len(c.steps)-1].index
	at, start := c.at, len(c.dst)
	c.object(nil, func() {
		c.text("id", required, &s.ID, notEmpty)
		field(c, "timestamp", required, &s.Timestamp, never, c.time)
		field(c, "source", required, &s.Source, never, c.source)
		field(c, "request", required, s, never, c.request)
		field(c, "response", required, &s.Response, never, c.response)
		if c.sealing {
			s.Hash = canon.Sum(append(c.dst[start:], '}'))
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
		c.sfOrder(sfSource)
		from := &s.Provenance
		c.hash("config_hash", optional, &from.ConfigHash)
		c.text("correlation_id", optional, &from.CorrelationID, nil)
		c.text("file", required, &s.File, isPath)
		c.text("function", required, &s.Function, notEmpty)
		if !c.old {
			list(c, "ids", optional, &s.IDs, func(id *string) { c.word(id) })
		}
		list(c, "ignored", optional, &s.Ignored, c.ignored)
		c.text("lane", optional, &s.Lane, isLane)
		integer(c, "line", required, &s.Line, 1)
		c.text("nondeterministic", optional, &s.Nondeterministic, nil)
		var must *check
		if !first {
			must = notHere
		}
		if !c.old {
			field(c, "now", optional, &s.Now, time.Time.IsZero, c.time)
			if !first && !s.Now.IsZero() {
				c.report(RuleValue, "must be "+notHere.must, "now")
			}
			c.text("origin", optional, &s.Origin, nil)
		}
		pkg, test := &s.Package, &s.Test
		if !c.reading() && !first {
			if whole := &c.doc.Snapshots[0].Source; *pkg != whole.Package || *test != whole.Test {
				c.report(RuleValue, "must be of the package and the test of the document's first record")
			}
			pkg, test = new(string), new(string)
		}
		c.text("package", optional, pkg, must)
		c.text("provider_id", optional, &from.ProviderID, nil)
		c.text("run_id", optional, &from.RunID, nil)
		if !c.old {
			c.hash("scripted", optional, &s.Scripted)
		}
		c.text("step_id", optional, &from.StepID, nil)
		c.text("test", optional, test, must)
		if !c.old {
			list(c, "unknown", optional, &s.Unknown, c.headerName)
		}
	})
}

// headerName is the current name of a header.
func (c *cursor) headerName(name *string) {
	if c.word(name); c.reading() && c.at.IsString() && !isHeaderName.holds(*name) {
		c.report(RuleValue, "must be "+isHeaderName.must)
	}
}

func (c *cursor) ignored(pointer *string) {
	c.word(pointer)
	if tokens, err := jsontext.ParsePointer(*pointer); c.reading() && c.at.IsString() && (err != nil || len(tokens) == 0) {
		c.report(RuleValue, "must be an RFC 6901 pointer below the request")
	}
}

// requestMembers are the members of the current request; messages are those that the current form contains. In files
// the messages come last, directly above the answer.
func (c *coder) requestMembers(s *Snapshot, messages *[]modelio.Message) {
	r := &s.Request
	c.sfOrder(sfRequest)
	c.text("api", optional, &r.API, nil)
	if c.form == inMemory || c.form == inFile {
		c.continues(&s.Continues)
	}
	pointer(c, "frequency_penalty", optional, &r.FrequencyPenalty, c.number)
	pointer(c, "max_tokens", nullable, &r.MaxTokens, c.number)
	if c.form == inCore {
		c.messages(r, messages)
	}
	c.text("model", required, &r.Model, nil)
	pointer(c, "presence_penalty", optional, &r.PresencePenalty, c.number)
	if c.form == inCore {
		pointer(c, "prompt", optional, &r.Prompt, c.longText)
	} else {
		c.text("provider", optional, &s.Provider, isProvider)
	}
	c.free("provider_options", &r.Options)
	pointer(c, "seed", optional, &r.Seed, c.number)
	list(c, "stop", optional, &r.Stop, c.word)
	pointer(c, "temperature", nullable, &r.Temperature, c.number)
	list(c, "tools", optional, &r.Tools, c.tool)
	pointer(c, "top_p", optional, &r.TopP, c.number)
	if c.form == inCore {
		return
	}
	pointer(c, "prompt", optional, &r.Prompt, c.longText)
	c.messages(r, messages)
}

func (c *coder) messages(r *modelio.Request, messages *[]modelio.Message) {
	if c.reading() {
		list(c, "messages", valued, messages, c.message)
	} else if r.Prompt == nil {
		list(c, "messages", required, messages, c.message)
	}
}

func (c *coder) message(m *modelio.Message) {
	if !c.reading() && len(m.Unknown) > 0 {
		c.report(RuleUnknown, "a message has content, metadata and role", inorder.Names(m.Unknown)[0])
	}
	c.object(nil, func() {
		c.sfOrder(sfMessage)
		if c.form == inCore {
			field(c, "content", required, &m.Content, never, c.content)
		}
		c.free("metadata", &m.Metadata)
		c.text("role", required, (*string)(&m.Role), isRole)
		if c.form != inCore {
			field(c, "content", required, &m.Content, never, c.content)
		}
	})
}

// content is the content of a message: a text, or a list of GK parts (design R15).
func (c *coder) content(parts *[]modelio.Part) {
	if !c.reading() {
		if all := *parts; len(all) == 1 && texts.IsPlain(all, 0) {
			c.writePieces(*all[0].Text)
			return
		}
		elements(c, parts, c.part)
		return
	}
	switch {
	case c.at.IsString(), c.at.Head().IsString():
		one := c.newPlain()
		c.longText(&one.text)
		*parts = one.parts[:]
	case c.at.IsArray():
		elements(c, parts, c.part)
	default:
		c.mismatch("a string, an array of its pieces, or an array of parts")
	}
}

// A plain is content that consists of one text.
type plain struct {
	parts [1]modelio.Part
	text  string
}

// newPlain returns a plain. Several share one allocation, because most messages of a document are plain.
func (c *coder) newPlain() *plain {
	const least, most = 4, 64
	if len(c.plains) == cap(c.plains) {
		c.plains = make([]plain, 0, min(most, max(least, 2*cap(c.plains))))
	}
	c.plains = append(c.plains, plain{})
	one := &c.plains[len(c.plains)-1]
	one.parts[0].Text = &one.text
	return one
}

func (c *coder) part(p *modelio.Part) {
	c.object(&p.Unknown, func() {
		field(c, "custom", optional, &p.Custom, func(o modelio.Object) bool { return o == nil }, c.freeObject)
		pointer(c, "media", optional, &p.Media, c.media)
		c.free("metadata", &p.Metadata)
		pointer(c, "reasoning", optional, &p.Reasoning, c.longText)
		pointer(c, "text", optional, &p.Text, c.longText)
		pointer(c, "toolRequest", optional, &p.ToolRequest, c.toolRequest)
		pointer(c, "toolResponse", optional, &p.ToolResponse, c.toolResponse)
	})
	if texts.Kinds(p) > 1 {
		c.report(RuleValue, "must be a part of one kind")
	}
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
		field(c, "partial", optional, &t.Partial, isZero, func(partial *bool) {
			if raw := c.at.Raw(); !c.reading() {
				c.write("true")
			} else if *partial = string(raw) == "true"; !*partial && string(raw) != "false" {
				c.mismatch("true")
			}
		})
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

// hash is a member that is a hash; empty if absent.
func (c *coder) hash(name string, n need, h *canon.Hash) { c.text(name, n, (*string)(h), isHash) }

// time is the current time, in its only permitted spelling: RFC 3339 in UTC, with milliseconds unless they are zero.
func (c *cursor) time(t *time.Time) {
	if !c.reading() {
		c.writeText(jsontext.Time(*t))
		return
	}
	var s string
	if c.word(&s); !c.at.IsString() {
		return
	}
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || parsed.IsZero() || jsontext.Time(parsed) != s {
		c.reportf(RuleValue, "must be a time in UTC such as 2026-01-09T10:30:00Z or 2026-01-09T10:30:00.250Z, is %q",
			jsontext.Excerpt(s))
		return
	}
	*t = parsed
}

// A check is a condition on a string.
type check struct {
	must  string
	holds func(string) bool
}

// LegalHeader reports whether s is a lower-case token (RFC 9110 section 5.6.2). Records name headers in this form, so
// that different names are different headers.
func LegalHeader(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}

// LegalLane reports whether s is a legal name of a lane.
func LegalLane(s string) bool { return laneName.MatchString(s) }

var laneName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

func oneOf(words ...string) *check {
	return &check{"one of " + strings.Join(words, ", "), func(s string) bool { return slices.Contains(words, s) }}
}

var (
	isVersion = &check{Version, func(s string) bool { return s == Version || s == VersionSF }}
	isHash    = &check{"sha256: and 64 lower-case hexadecimal digits", func(s string) bool {
		return canon.Hash(s).Valid()
	}}
	notEmpty   = &check{"a string that is not empty", func(s string) bool { return s != "" }}
	isProvider = &check{
		"at most 64 of the characters a to z, 0 to 9 and -, not start with -, and not be a device name of Windows",
		filename.Legal,
	}
	// isPath: as required by design R13, so that it is the same on every machine. A drive or a scheme comes before
	// ":/".
	isPath = &check{"a relative path with forward slashes, without . and ..", func(s string) bool {
		return fs.ValidPath(s) && s != "." && !strings.ContainsRune(s, '\\') && !strings.Contains(s, ":/")
	}}
	isRole       = oneOf("system", "user", "model", "tool")
	isReason     = oneOf("stop", "length", "blocked", "other")
	isCut        = oneOf("aborted", "ended", "error")
	isHeaderName = &check{"the name of a header in lower case", LegalHeader}
	isLane       = &check{"at most 32 of the letters a to z in any case, the digits, and . _ -, and start with a letter or a digit", LegalLane}
	notHere      = &check{"in the document's first record only", func(string) bool { return false }}
)

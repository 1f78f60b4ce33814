package page

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Document shows all calls of a test as one conversation, with each turn once and each tool call in one line. Other
// members are shown if they differ from the call before; tokens and time are shown at the end. provider is that of the
// document's directory.
func (p *Page) Document(provider string, doc *snapshot.Document) {
	name, _, _ := snapshot.ParseID(doc.Snapshots[0].ID)
	title := name
	if test := TestOf(doc); test.Name != "" {
		title = test.Name + " in " + test.Package
	}
	fmt.Fprintln(p.Out, p.styled(bold, plaintext.Line(title)))
	if title != name {
		p.field("document", name)
	}
	c := conversation{Page: p, provider: provider, doc: doc, numbers: numbered(doc),
		shown: map[*snapshot.Snapshot]map[string]string{}}
	for i := range doc.Snapshots {
		c.call(&doc.Snapshots[i])
	}
	p.took(doc)
}

// A conversation shows a document.
type conversation struct {
	*Page
	provider string
	doc      *snapshot.Document
	numbers  map[int]*snapshot.Snapshot               // of doc, by number
	shown    map[*snapshot.Snapshot]map[string]string // the fields of model calls, by name
	before   *snapshot.Snapshot                       // the last model call; nil if there was none
	stepping bool                                     // the last call is a step
}

// call shows what a call adds to the call before it, or to the one that it continues.
func (c *conversation) call(s *snapshot.Snapshot) {
	if isStep(s) {
		c.step(s)
		return
	}
	c.stepping = false
	number := ""
	if len(c.doc.Snapshots) > 1 {
		number = fmt.Sprintf(", call %d", s.Number())
	}
	changed, parts := c.added(s, number)
	if c.before != nil {
		if from := c.beginning(s); from != "" || len(changed) > 0 {
			c.heading(bold, strings.TrimSuffix(fmt.Sprintf("call %d %s", s.Number(), from), " "))
		}
	}
	c.header(changed)
	for _, show := range parts {
		show()
	}
	c.before = s
}

// added returns what a call adds to the call before it, or to the one that it continues. It returns the fields that
// differ, and functions that show the other parts. The last one shows the answer, whose titles end with number.
func (c *conversation) added(s *snapshot.Snapshot, number string) (fields []headerField, parts []func()) {
	unlike, messages := c.before, s.Request.Messages
	if s.Continues != nil {
		unlike, messages = c.numbers[s.Continues.Call], messages[s.Continues.Messages:]
	}
	parts = append(parts, func() { c.offered(s, unlike) })
	if s.Request.Prompt != nil {
		parts = append(parts, func() {
			c.heading(bold, "prompt")
			c.text(*s.Request.Prompt)
		})
	}
	for i := range messages {
		parts = append(parts, func() { c.message(&messages[i]) })
	}
	parts = append(parts, func() { c.answer(&s.Response, number, true) })
	return c.changed(s, unlike), parts
}

// changed returns the fields that differ from those of another call, which may be nil.
func (c *conversation) changed(s, unlike *snapshot.Snapshot) (changed []headerField) {
	now, was := map[string]string{}, c.shown[unlike]
	for _, f := range c.fields(c.provider, s) {
		if ofOneCall[f.name] || f.value == "" {
			continue
		}
		if now[f.name] = f.value; was[f.name] != f.value {
			changed = append(changed, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, there := now[name]; !there {
			_, option, _ := strings.Cut(name, " ")
			changed = append(changed,
				headerField{name, strings.TrimSpace(fmt.Sprintf("%s not sent, unlike call %d", option, unlike.Number()))})
		}
	}
	c.shown[s] = now
	return changed
}

// ofOneCall are the fields that differ in each call. The end of the page has their totals.
var ofOneCall = map[string]bool{"test": true, "recorded": true, "latency": true, "tokens": true}

// beginning describes the first messages of a call; empty if they are all those of the call before it.
func (c *conversation) beginning(s *snapshot.Snapshot) string {
	from := s.Continues
	if from == nil {
		if len(s.Request.Messages) == 0 {
			return ""
		}
		return "is a conversation of its own"
	}
	base := c.numbers[from.Call]
	switch whole := from.Messages > len(base.Request.Messages); {
	case whole && base == c.before:
		return ""
	case whole:
		return fmt.Sprintf("goes on from the answer of call %d", from.Call)
	case from.Messages == len(s.Request.Messages) && from.Messages == len(base.Request.Messages):
		return fmt.Sprintf("asks again what call %d asked", from.Call)
	case from.Messages == 1:
		return fmt.Sprintf("begins with the first message of call %d", from.Call)
	}
	return fmt.Sprintf("begins with the first %d messages of call %d", from.Messages, from.Call)
}

// isStep reports whether a call is a tool call or a message to a tool server, which is no turn of a conversation.
func isStep(s *snapshot.Snapshot) bool {
	return s.Request.API == modelio.ToolAPI || s.Request.API == "mcp"
}

// step shows a tool call on one line. The complete result is in the message that passes it to the model.
func (c *conversation) step(s *snapshot.Snapshot) {
	if !c.stepping {
		c.heading(bold, "tools")
	}
	c.stepping = true
	asked, answered := plaintext.Line(fmt.Sprintf("call %d: %s", s.Number(), asked(s))), plaintext.Line(stepAnswer(s))
	room := c.Width - len(margin)
	switch fits := utf8.RuneCountInString(asked+" "+answered) <= room; {
	case fits || c.Unwrapped:
	case room < narrow:
		c.line("", margin, Clip(asked, room))
		c.line("", margin+margin, Clip(answered, room-len(margin)))
		return
	default:
		asked = Clip(asked, max(room/2, room-1-utf8.RuneCountInString(answered)))
		answered = Clip(answered, room-1-utf8.RuneCountInString(asked))
	}
	c.line("", margin, strings.TrimRight(asked+" "+answered, " "))
}

// narrow is the width in characters below which a line cannot contain both the request and the answer.
const narrow = 60

// asked describes the request of a step: "search({"query":"shoes"})", "shop: tools/list".
func asked(s *snapshot.Snapshot) string {
	server := ""
	if s.Request.API != modelio.ToolAPI && s.Provider != "" {
		server = s.Provider + ": "
	}
	if s.Request.Tool() != "" {
		return server + texts(s.Request.Messages[0].Content)
	}
	options := s.Request.Options
	method := cmp.Or(strings.Trim(string(options["method"]), `"`), "an answer to the server")
	params := string(jsontext.Compact(options["params"]))
	if params == "{}" {
		params = ""
	}
	return strings.TrimSpace(server + method + " " + params)
}

// stepAnswer describes the answer to a step.
func stepAnswer(s *snapshot.Snapshot) string {
	text := Said(&s.Response)
	if message, failed := strings.CutPrefix(text, "error: "); failed && s.Response.Error != nil {
		text = "failed: " + message
	} else if name := s.Request.Tool(); name != "" {
		text = "returned " + strings.TrimPrefix(text, name+" returned ")
	}
	if s.Response.Incomplete != "" {
		text += " (incomplete)"
	}
	if s.Response.Stale != "" {
		text += " (stale)"
	}
	return text
}

// offered shows the tools that a call offers and the call before did not, and names those that are gone.
func (p *Page) offered(s, before *snapshot.Snapshot) {
	known := map[string]*modelio.ToolDefinition{}
	if before != nil {
		for i := range before.Request.Tools {
			known[before.Request.Tools[i].Name] = &before.Request.Tools[i]
		}
	}
	titled := false
	for i := range s.Request.Tools {
		tool := &s.Request.Tools[i]
		was := known[tool.Name]
		delete(known, tool.Name)
		if was != nil && SameTool(*was, *tool) {
			continue
		}
		if !titled {
			p.heading(bold, "tools offered")
		}
		titled = true
		p.tool(tool)
	}
	if gone := slices.Sorted(maps.Keys(known)); len(gone) > 0 {
		p.heading(bold, fmt.Sprintf("tools not offered, unlike call %d", before.Number()))
		p.text(strings.Join(gone, ", "))
	}
}

// SameTool reports whether two tools have the same description for a model.
func SameTool(a, b modelio.ToolDefinition) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.InputSchema, b.InputSchema)
}

// took shows the totals of all calls.
func (p *Page) took(doc *snapshot.Document) {
	var sum snapshot.Response
	var latency int64
	sum.Usage = &modelio.Usage{}
	counts := countsOf(sum.Usage)
	last := time.Time{}
	for i := range doc.Snapshots {
		s := &doc.Snapshots[i]
		latency += s.Response.LatencyMS
		addCount(&sum.TokensUsed, s.Response.TokensUsed)
		for i, c := range countsOf(cmp.Or(s.Response.Usage, &modelio.Usage{})) {
			addCount(counts[i].n, *c.n)
		}
		if s.Timestamp.After(last) {
			last = s.Timestamp
		}
	}
	fmt.Fprintln(p.Out)
	p.field("calls", fmt.Sprint(len(doc.Snapshots)))
	p.field("tokens", tokens(&sum))
	if !p.Unwrapped { // texts to be compared have no times
		p.field("recorded", last.Format("2006-01-02 15:04:05 MST"))
		p.field("took", fmt.Sprintf("%d ms", latency))
	}
}

// addCount adds a number of tokens; nil if not reported.
func addCount(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}

package page

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

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

package recorder

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/modelio"
)

// A mask knows the secrets of the process, and removes them from output.
type mask struct {
	environment []string // as it was when the recorder was opened
	once        sync.Once
	secrets     *secret.Scanner // nil until a call is recorded or fails
}

// scanner returns the scanner for the secrets of the process: those of its environment when the recorder was opened and
// those of now. A variable that the test sets is gone after its cleanups.
func (m *mask) scanner() *secret.Scanner {
	m.once.Do(func() {
		m.secrets = secret.New()
		m.secrets.Environment(m.environment)
	})
	m.secrets.Environment(os.Environ())
	return m.secrets
}

// learn notes the credentials of a call. Replay needs them only for a failure.
func (m *mask) learn(what fmt.Stringer) {
	scanner := m.scanner()
	if w, ok := what.(*wire); ok {
		scanner.Request(w.Header, w.asked, provider.IsCredential)
	}
}

// Stored returns words as the rules store them, and the scanner for secrets that must not be in them.
func (r *Recorder) Stored(words []string) (kept []string, secrets *secret.Scanner) {
	for _, word := range words {
		kept = append(kept, r.run.storedText(word))
	}
	return kept, r.run.scanner()
}

// storedText returns a text as the rules store it; it may be stored already.
func (s *setup) storedText(text string) string {
	_, values := s.rules.Stored(&modelio.Request{}, nil)
	return values.AnswerText(text)
}

// maskCommand removes secrets from the command of a program, which may contain its key.
func (s *setup) maskCommand(tk *take) {
	if s.Program != nil {
		tk.record.Source.Function = s.Masked(tk.record.Source.Function)
	}
}

// refuseSecrets returns the failure of a recording that would store a secret. It searches the decoded answer and its
// bytes.
func (s *setup) refuseSecrets(takes ...*take) error {
	scanner := s.scanner()
	known := scanner.Known()
	for _, tk := range takes {
		if tk.cleared == known {
			continue
		}
		s.maskCommand(tk)
		inBytes, found := scanner.Find(tk.raw)
		if scanner.Holds(tk.record, tk.raw) || found && scanner.Holds(tk.record, nil) {
			text, _ := tk.record.SF()
			hit, isThere := scanner.Find(text)
			if !isThere { // SF has no readings
				hit, _ = scanner.Find(fmt.Append(nil, tk.record.Response.Readings))
				hit.Pointer = "/response/readings"
			}
			return s.leakFailure(hit, tk.who(), strings.TrimPrefix(hit.Pointer, "/snapshots/0"))
		}
		if found {
			return s.leakFailure(inBytes, tk.who(), strings.TrimSpace("in the bytes of the answer "+inBytes.Pointer))
		}
		for _, medium := range tk.media {
			if hit, found := scanner.Find(medium); found {
				return s.leakFailure(hit, tk.who(), "in its media")
			}
		}
		tk.cleared = known
	}
	return nil
}

func (s *setup) leakFailure(hit secret.Hit, who, place string) *Failure {
	return failuref(fmt.Sprintf("%s call holds %s: nothing was recorded", who, hit.What), "  "+place, s.keepOut(hit))
}

func (s *setup) keepOut(hit secret.Hit) string {
	return "keep it out of prompts and answers, or have it replaced in what is kept: " + s.scrubOf(hit.Variable)
}

// plain returns a failure that is safe to print: without secrets, and without control sequences of terminals and logs.
func (s *setup) plain(f *Failure) *Failure {
	f.Text = s.plainText(f.Text)
	f.brief = plaintext.Line(s.scanner().Mask(f.brief))
	f.output = s.output()
	return f
}

// PlainText returns a text that is safe to print.
func (r *Recorder) PlainText(text string) string { return r.run.plainText(text) }

// plainText returns a text without secrets and control characters.
func (m *mask) plainText(text string) string { return plaintext.Text(m.scanner().Mask(text)) }

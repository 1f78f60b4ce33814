package recorder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// unansweredFailure is the failure of a call that returned an error of Go.
func (r *run) unansweredFailure(tk *take) *Failure {
	var ways []string
	status, _ := answeredWith(tk.err)
	host := unreached(tk.err)
	if names := r.unsetKey(tk.provider); host != "" && names != "" {
		ways = append(ways, names+" not set: live calls need a key")
	}
	ways = append(ways, "record again: "+r.again())
	lacksKey := r.lacksKey(tk.provider)
	switch adopt := r.with(Rekey.String()); {
	case lacksKey && r.mayAdopt(tk):
		ways = append(ways, "without a key: "+adopt)
	case host != "" && r.mayAdopt(tk):
		ways = append(ways, "without a network: "+adopt)
	}
	switch {
	case status > 0 && isDirect(tk.codec.API):
		ways = append(ways,
			"or, to test this very error, record under the SDK instead: give it tf.Client(), or tf.URL as its base URL")
	case status == 0 && host == "" && (!lacksKey || errors.Is(tk.err, context.Canceled)) && !tk.lacksResult():
		// otherwise the record would say that there was no answer
		ways = append(ways, "or keep the error: "+r.allow("TransportErrors"))
	}
	brief := noAnswer(tk.who(), tk.err)
	// an errgroup gives the error of another call as the cause
	if errors.Is(tk.err, context.Canceled) && !tk.codec.Tools && !strings.Contains(brief, context.Canceled.Error()) {
		brief = fmt.Sprintf("%s gave no answer, as its caller cancelled the call: %v", tk.who(), tk.err)
	}
	return r.lossOf(tk, brief, ways...)
}

// noAnswer says in words why a live call failed.
func noAnswer(who string, err error) string {
	if status, message := answeredWith(err); status > 0 {
		return fmt.Sprintf("%s answered with an error (%d): %s", who, status, short(message))
	}
	if host := unreached(err); host != "" {
		return fmt.Sprintf("cannot reach %s (is there a network?): %v", host, err)
	}
	return fmt.Sprintf("%s gave no answer: %v", who, err)
}

// unreached returns the host that could not be connected to, according to an error, or "".
func unreached(err error) string {
	if lookup := asA[*net.DNSError](err); lookup != nil {
		return lookup.Name
	}
	if dial := asA[*net.OpError](err); dial != nil && dial.Op == "dial" && dial.Addr != nil {
		return dial.Addr.String()
	}
	return ""
}

// answeredWith returns the status and message of the answer that an SDK turned into an error, or 0. SDKs have a type of
// their own for such errors, with the status in a field: openai.Error, anthropic.Error, genai.APIError. A framework may
// wrap it in an error of its own.
func answeredWith(err error) (status int, message string) {
	for ; err != nil; err = errors.Unwrap(err) {
		of := reflect.Indirect(reflect.ValueOf(err))
		if of.Kind() != reflect.Struct {
			continue
		}
		field := func(name string) (v reflect.Value) {
			if f, ok := of.Type().FieldByName(name); ok && len(f.Index) == 1 { // an embedded pointer may be nil
				v = of.FieldByIndex(f.Index)
			}
			return v
		}
		for _, name := range []string{"StatusCode", "HTTPStatusCode", "HTTPCode", "Code"} {
			code := field(name)
			if !code.IsValid() || !code.CanInt() || http.StatusText(int(code.Int())) == "" ||
				code.Int() < http.StatusBadRequest {
				continue
			}
			status, message = int(code.Int()), err.Error()
			if said := field("Message"); said.IsValid() && said.Kind() == reflect.String && said.String() != "" {
				message = said.String()
			}
		}
	}
	return status, message
}

// unsetKey says that the environment lacks the key of a provider: "OPENAI_API_KEY is". It is "" if the key is set, or
// may be elsewhere.
func (s *setup) unsetKey(name string) string {
	switch p := provider.Facts(name); {
	case !s.lacksKey(name):
	case len(p.Keys) == 1:
		return p.Keys[0] + " is"
	case p.OneKey:
		return "none of " + strings.Join(p.Keys, ", ") + " is"
	}
	return ""
}

// lacksKey reports whether all variables for the key of a provider, or for what is used in its place, are unset or
// placeholders.
func (s *setup) lacksKey(name string) bool {
	isSet := func(name string) bool {
		value := os.Getenv(name)
		return value != "" && !provider.HasNoKey(value)
	}
	p := provider.Facts(name)
	return len(p.Keys) > 0 && !slices.ContainsFunc(p.Keys, isSet) && !slices.ContainsFunc(p.Tokens, isSet)
}

// withoutKey returns the way out for a call that drifted from a record when no key is needed or set: adopting the
// stored answer. It is "" if the key is set, or nothing may be adopted.
func (r *report) withoutKey(c *call, from *snapshot.Snapshot) string {
	if c.step != nil {
		return "the script answers, so no call is made"
	}
	_, missing := r.run.lacking(c)
	// rules do not apply to an imported record
	adopts := !from.Source.IsBought() || missing == "" && r.run.faults.givenUp() == nil
	if !adopts || !c.canAdopt(from) || r.run.Mode == Mixed || !r.run.lacksKey(c.provider) {
		return ""
	}
	return "without a key: " + r.run.with(Rekey.String())
}

// mayAdopt reports whether the tape has a record for tk's call, its own or an unplayed one, and another for each other
// live call.
func (r *run) mayAdopt(tk *take) bool {
	if r.tape == nil {
		return false
	}
	made := map[key]bool{}
	for _, tk := range r.takes {
		made[tk.key] = true
	}
	free := r.tape.numbers(func(i int) bool { // also a bought record, which was adopted for another request
		return !r.tape.plays[i].played || r.tape.records[i].Response.Stale != "" && made[r.tape.key(i)]
	})
	if len(made) > len(free) {
		return false
	}
	if len(r.tape.equalTo(tk.key)) > 0 {
		return true
	}
	i, _ := r.like(tk.call, nil)
	return i >= 0
}

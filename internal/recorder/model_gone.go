package recorder

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/modelio"
)

// goneCodes are the providers' error codes for a model that they no longer have, or not for this key.
var goneCodes = []string{"model_not_found", "model_decommissioned"}

// withdrawn returns a message that a provider no longer has a model, as its answer says, or "".
func withdrawn(provider, model string, status int, e *modelio.ProviderError) string {
	if e == nil || model == "" || status < http.StatusBadRequest || status >= http.StatusInternalServerError {
		return ""
	}
	notThere := (status == http.StatusNotFound || status == http.StatusGone) && strings.Contains(e.Message, model)
	if !notThere && !slices.Contains(goneCodes, e.Code) && !slices.Contains(goneCodes, e.Type) {
		return ""
	}
	code := e.Code
	if code == strconv.Itoa(status) { // Google's
		code = ""
	}
	return fmt.Sprintf("%s no longer has %s (%d %s)", provider, model, status,
		cmp.Or(code, e.Type, http.StatusText(status)))
}

// Gone returns messages for the models that providers no longer had in this run.
func (r *Recorder) Gone() []string {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	all := r.run.goneModels()
	for _, ck := range r.checks.all {
		if ck.gone != "" {
			all = inorder.With(all, r.run.plainText(ck.gone))
		}
	}
	return all
}

func (r *run) goneModels() (said []string) {
	for _, tk := range r.takes {
		model := tk.request.Model
		if r.asksOther(tk.call) {
			model = r.Checking.New
		}
		if tk.status < http.StatusBadRequest {
			continue // most answers, which need no decoding for this
		}
		if r.makeRecord(tk) == nil {
			if text := withdrawn(tk.provider, model, tk.status, tk.record.Response.Error); text != "" {
				said = inorder.With(said, r.plainText(text))
			}
		}
	}
	return said
}

// sayGoneModels tells a failed test what to do if a provider no longer has a model.
func (n *notes) sayGoneModels() {
	if said := n.run.goneModels(); len(said) > 0 {
		n.say("%s: name another model in the code, and record with it, or keep the stored answers: %s",
			strings.Join(said, "; "), n.run.with(Rekey.String()))
	}
}

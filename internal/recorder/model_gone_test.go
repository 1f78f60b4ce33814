package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

func TestWithdrawn(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		status       int
		e            *modelio.ProviderError
		want         string
	}{
		{"openai", "its own code", 404, &modelio.ProviderError{Type: "invalid_request_error", Code: "model_not_found", Message: "The model `m-1` does not exist"},
			"p no longer has m-1 (404 model_not_found)"},
		{"anthropic", "the message names the model", 404, &modelio.ProviderError{Type: "not_found_error", Message: "model: m-1"}, "p no longer has m-1 (404 not_found_error)"},
		{"gemini", "the message names the model", 404, &modelio.ProviderError{Code: "404", Type: "NOT_FOUND", Message: "models/m-1 is not found for API version v1beta"},
			"p no longer has m-1 (404 NOT_FOUND)"},
		{"longer", "a code that begins with the status", 404, &modelio.ProviderError{Code: "404001", Message: "m-1 is not there"}, "p no longer has m-1 (404 404001)"},
		{"decommissioned", "another status, with a code that says it", 400, &modelio.ProviderError{Code: "model_decommissioned", Message: "The model `m-1` has been decommissioned"},
			"p no longer has m-1 (400 model_decommissioned)"},
		{"file", "something else is not there", 404, &modelio.ProviderError{Type: "not_found_error", Message: "file-1 was not found"}, ""},
		{"parameter", "the model is there, and takes no such parameter", 400, &modelio.ProviderError{Code: "unsupported_parameter", Message: "m-1 takes no temperature"}, ""},
		{"busy", "it is there again soon", 503, &modelio.ProviderError{Code: "model_not_found", Message: "m-1"}, ""},
		{"answer", "no error", 200, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, withdrawn("p", "m-1", c.status, c.e), c.reason) })
	}
}

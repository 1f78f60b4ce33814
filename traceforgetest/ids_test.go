package traceforgetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandedOutIDsAreNumbered(t *testing.T) {
	const id = "0123456789abcdefXYZ"
	for _, c := range []struct{ name, why, text, want string }{
		{"item", "an item of an answer", `{"id":"rs_` + id + `"}`, `{"id":"item_1"}`},
		{"uuid", "hosts without ids like OpenAI's", `{"id":"123e4567-e89b-12d3-a456-426614174000"}`, `{"id":"item_1"}`},
		{"twice", "the same value has the same number", `{"id":"fc_` + id + `","item_id":"fc_` + id + `"}`, `{"id":"item_1","item_id":"item_1"}`},
		{"conversation", "kept by the provider", `{"conversation":"conv_` + id + `"}`, `{"conversation":"item_1"}`},
		{"container", "so here", `{"container":"cntr_` + id + `"}`, `{"container":"item_1"}`},
		{"cache", "Google's names", `{"cachedContent":"cachedContents/abcdefghijkl"}`, `{"cachedContent":"item_1"}`},
		{"upload", "and URLs", `{"uri":"https://generativelanguage.googleapis.com/v1beta/files/abcdefghijkl"}`, `{"uri":"item_1"}`},
		{"list", "ids in a list", `{"run_ids":["run_` + id + `","run_1` + id + `"]}`, `{"run_ids":["item_1","item_2"]}`},
		{"path", "a call about what was made before", `{"path":"/v1/batches/batch_` + id + `/cancel"}`, `{"path":"/v1/batches/item_1/cancel"}`},
		{"file in a path", "so here", `{"path":"/v1/files/file-` + id + `/content"}`, `{"path":"/v1/files/item_1/content"}`},

		{"file", "lives long: another one is another request", `{"file_id":"file-` + id + `"}`, ""},
		{"vector store", "so does this", `{"vector_store_ids":["vs_` + id + `"]}`, ""},
		{"assistant", "and this, in a path too", `{"path":"/v1/assistants/asst_` + id + `"}`, ""},
		{"named by the caller", "too short for a provider's", `{"id":"run_1","path":"/files/report"}`, ""},
		{"prose", "only in places for ids", `{"text":"msg_` + id + `","words":["msg_` + id + `"]}`, ""},
		{"other hosts", "only Google's files are Google's", `{"uri":"https://example.com/files/abcdefghijkl"}`, ""},
		{"surrogates", "what is not changed keeps its spelling", `{"_ids":["\ud800"],"id":1.0}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.text
			}
			got, err := newOpaque().replace(json.RawMessage(c.text))
			require.NoError(t, err)
			require.Equal(t, want, string(got), c.why)
		})
	}
}

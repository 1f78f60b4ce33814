package fakeprovider

import (
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// openAIResources is OpenAI's format for models, files, batches and vector stores. It stores nothing: every resource
// that is requested by id exists.
type openAIResources struct{ openAI }

var _ = serve(func(c *Call) format {
	if ours.MatchString(c.Path) && c.Header.Get("Anthropic-Version") == "" {
		return openAIResources{}
	}
	return nil
})

var ours = regexp.MustCompile(`^/v1/(models|files|batches|vector_stores)(/[^:]+)*$`)

func (openAIResources) name() string { return "openai.resources" }
func (openAIResources) anyMethod()   {}

// resourcePath splits a path into the collection, the id of a resource, and the requested part of that resource.
func resourcePath(p string) (collection, id, of string) {
	segments := append(strings.Split(strings.TrimPrefix(p, "/"), "/")[1:], "", "", "")
	return segments[0], segments[1], segments[2]
}

func (openAIResources) read(c *Call) *Failure {
	if !c.isForm() {
		return nil
	}
	if fail := c.openForm(); fail != nil {
		return fail
	}
	switch {
	case len(c.Files) == 0:
		return missing("file")
	case c.form.get("purpose") == "":
		return missing("purpose")
	}
	return nil
}

func (f openAIResources) header(x *exchange) http.Header {
	h := f.openAI.header(x)
	if path.Base(x.call.Path) == "content" && x.reply.Failure == nil {
		h.Set("Content-Type", "application/octet-stream")
	}
	return h
}

func (f openAIResources) whole(x *exchange) []byte {
	collection, id, of := resourcePath(x.call.Path)
	kind := map[string]string{"models": "model", "files": "file", "batches": "batch",
		"vector_stores": "vector_store"}[collection]
	switch {
	case of == "content":
		return []byte(x.reply.Text)
	case x.call.Method == http.MethodDelete && kind == "vector_store":
		return indented(object{{"id", id}, {"object", "vector_store.deleted"}, {"deleted", true}})
	case x.call.Method == http.MethodDelete:
		return indented(object{{"id", id}, {"object", kind}, {"deleted", true}})
	case id != "" || x.call.Method == http.MethodPost:
		return indented(f.one(x, kind, id))
	case kind == "model":
		return indented(
			object{{"object", "list"}, {"data", []object{f.one(x, kind, "gpt-4o"), f.one(x, kind, "gpt-4o-mini")}}})
	}
	one := f.one(x, kind, "")
	return indented(object{{"object", "list"}, {"data", []object{one}}, {"first_id", one[0].value},
		{"last_id", one[0].value}, {"has_more", false}})
}

// one returns a resource. A resource without an id is new.
func (openAIResources) one(x *exchange, kind, id string) object {
	now := x.mint.now.Unix()
	switch kind {
	case "model":
		return object{{"id", id}, {"object", kind}, {"created", 1686935002}, {"owned_by", "system"}}
	case "file":
		name, size := "a.jsonl", 0
		if len(x.call.Files) > 0 {
			name, size = x.call.Files[0].Name, len(x.call.Files[0].Content)
		}
		return object{{"id", x.mint.or(id, "file-", alnum, 22)}, {"object", kind}, {"bytes", size}, {"created_at", now},
			{"expires_at", nil},
			{"filename", name}, {"purpose", "batch"}, {"status", "processed"}, {"status_details", nil}}
	case "vector_store":
		return object{{"id", x.mint.or(id, "vs_", alnum, 24)}, {"object", kind}, {"created_at", now}, {"name", "facts"},
			{"usage_bytes", 0},
			{"status", "completed"}, {"last_active_at", now}, {"metadata", object{}}}
	}
	status, output := "validating", any(nil)
	switch {
	case path.Base(x.call.Path) == "cancel":
		status = "cancelling"
	case x.call.Method == http.MethodGet:
		status, output = "completed", x.mint.id("file-", alnum, 22)
	}
	body, _ := parse(x.call.Body) // only a request that creates a resource has a body
	return object{{"id", x.mint.or(id, "batch_", hexDigits, 32)}, {"object", kind},
		{"endpoint", body.or("endpoint", "/v1/chat/completions")},
		{"errors", nil}, {"input_file_id", body.or("input_file_id", "file-abc")}, {"completion_window", "24h"},
		{"status", status},
		{"output_file_id", output}, {"error_file_id", nil}, {"created_at", now}, {"completed_at", nil},
		{"request_counts", object{{"total", 1}, {"completed", 0}, {"failed", 0}}}, {"metadata", nil}}
}

// stream is never called: nothing sets Call.Stream.
func (openAIResources) stream(*exchange) []event { return nil }

// anthropicResources is Anthropic's format for models, files and batches of messages.
type anthropicResources struct{ anthropicMessages }

var _ = serve(func(c *Call) format {
	if anthropics.MatchString(c.Path) && c.Header.Get("Anthropic-Version") != "" {
		return anthropicResources{}
	}
	return nil
})

var anthropics = regexp.MustCompile(`^/v1/(models|files|messages/batches)(/[^:]+)*$`)

func (anthropicResources) name() string        { return "anthropic.resources" }
func (anthropicResources) anyMethod()          {}
func (anthropicResources) read(*Call) *Failure { return nil }

func (f anthropicResources) header(x *exchange) http.Header {
	h := f.anthropicMessages.header(x)
	if path.Base(x.call.Path) == "results" && x.reply.Failure == nil {
		h.Set("Content-Type", "application/x-jsonl")
	}
	return h
}

func (f anthropicResources) whole(x *exchange) []byte {
	collection, id, of := resourcePath(strings.Replace(x.call.Path, "/messages/batches", "/batches", 1))
	page := func(one object) []byte {
		return marshal(
			object{{"data", []object{one}}, {"has_more", false}, {"first_id", one[1].value}, {"last_id", one[1].value}})
	}
	now := x.mint.now.Format(time.RFC3339)
	model := object{{"type", "model"}, {"id", "claude-sonnet-4-5"}, {"display_name", "Claude Sonnet 4.5"},
		{"created_at", "2025-09-29T00:00:00Z"}}
	file := object{{"type", "file"}, {"id", x.mint.or(id, "file_01", alnum, 22)}, {"size_bytes", 5}, {"created_at", now},
		{"filename", "a.txt"}}
	switch {
	case collection == "models" && id != "":
		model[1].value = id
		return marshal(model)
	case collection == "models":
		return page(model)
	case of == "results":
		message := object{{"id", x.mint.id("msg_01", alnum, 22)}, {"type", "message"}, {"role", "assistant"},
			{"model", "claude-sonnet-4-5"},
			{"content", []object{{{"type", "text"}, {"text", x.reply.Text}}}}, {"stop_reason", "end_turn"},
			{"stop_sequence", nil},
			{"usage", object{{"input_tokens", 3}, {"output_tokens", 2}}}}
		result := object{{"type", "succeeded"}, {"message", message}}
		return append(marshal(object{{"custom_id", "a"}, {"result", result}}), '\n')
	case x.call.Method == http.MethodDelete:
		return marshal(object{{"id", id},
			{"type", map[string]string{"files": "file_deleted", "batches": "message_batch_deleted"}[collection]}})
	case collection == "files" && (id != "" || x.call.Method == http.MethodPost):
		return marshal(file)
	case collection == "files":
		return page(file)
	}
	id = x.mint.or(id, "msgbatch_01", alnum, 22)
	batch := object{{"type", "message_batch"}, {"id", id}, {"processing_status", "in_progress"},
		{"request_counts", object{{"processing", 1}, {"succeeded", 0}, {"errored", 0}, {"canceled", 0}, {"expired", 0}}},
		{"ended_at", nil}, {"created_at", now}, {"expires_at", now}, {"archived_at", nil}, {"cancel_initiated_at", nil},
		{"results_url", nil}}
	if x.call.Method == http.MethodGet {
		batch[2].value, batch[len(batch)-1].value = "ended", "https://api.anthropic.com/v1/messages/batches/"+id+"/results"
	}
	return marshal(batch)
}

// ollamaResources is Ollama's format for its installed models.
type ollamaResources struct{ ollama }

var (
	_ = serve(at(ollamaResources{}, "/api/tags"))
	_ = serve(at(ollamaResources{}, "/api/show"))
)

func (ollamaResources) name() string        { return "ollama.resources" }
func (ollamaResources) anyMethod()          {}
func (ollamaResources) read(*Call) *Failure { return nil }

func (ollamaResources) whole(x *exchange) []byte {
	details := object{{"parent_model", ""}, {"format", "gguf"}, {"family", "qwen3"}, {"families", []string{"qwen3"}},
		{"parameter_size", "14.8B"}, {"quantization_level", "Q4_K_M"}}
	if path.Base(x.call.Path) == "tags" {
		return marshal(object{{"models",
			[]object{{{"name", "qwen3:latest"}, {"model", "qwen3:latest"}, {"modified_at", x.mint.now.Format(time.RFC3339)},
				{"size", int64(9276198324)}, {"digest", strings.Repeat("7d", 32)}, {"details", details}}}}})
	}
	return marshal(object{{"modelfile", "FROM qwen3"}, {"template", "{{ .Prompt }}"}, {"details", details},
		{"model_info", object{{"general.architecture", "qwen3"}}}, {"capabilities", []string{"completion"}},
		{"modified_at", x.mint.now.Format(time.RFC3339)}})
}

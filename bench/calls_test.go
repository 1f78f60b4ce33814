package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A call is a request to a model, and its answer.
type call struct {
	body, answer []byte
	contentType  string
}

const endpoint = "https://api.openai.com/v1/chat/completions"

// lines and whole are the buffers in which send reads answers. They do not grow while a contestant is timed.
var (
	lines = bufio.NewReader(nil)
	whole []byte
)

// send makes a call and reads its answer like clients do: a stream line by line.
func (c *call) send(b testing.TB, client *http.Client) {
	resp, err := client.Post(endpoint, "application/json", bytes.NewReader(c.body))
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	if c.contentType == "text/event-stream" {
		lines.Reset(resp.Body)
		for line := []byte(nil); err == nil; n += len(line) {
			line, err = lines.ReadSlice('\n')
		}
	} else {
		whole = slices.Grow(whole[:0], len(c.answer)+1)
		for read := 0; err == nil; n += read {
			read, err = resp.Body.Read(whole[n:cap(whole)])
		}
	}
	if err != nil && err != io.EOF || resp.StatusCode != http.StatusOK || n != len(c.answer) {
		b.Fatal(resp.Status, n, err)
	}
	resp.Body.Close()
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

type object = map[string]any

// chat returns the body of a request of about size bytes.
func chat(n, size int) object {
	messages := []any{}
	for left := size; left > 0; left -= 512 {
		messages = append(messages, object{"role": "user", "content": fmt.Sprint(n, " ") + strings.Repeat("lorem ipsum dolor ", 25)})
	}
	return object{"model": "gpt-4o-mini", "temperature": 0, "seed": 42, "messages": messages}
}

// answered returns an answer with a text of about size bytes.
func answered(n, size int) []byte {
	return encode(object{
		"id": fmt.Sprint("chatcmpl-", n), "object": "chat.completion", "model": "gpt-4o-mini",
		"choices": []any{object{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": strings.Repeat("dolor sit amet ", size/15)}}},
		"usage":   object{"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
	})
}

// chats returns n calls with requests of about size bytes and answers of about answer bytes.
func chats(n, size, answer int) (calls []call) {
	for i := range n {
		calls = append(calls, call{encode(chat(i, size)), answered(i, answer), "application/json"})
	}
	return calls
}

// streams returns n calls whose answers are streams of events.
func streams(n, events int) (calls []call) {
	for i := range n {
		request := chat(i, 2<<10)
		request["stream"] = true
		var b bytes.Buffer
		chunk := func(delta object, reason any) {
			fmt.Fprintf(&b, "data: %s\n\n", encode(object{
				"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini",
				"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}},
			}))
		}
		chunk(object{"role": "assistant", "content": ""}, nil)
		for word := range events - 3 {
			chunk(object{"content": fmt.Sprint(" word", word)}, nil)
		}
		chunk(object{}, "stop")
		b.WriteString("data: [DONE]\n\n")
		calls = append(calls, call{encode(request), b.Bytes(), "text/event-stream"})
	}
	return calls
}

// respelled returns c with another spelling of its JSON: other order of members, other escapes.
func (c call) respelled() call {
	var request object
	if err := json.Unmarshal(c.body, &request); err != nil {
		panic(err)
	}
	text, err := json.MarshalIndent(request, "", " ")
	if err != nil {
		panic(err)
	}
	c.body = bytes.ReplaceAll(text, []byte("lorem"), []byte(`\u006corem`))
	return c
}

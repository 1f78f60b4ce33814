package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A formPart is a part of a multipart form.
type formPart struct {
	header  textproto.MIMEHeader
	content []byte
}

// form returns the parts of a multipart body; nil for any other body.
func (w *Wire) form() []formPart {
	if !w.formRead {
		w.formRead = true
		if mediaType, parameters, _ := mime.ParseMediaType(w.ContentType); strings.HasPrefix(mediaType, "multipart/") {
			w.parts = readForm(w.Body, parameters["boundary"])
		}
	}
	return w.parts
}

func readForm(body []byte, boundary string) (parts []formPart) {
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			return nil
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil
		}
		parts = append(parts, formPart{part.Header, content})
	}
}

// with returns the content of a part together with headers.
func (p formPart) with(headers textproto.MIMEHeader) json.RawMessage {
	o := opaque(p.content)
	o["headers"] = headersOf(headers)
	return jsontext.ObjectText(o)
}

func headersOf(header textproto.MIMEHeader) json.RawMessage {
	o := modelio.Object{}
	for name, values := range header {
		o[name] = jsontext.Texts(values)
	}
	return jsontext.ObjectText(o)
}

// postsForm returns a Match for requests that POST a form to a path with one of suffixes.
func postsForm(suffixes ...string) func(*Wire) bool {
	return func(w *Wire) bool { return w.Method == "POST" && w.pathEndsIn(suffixes) && w.form() != nil }
}

// decodeForm decodes a form. Its files, followed by the prompt, are a message of the user. The other parts are the
// members of the body; parts with the same name are a list. The order of names is ignored.
func (f requestForm) decodeForm(w *Wire) (*modelio.Request, error) {
	parts := w.form()
	if parts == nil {
		return nil, errors.New("the body is no multipart form")
	}
	req := &modelio.Request{Options: modelio.Object{}, Messages: []modelio.Message{}}
	var files []modelio.Part
	fields := map[string]list{}
	for _, p := range parts {
		name, file, ok := p.disposition()
		switch {
		case !ok || strings.HasPrefix(name, "$"): // one of our marks
			fields[markBody] = append(fields[markBody], jsontext.List(list{p.with(p.header)}))
		case file != nil:
			files = append(files, p.medium(name, *file))
		default:
			fields[name] = append(fields[name], p.field())
		}
	}
	for name, values := range fields {
		if len(values) == 1 && f.takeField(req, name, values[0]) {
			continue
		}
		if req.Options[name] = values[0]; len(values) > 1 {
			req.Options[name] = jsontext.List(values)
		}
	}
	say(req, files)
	return req, nil
}

// say makes parts, followed by the prompt, a message of the user.
func say(req *modelio.Request, parts []modelio.Part) {
	if req.Prompt != nil {
		parts = append(parts, modelio.TextPart(*req.Prompt))
		req.Prompt = nil
	}
	if parts != nil {
		req.Messages = append(req.Messages, modelio.Message{Role: modelio.RoleUser, Content: parts})
	}
}

// takeField takes a field as a member of a body. A parameter is a number that is spelled as one.
func (f requestForm) takeField(req *modelio.Request, name string, value json.RawMessage) bool {
	said := jsontext.ValueOf(value)
	if text := said.Word(); f.parameters[name] != "" {
		number, err := jsontext.Parse([]byte(text))
		return err == nil && string(number.Root().Raw()) == text && f.take(req, name, number.Root())
	}
	return f.take(req, name, said)
}

// disposition returns the name of a part, and of its file if it is one. It reports false if the part's header contains
// anything else.
func (p formPart) disposition() (name string, file *string, ok bool) {
	lines := p.header["Content-Disposition"]
	if len(lines) != 1 {
		return "", nil, false
	}
	kind, parameters, err := mime.ParseMediaType(lines[0])
	if err != nil || kind != "form-data" {
		return "", nil, false
	}
	if filename, isFile := parameters["filename"]; isFile {
		file = &filename
		delete(parameters, "filename")
	}
	name, ok = parameters["name"]
	return name, file, ok && len(parameters) == 1
}

// field returns the text of a part that is not a file, with its headers if there are further ones.
func (p formPart) field() json.RawMessage {
	rest := p.rest()
	if types := rest["Content-Type"]; len(types) == 1 && saysPlainText(types[0]) {
		delete(rest, "Content-Type")
	}
	if len(rest) == 0 && utf8.Valid(p.content) {
		return jsontext.Text(string(p.content))
	}
	return p.with(rest)
}

func saysPlainText(contentType string) bool {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	return err == nil && mediaType == "text/plain" && (charset == "" || charset == "utf-8")
}

// medium returns a file: as text if it is text, and otherwise as media.
func (p formPart) medium(name, file string) modelio.Part {
	metadata := modelio.Object{"name": jsontext.Text(name), "filename": jsontext.Text(file)}
	rest := p.rest()
	contentType, said := "", false
	if types := rest["Content-Type"]; len(types) == 1 {
		contentType, said = types[0], true
		delete(rest, "Content-Type")
	}
	if len(rest) > 0 {
		metadata["headers"] = headersOf(rest)
	}
	part := modelio.TextPart(string(p.content))
	switch isText := utf8.Valid(p.content); {
	case isText && said:
		metadata["content_type"] = jsontext.Text(contentType)
	case isText:
	case isContentType(contentType):
		part = modelio.MediaPart(contentType, encodedURL(contentType, p.content))
	default:
		if metadata["content_type"] = json.RawMessage("null"); said {
			metadata["content_type"] = jsontext.Text(contentType)
		}
		part = sniffed(base64.StdEncoding.EncodeToString(p.content))
	}
	part.Metadata = metadata
	return part
}

// rest returns the headers of a part other than its disposition and length.
func (p formPart) rest() textproto.MIMEHeader {
	rest := textproto.MIMEHeader{}
	for name, values := range p.header {
		length := name == "Content-Length" && len(values) == 1 && values[0] == strconv.Itoa(len(p.content))
		if name != "Content-Disposition" && !length {
			rest[name] = values
		}
	}
	return rest
}

package fakeprovider

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"strings"
)

// formFields are the fields of a multipart form, without its files.
type formFields map[string][]string

func (f formFields) get(name string) string { return strings.Join(f[name], "") }

// isForm reports whether the call's body is a multipart form.
func (c *Call) isForm() bool {
	mediaType, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	return mediaType == "multipart/form-data"
}

// readForm reads the form of the call.
func (c *Call) readForm() error {
	_, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	c.form = formFields{}
	for r := multipart.NewReader(bytes.NewReader(c.Body), parameters["boundary"]); ; {
		part, err := r.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		name := part.FormName()
		if file := part.FileName(); file != "" {
			c.Files = append(c.Files, File{name, file, content})
			continue
		}
		c.form[name] = append(c.form[name], string(content))
	}
}

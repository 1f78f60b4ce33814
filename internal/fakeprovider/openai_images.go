package fakeprovider

import (
	"encoding/base64"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"strconv"
	"strings"
)

// openAIImages is OpenAI's formats for making and changing images.
type openAIImages struct{ openAI }

var (
	_ = serve(atOpenAI(openAIImages{}, "/images/generations"))
	_ = serve(atOpenAI(openAIImages{}, "/images/edits"))
	_ = serve(atOpenAI(openAIImages{}, "/images/variations"))
)

func (openAIImages) name() string { return "openai.images" }

func (f openAIImages) read(c *Call) *Failure {
	c.Choices = 1
	prompt, count := "", 0
	if c.isForm() {
		if fail := c.openForm(); fail != nil {
			return fail
		}
		if len(c.Files) == 0 {
			return missing("image")
		}
		prompt, count = c.form.get("prompt"), atoi(c.form.get("n"))
		c.Stream = c.form.get("stream") == "true"
		c.packed = c.form.get("response_format") != "url"
	} else {
		body, err := parse(c.Body)
		if err != nil || !body.into("prompt", &prompt) {
			return missing("prompt")
		}
		if c.Model == "" {
			c.Model = body.str("model")
		}
		body.into("n", &count)
		c.Stream, c.packed = body.flag("stream"), body.str("response_format") != "url"
	}
	if prompt == "" && !strings.HasSuffix(c.Path, "/variations") {
		return missing("prompt")
	}
	c.Choices = max(1, count)
	c.Messages = []Message{{Role: "user", Text: prompt}}
	return nil
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // 0 if it is missing
	return n
}

// picture returns the script's image, or else one that depends only on the prompt and n.
func (x *exchange) picture(n int) []byte {
	if x.reply.Media != nil {
		return x.reply.Media
	}
	const side = 16
	var rows []byte
	for i, f := range vector(strconv.Itoa(n)+x.call.LastUser(), side*side) {
		if i%side == 0 {
			rows = append(rows, 0) // no filter
		}
		rows = append(rows, uint8(128+100*f))
	}
	return grayPNG(side, rows)
}

// grayPNG writes a square image without compress/flate, whose output differs between releases of Go. Each row begins
// with its filter.
func grayPNG(side byte, rows []byte) []byte {
	size := uint16(len(rows))
	data := []byte{0x78, 1, 0} // zlib, then a stored block
	data = binary.LittleEndian.AppendUint16(data, size)
	data = binary.LittleEndian.AppendUint16(data, ^size)
	data = append(data, rows...)
	data = append(data, 1, 0, 0, 0xff, 0xff) // the last block is empty
	data = binary.BigEndian.AppendUint32(data, adler32.Checksum(rows))

	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		b = append(append(b, name...), data...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[len(b)-len(name)-len(data):]))
	}
	chunk("IHDR", []byte{0, 0, 0, side, 0, 0, 0, side, 8, 0, 0, 0, 0}) // 8 bits of gray
	chunk("IDAT", data)
	chunk("IEND", nil)
	return b
}

func (f openAIImages) whole(x *exchange) []byte {
	var data []object
	for n := range x.call.Choices {
		o := object{{"b64_json", base64.StdEncoding.EncodeToString(x.picture(n))}}
		if !x.call.packed {
			o = object{{"url", "https://images.example.com/" + strconv.Itoa(n) + ".png"}}
		}
		if x.reply.Text != "" {
			o = append(o, member{"revised_prompt", x.reply.Text})
		}
		data = append(data, o)
	}
	return indented(append(object{{"created", x.mint.now.Unix()}, {"data", data}}, f.about(x)...))
}

// about returns the members that describe all images of an answer.
func (openAIImages) about(x *exchange) object {
	u := x.usage()
	return object{{"background", "opaque"}, {"output_format", "png"}, {"quality", "low"}, {"size", "1024x1024"},
		{"usage", object{
			{"total_tokens", u.Input + u.Output}, {"input_tokens", u.Input}, {"output_tokens", u.Output},
			{"input_tokens_details", object{{"text_tokens", u.Input}, {"image_tokens", 0}}},
		}}}
}

func (f openAIImages) stream(x *exchange) []event {
	kind := "image_generation"
	if x.call.isForm() {
		kind = "image_edit"
	}
	about := func(name string, n int) object {
		o := object{{"type", kind + "." + name}, {"b64_json", base64.StdEncoding.EncodeToString(x.picture(n))},
			{"created_at", x.mint.now.Unix()}}
		return append(o, f.about(x)...)
	}
	partial := about("partial_image", 1)
	partial[len(partial)-1] = member{"partial_image_index", 0}
	return []event{
		jsonEvent(kind+".partial_image", partial),
		jsonEvent(kind+".completed", about("completed", 0)),
	}
}

package provider

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The image APIs of OpenAI and of hosts that copy them: generations, edits and variations.
var _ = Register(&Codec{
	API:     "openai.images",
	Fixed:   noSetting,
	Match:   either(matchImageForm, posts(has("prompt"), "/images/generations", "/images/edits")),
	request: decodeImages,
	outside: deployedOperation("generations"),
	answer:  images,
	stream:  foldRules{add: addImage, end: endsWith(arrayNode, "data")},
})

var (
	matchImageForm = postsForm("/images/edits", "/images/variations")
	imagesForm     = requestForm{prompt: "prompt"}
)

func decodeImages(w *Wire) (*modelio.Request, error) {
	if matchImageForm(w) {
		return imagesForm.decodeForm(w)
	}
	return w.decode(decodeImagesJSON)
}

// decodeImagesJSON decodes a JSON body. The images of an edit, followed by the prompt, are a message of the user, as in
// a form.
func decodeImagesJSON(body jsontext.Value) *modelio.Request {
	req := imagesForm.decode(body)
	var images []modelio.Part
	for _, name := range inorder.Names(req.Options) {
		if strings.HasPrefix(name, "image") || name == "mask" {
			images = append(images, modelio.Part{Custom: modelio.Object{name: req.Options[name]}})
			delete(req.Options, name)
		}
	}
	if images != nil {
		say(req, images)
	}
	return req
}

// images decodes a list of images, each as media: a URL, or base64.
func images(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("data").IsArray() {
		return nil, neither("data")
	}
	var parts []modelio.Part
	var took list
	for i, v := range body.Member("data").Elements() {
		part, ok := imageOf(v, body.Member("output_format").Word())
		if !ok {
			reason := "an image has neither b64_json nor url"
			return nil, &WireError{Pointer: jsontext.PointerTo("data", fmt.Sprint(i)), Reason: reason}
		}
		parts = append(parts, part)
		if timings := v.Member("timings"); timings.Present() { // Together's
			took = append(took, timings.Raw())
		}
	}
	all := candidateOf(parts...)
	jsontext.KeepList(&all[0].Message.Metadata, "timings", took)
	return responseOf(body, responsesUsage.of(body), all, "data"), nil
}

func imageOf(v jsontext.Value, format string) (part modelio.Part, ok bool) {
	data, url := v.Member("b64_json").Word(), v.Member("url").Word()
	switch {
	case data != "" && url == "":
		if part = sniffed(data); part.Media.ContentType == unknownType && format != "" {
			part = modelio.MediaPart("image/"+format, dataURL("image/"+format, data))
		}
	case url != "" && data == "":
		part = media(url)
	default:
		return part, false
	}
	part.Metadata = v.Rest("b64_json", "url", "index", "timings")
	return part, true
}

// ofAllImages are members of an event that an answer has next to its images.
var ofAllImages = []string{"background", "created_at", "output_format", "quality", "safety_identifier", "size", "usage"}

// addImage takes an event. The last one has the image; earlier events show it in progress.
func addImage(f *fold, _ string, event jsontext.Value) {
	kind := event.Member("type").Word()
	_, what, _ := strings.Cut(kind, ".")
	switch what {
	case "partial_image":
		if index := event.Member("partial_image_index"); index.Present() {
			f.body.member("partial_images").append(index.Raw())
		}
	case "completed":
		f.body.member("data").append(jsontext.ObjectText(event.Rest(append(ofAllImages, "type")...)))
		for _, name := range ofAllImages {
			f.body.put(name, event.Member(name))
		}
		f.done = true
	default:
		f.wrong = fmt.Errorf("has the type %+q, which no image event has", kind)
	}
}

package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The predict method of Vertex AI, whose models and endpoints have their own instances and predictions: embeddings,
// images, texts. The Gemini API has it too. A long call is answered with an operation, whose result is fetched later.
var _ = Register(&Codec{
	API:     "vertex.predict",
	Match:   posts(hasList("instances"), ":predict", ":predictLongRunning"),
	body:    requestForm{}.decode,
	outside: methodOf("predict"),
	Refusal: refuseAsGoogle,
	answer:  predictions,
})

// predictions decodes a list of predictions, or the name of an operation.
func predictions(body jsontext.Value) (*modelio.Response, error) {
	list := body.Member("predictions")
	if !list.IsArray() {
		return promised(body)
	}
	return &modelio.Response{
		Candidates: candidateOf(partsOf(list, prediction)...),
		Model:      body.Member("deployedModelId").Word(),
		Metadata:   beside(body, "predictions", "deployedModelId"),
	}, nil
}

// promised decodes the placeholder for a later answer. Its name ends in an id, which is generated for each call.
func promised(body jsontext.Value) (*modelio.Response, error) {
	name := body.Member("name").Word()
	kind, _, named := cutLast(name, "/")
	if !named {
		return nil, neither("predictions")
	}
	part := modelio.Part{Custom: briefObject(body)}
	part.Custom["name"] = jsontext.Text(kind + "/id_1")
	return &modelio.Response{ID: name, Candidates: candidateOf(part)}, nil
}

// prediction decodes a prediction: an image, a text, or any other value.
func prediction(v jsontext.Value) modelio.Part {
	image, isImage := dataPart(v, "mimeType", "bytesBase64Encoded")
	text, isText := textPart(v, "content")
	switch {
	case isImage && v.Member("bytesBase64Encoded").IsWord():
		return image
	case isText && *text.Text != "":
		return text
	case v.IsObject():
		return modelio.Part{Custom: briefObject(v)}
	}
	return modelio.Part{Custom: modelio.Object{"prediction": brief(v)}}
}

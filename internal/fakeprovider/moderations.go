package fakeprovider

import "encoding/json"

// openAIModerations is OpenAI's format for moderations.
type openAIModerations struct{ openAI }

// mistralModerations is Mistral's format for moderations, which also judges conversations.
type mistralModerations struct{ mistral }

var _ = serve(func(c *Call) format {
	if onMistral(c) {
		return at(mistralModerations{}, "/moderations")(c)
	}
	return atOpenAI(openAIModerations{}, "/moderations")(c)
})

func (openAIModerations) name() string  { return "openai.moderations" }
func (mistralModerations) name() string { return "mistral.moderations" }

func (openAIModerations) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return invalid("", "", "We could not parse the JSON body of your request.")
	}
	c.Model = body.str("model")
	if c.Model == "" {
		c.Model = "omni-moderation-latest"
	}
	if !body.has("input") {
		return missing("input")
	}
	c.asks(judged(body["input"])...)
	return nil
}

func (mistralModerations) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil || !body.has("input") {
		return &Failure{Status: 422, Message: "input: Field required"}
	}
	c.Model = body.str("model")
	c.asks(judged(body["input"])...)
	return nil
}

// judged returns the inputs that get one verdict each: texts, a list of texts and images as one input, or
// conversations.
func judged(input json.RawMessage) []string {
	if all, ok := texts(input); ok {
		return all
	}
	if text := textOf(input); text != "" {
		return []string{text}
	}
	var conversations []json.RawMessage
	json.Unmarshal(input, &conversations) // other input gets no verdict
	all := make([]string, len(conversations))
	for i, c := range conversations {
		all[i] = string(c)
	}
	return all
}

// verdicts returns one verdict for each text. The reply's refusal names the category of the violation.
func verdicts(x *exchange, flag bool) []object {
	all := []object{}
	for range x.call.Messages {
		bad := x.reply.Refusal
		categories, scores := object{}, object{}
		for _, name := range []string{"hate", "self-harm", "violence"} {
			score := 0.0001
			if name == bad {
				score = 0.9
			}
			categories = append(categories, member{name, name == bad})
			scores = append(scores, member{name, score})
		}
		verdict := object{{"categories", categories}, {"category_scores", scores}}
		if flag {
			verdict = append(object{{"flagged", bad != ""}}, verdict...)
		}
		all = append(all, verdict)
	}
	return all
}

func (openAIModerations) whole(x *exchange) []byte {
	return indented(object{
		{"id", x.answerID(x.mint.id("modr-", alnum, 29))}, {"model", x.model()}, {"results", verdicts(x, true)},
	})
}

func (mistralModerations) whole(x *exchange) []byte {
	return marshal(object{
		{"id", x.answerID(x.mint.id("", hexDigits, 32))}, {"model", x.model()}, {"results", verdicts(x, false)},
	})
}

func (openAIModerations) stream(*exchange) []event  { return nil }
func (mistralModerations) stream(*exchange) []event { return nil }

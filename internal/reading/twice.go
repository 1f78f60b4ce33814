package reading

// Some streams say the same twice: in pieces, and whole at their end. A record has what is said last, and programs read
// either.

// transcriptLive takes a transcript as its pieces come.
func transcriptLive(a *account, v view) {
	if v.at("type").text() == "transcript.text.delta" {
		a.seen = true
		a.say(v.at("delta"))
	}
}

// transcriptFinal takes the transcript at the end of its stream.
func transcriptFinal(a *account, v view) {
	if v.at("type").text() == "transcript.text.done" {
		a.seen = true
		a.say(v.at("text"))
	}
}

// interactionLive takes an interaction as the pieces of its steps come.
func interactionLive(a *account, v view) {
	place, delta := v.at("index").number(), v.at("delta")
	switch v.at("event_type").text() {
	case "step.start":
		a.seen = true
		a.say(v.at("step", "content").texts()...)
		if v.at("step", "type").text() == "function_call" {
			c := a.at(place)
			a.grow(&c.name, v.at("step", "name"))
			a.grow(&c.arguments, v.at("step", "arguments"))
		}
	case "step.delta":
		a.seen = true
		switch delta.at("type").text() {
		case "text":
			a.say(delta.at("text"))
		case "arguments_delta":
			a.grow(&a.at(place).arguments, delta.at("arguments"))
		}
	}
}

// interactionFinal takes the interaction at the end of its stream, which most leave without steps.
func interactionFinal(a *account, v view) {
	if v.at("event_type").text() != "interaction.completed" {
		return
	}
	for _, said := range v.at("interaction", "steps").each() {
		a.seen = true
		switch said.at("type").text() {
		case "model_output":
			a.say(said.at("content").texts()...)
		case "function_call":
			a.add(said.at("name").text(), said.at("arguments").input())
		}
	}
}

// cohereV1Live takes an answer of Cohere's first version as its pieces come, and calls as they are generated.
func cohereV1Live(a *account, v view) {
	switch v.at("event_type").text() {
	case "text-generation", "tool-calls-chunk":
		a.seen = true
		a.say(v.at("text"))
	case "tool-calls-generation":
		a.seen = true
		if len(a.text) == 0 {
			a.say(v.at("text"))
		}
		a.addCohereV1(v.at("tool_calls"))
	}
}

// cohereV1Chunks takes the calls alone, as their pieces come.
func cohereV1Chunks(a *account, v view) {
	if piece := v.at("tool_call_delta"); piece.last().IsObject() {
		a.seen, a.text = true, []byte(a.recorded)
		c := a.at(piece.at("index").number())
		a.grow(&c.name, piece.at("name"))
		a.grow(&c.arguments, piece.at("parameters"))
	}
}

// cohereV1Final takes the answer at the end of its stream.
func cohereV1Final(a *account, v view) {
	if said := v.at("response"); v.at("event_type").text() == "stream-end" && said.at("text").last().Present() {
		a.seen = true
		a.say(said.at("text"))
		a.addCohereV1(said.at("tool_calls"))
		a.ends(said.at("finish_reason"))
	}
}

func (a *account) addCohereV1(calls view) {
	for _, c := range calls.each() {
		a.add(c.at("name").text(), c.at("parameters").input())
	}
}

// generationLive takes the first text with which a prompt goes on as its pieces come.
func generationLive(a *account, v view) {
	if v.at("text").last().Present() && v.at("index").number() == 0 {
		a.seen = true
		a.say(v.at("text"))
	}
}

// generationFinal takes it at the end of its stream.
func generationFinal(a *account, v view) {
	for _, said := range v.at("response", "generations").each() {
		a.seen = true
		a.say(said.at("text"))
		a.ends(v.at("finish_reason"))
		return
	}
}

// Package genkithooks records and replays what a Genkit Go application asks for, by one option of
// Genkit's:
//
//	genkit.Generate(ctx, g,
//		ai.WithModelName("googleai/gemini-2.5-flash"),
//		ai.WithPrompt("Say hello"),
//		ai.WithUse(genkithooks.Record(rec)),
//	)
//
// While rec replays, no model is called. It needs Genkit Go 1.7, the first that has hooks; for older
// versions there is genkittraceforge.Middleware, which has to be told the model's name.
package genkithooks

// Package genkithooks records and replays the generations of a Genkit Go application, with a single Genkit option:
//
//	genkit.Generate(ctx, g,
//		ai.WithModelName("googleai/gemini-2.5-flash"),
//		ai.WithPrompt("Say hello"),
//		ai.WithUse(genkithooks.Record(rec)),
//	)
//
// While rec replays, no model is called. The package needs Genkit Go 1.7, the first version with hooks. For older
// versions there is genkittraceforge.Middleware, which must be given the model's name.
package genkithooks

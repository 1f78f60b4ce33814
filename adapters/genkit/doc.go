// Package genkittraceforge connects Genkit Go with traceforge: it records and replays the model
// calls of a Genkit application.
//
// One line puts it between the application and any model of Genkit's:
//
//	genkit.Generate(ctx, g,
//		ai.WithModelName("openai/gpt-4o"),
//		ai.WithPrompt("Say hello"),
//		ai.WithMiddleware(genkittraceforge.Middleware(rec, "openai/gpt-4o")),
//	)
//
// While rec replays, the model behind the middleware is not called. Where there is none,
// because its plugin is not even installed, [Model] defines one that answers from the recorder.
//
// What is recorded is a [modelio.GenerateRequest] and its answer. The functions From… and To…
// convert between Genkit's wire types and modelio's. They build them field by field: Genkit's
// own JSON drops empty texts, empty objects and nulls, and rounds large integers.
package genkittraceforge

// Package genkittraceforge connects Genkit Go with traceforge: it records and replays the calls of models, embedders,
// retrievers and background models.
//
// With Genkit Go 1.7 and later, package genkithooks next to this one records complete generations, including tools,
// with ai.WithUse(genkithooks.Record(rec)). With older versions one line puts this package between the application and
// any Genkit model:
//
//	genkit.Generate(ctx, g,
//		ai.WithModelName("openai/gpt-4o"),
//		ai.WithPrompt("Say hello"),
//		ai.WithMiddleware(genkittraceforge.Middleware(rec, "openai/gpt-4o")),
//	)
//
// While rec replays, the model behind the middleware is not called. For an application that does not accept middleware,
// [Model] defines a model that records another. [Embedder], [Retriever] and [BackgroundModel] record actions for which
// Genkit has no middleware.
//
// A record is a [modelio.GenerateRequest] with its answer. Genkit's types are converted to those and back field by
// field, because Genkit's own JSON drops empty texts, empty objects and nulls, and rounds large integers. A value that
// Genkit cannot represent is an error.
package genkittraceforge

// Package modeltest proves with [TestModel] that a model obeys the model contract (GK). [Aggregate] joins the chunks of
// a stream into the whole answer, and [Simulate] rewrites a request for a model that lacks a capability.
package modeltest

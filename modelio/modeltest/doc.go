// Package modeltest proves that a model obeys the model contract (GK): [TestModel], and what it is made of. [Aggregate] joins
// the chunks of a stream into the whole answer, and [Simulate] rewrites a request for a model that lacks a capability.
package modeltest

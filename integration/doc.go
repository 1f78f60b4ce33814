// Package integration runs the providers' real SDKs against the fake providers and against recorded traffic. It has
// only tests.
package integration

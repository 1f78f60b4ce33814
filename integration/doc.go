// Package integration runs the providers' real SDKs against the fake providers; it has tests
// only. A fake proves nothing by itself: that the SDK understands it does.
package integration

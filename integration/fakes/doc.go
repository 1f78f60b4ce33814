// Package fakes proves the fake providers with the providers' real SDKs: a fake is right if the SDK understands it. It
// has only tests, one file for each SDK.
package fakes

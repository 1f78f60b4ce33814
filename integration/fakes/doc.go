// Package fakes proves the fake providers with the providers' real SDKs: a fake proves nothing
// by itself; that the SDK understands it does. It has tests only, one file for each SDK.
package fakes

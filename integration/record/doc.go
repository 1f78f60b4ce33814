// Package record proves that a provider's SDK gets the same results in replay as while recording. It has only tests.
package record

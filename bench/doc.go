// Package bench measures traceforge and other tools for comparison, in modules that use both.
package bench

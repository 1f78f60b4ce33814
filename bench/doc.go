// Package bench measures traceforge beside other tools, in modules that use both.
package bench

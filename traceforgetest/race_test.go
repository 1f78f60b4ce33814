//go:build race

package traceforgetest_test

// raced says that the race detector is on: it multiplies what is allocated, so budgets do not hold.
const raced = true

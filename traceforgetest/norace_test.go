//go:build !race

package traceforgetest_test

const raced = false

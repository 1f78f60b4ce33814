// Package coverage tells what a run of tests used of a store: it joins the receipts that the tests
// left, what go test printed, and the tests that the code has.
package coverage

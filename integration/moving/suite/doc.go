// Package suite measures a suite before and after it moves to traceforge, and makes the table of docs/migrating.md. Two
// suites of 40 tests make 150 calls, which are recorded traffic of providers. One suite uses go-vcr and one uses
// httprr. Both move by the recipe of that page:
//
//	go test ./suite -run TestTable -v
package suite

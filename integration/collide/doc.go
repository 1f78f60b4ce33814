// Package collide proves that -update works beside the libraries and the test files that define
// it too: each package below it is one test binary with one of them.
package collide

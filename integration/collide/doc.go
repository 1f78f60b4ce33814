// Package collide proves that -update works with libraries and test files that define it too. Each package below it is
// a test binary with one of them.
package collide

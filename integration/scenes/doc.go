// Package scenes tests what a pull request shows of a store: each test records, changes what a program
// says, records again and reads git's diff.
package scenes

// Package setups runs the real SDKs in setups of real tests: in a bubble of testing/synctest, behind a company's
// gateway, on a host of Azure's.
package setups

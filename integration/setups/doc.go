// Package setups runs the real SDKs in setups of real tests: in a bubble of testing/synctest, behind a company's
// gateway, and on an Azure host.
package setups

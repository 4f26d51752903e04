// Package e2e drives a real server over real HTTP.
//
// Its tests start the proctor command in this process on a free port and play
// cases against it: attacks that must earn nothing and honest behaviour that
// must be understood. The cases are files, testdata/cases and any folder that
// PROCTOR_CASES names, so that somebody who only wants to break the server
// needs to write JSON and no Go. Nothing outside the tests imports it.
package e2e

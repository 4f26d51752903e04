package codefix

// Pool is the sandbox that all tests of the package share.
func Pool() Runner { return pool }

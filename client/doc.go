// Package client plays Proctor environments over the wire.
//
// Client speaks REST and retries where a step index or an idempotency key makes
// a repeat safe. Conn, made by Dial, plays many envs at once on one WebSocket.
// Both return an *Error with the contract's code for whatever the server
// refuses. The package knows nothing of how environments work; trainers and
// scripts use it. A Client and a Conn are safe for concurrent use.
package client

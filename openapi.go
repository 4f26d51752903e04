// Package proctor holds the contract document, so that the server can hand out
// the very file that its routes were generated from. It has no behaviour; the
// programs are under cmd.
package proctor

import _ "embed"

//go:embed openapi.yaml
var openAPI string

// OpenAPI is openapi.yaml.
func OpenAPI() string { return openAPI }

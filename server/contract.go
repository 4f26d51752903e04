package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

// contract checks requests against openapi.yaml.
type contract struct{ ops map[string]*operation }

type operation struct {
	route *routers.Route
	body  func() any // a fresh value to decode into, nil where there is no body
	need  bool       // the body is required
	query map[string]bool
	probe bool // by machines that add to a path what they like
}

// bodies are the types of the operations' bodies.
var bodies = map[string]func() any{
	"CreateEnv":  func() any { return &api.CreateEnvRequest{} },
	"ResetEnv":   func() any { return &api.ResetRequest{} },
	"StepEnv":    func() any { return &api.StepRequest{} },
	"ForkEnv":    func() any { return &api.ForkRequest{} },
	"BatchReset": func() any { return &api.BatchResetRequest{} },
	"BatchStep":  func() any { return &api.BatchStepRequest{} },
	"CreateRun":  func() any { return &api.CreateRunRequest{} },
	"PushPoints": func() any { return &api.PushPointsRequest{} },
}

func newContract() (*contract, error) {
	doc, err := oapi.GetSpec()
	if err != nil {
		return nil, fmt.Errorf("read embedded contract: %w", err)
	}
	// Requests use only what 3.0 and 3.1 share. Under 3.1 the validator
	// compiles its schemas anew for every request, which costs milliseconds.
	doc.OpenAPI = "3.0.3"
	c := &contract{ops: map[string]*operation{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := &operation{
				route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
				body:  bodies[op.OperationID],
				query: map[string]bool{},
				probe: slices.Contains(op.Tags, "operations"),
			}
			for _, p := range append(slices.Clone(item.Parameters), op.Parameters...) {
				if p.Value.In == openapi3.ParameterInQuery {
					o.query[p.Value.Name] = true
				}
			}
			if op.RequestBody != nil {
				if o.body == nil {
					return nil, fmt.Errorf("contract: no type for the body of %s", op.OperationID)
				}
				o.need = op.RequestBody.Value.Required
			}
			c.ops[method+" "+path] = o
		}
	}
	return c, nil
}

func (c *contract) find(r *http.Request) *operation {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return c.ops[method+" "+chi.RouteContext(r.Context()).RoutePattern()]
}

// check refuses what the contract does not allow.
func (o *operation) check(r *http.Request, body []byte) error {
	if err := o.checkQuery(r); err != nil {
		return err
	}
	switch {
	case body == nil && o.need:
		return refusal(api.ProblemCodeInvalidJSON, "a JSON body is needed")
	case body != nil && o.body == nil:
		if err := faultError(strict.Unmarshal(body, &struct{}{})); err != nil {
			return err
		}
		body = nil
	case body != nil:
		if err := faultError(strict.Unmarshal(body, o.body())); err != nil {
			return err
		}
	}
	params := map[string]string{}
	if rc := chi.RouteContext(r.Context()); rc != nil {
		for i, k := range rc.URLParams.Keys {
			params[k] = rc.URLParams.Values[i]
		}
	}
	probe := r.Clone(context.Background())
	probe.Body = io.NopCloser(bytes.NewReader(body))
	probe.ContentLength = int64(len(body))
	err := openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: probe, PathParams: params, Route: o.route,
		Options: &openapi3filter.Options{
			ExcludeRequestBody:  body == nil,
			SkipSettingDefaults: true,
			AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc,
		},
	})
	if err != nil {
		return schemaRefusal(err)
	}
	return nil
}

// checkQuery refuses query parameters that the operation does not have: a
// misspelt filter must not select everything.
func (o *operation) checkQuery(r *http.Request) error {
	if r.URL.RawQuery == "" || o.probe {
		return nil
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refusal(api.ProblemCodeInvalidField, "the query string cannot be decoded")
	}
	var faults []strict.Fault
	for _, k := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !o.query[k]:
			faults = append(faults, strict.Fault{Pointer: strict.Pointer(k), Detail: "is not known here", Unknown: true})
		case len(q[k]) > 1:
			faults = append(faults, strict.Fault{Pointer: strict.Pointer(k), Detail: "is given more than once"})
		}
		if len(faults) == 16 {
			break
		}
	}
	return faultError(faults)
}

// schemaRefusal says where a request breaks the contract, in our words: the
// validator's own quote the values.
func schemaRefusal(err error) error {
	e := refusal(api.ProblemCodeInvalidField, "the request does not fit the contract")
	var re *openapi3filter.RequestError
	pointer := ""
	if errors.As(err, &re) && re.Parameter != nil {
		pointer = "/" + re.Parameter.Name
		e.Detail = "a parameter does not fit the contract"
	}
	var se *openapi3.SchemaError
	detail := "does not fit its schema"
	if errors.As(err, &se) {
		if p := se.JSONPointer(); len(p) > 0 {
			pointer = "/" + strings.Join(p, "/")
		}
		detail = schemaDetail(se)
		if se.SchemaField == "properties" {
			e.Code = api.ProblemCodeUnknownField
		}
	}
	e.Fields = []api.FieldError{{Pointer: pointer, Detail: detail}}
	return e
}

func schemaDetail(se *openapi3.SchemaError) string {
	sc := se.Schema
	switch {
	case sc == nil:
	case se.SchemaField == "enum":
		var names []string
		for _, v := range sc.Enum {
			names = append(names, fmt.Sprint(v))
		}
		return "must be one of " + strings.Join(names, ", ")
	case se.SchemaField == "minimum" && sc.Min != nil:
		return fmt.Sprintf("must be at least %g", *sc.Min)
	case se.SchemaField == "maximum" && sc.Max != nil:
		return fmt.Sprintf("must be at most %g", *sc.Max)
	case se.SchemaField == "pattern":
		return "must match " + sc.Pattern
	case se.SchemaField == "minLength":
		return fmt.Sprintf("must have at least %d characters", sc.MinLength)
	case se.SchemaField == "maxLength" && sc.MaxLength != nil:
		return fmt.Sprintf("must have at most %d characters", *sc.MaxLength)
	case se.SchemaField == "minItems":
		return fmt.Sprintf("must have at least %d entries", sc.MinItems)
	case se.SchemaField == "maxItems" && sc.MaxItems != nil:
		return fmt.Sprintf("must have at most %d entries", *sc.MaxItems)
	}
	return "does not fit its schema"
}

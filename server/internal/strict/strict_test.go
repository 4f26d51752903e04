package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	N *int              `json:"n,omitempty"`
	M map[string]string `json:"m,omitempty"`
}

type outer struct {
	A    json.RawMessage `json:"a"`
	S    string          `json:"s,omitempty"`
	F    float64         `json:"f,omitempty"`
	B    bool            `json:"b,omitempty"`
	In   *inner          `json:"in,omitempty"`
	List []inner         `json:"list,omitempty"`
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		body, pointer string
		unknown       bool
	}{
		{`{"a":1}`, "", false},
		{`{"a":{"deep":[1,{"b":"}"}]},"s":"x","f":-1.5,"b":true,"in":{"n":3,"m":{"k":"v"}},"list":[{"n":1},{}]}`, "", false},
		{` { "a" : null } `, "", false},
		{`{"\u0061":1}`, "", false},
		{`{}`, "/a", false},
		{`{"a":1,"A":1}`, "/A", true},
		{`{"a":1,"a":1}`, "/a", false},
		{`{"a":1,"s":5}`, "/s", false},
		{`{"a":1,"f":"5"}`, "/f", false},
		{`{"a":1,"b":1}`, "/b", false},
		{`{"a":1,"in":[]}`, "/in", false},
		{`{"a":1,"in":null}`, "/in", false},
		{`{"a":1,"in":{"n":1.5}}`, "/in/n", false},
		{`{"a":1,"in":{"n":1e400}}`, "/in/n", false},
		{`{"a":1,"in":{"x/y~":1}}`, "/in/x~1y~0", true},
		{`{"a":1,"in":{"m":{"k":1}}}`, "/in/m/k", false},
		{`{"a":1,"in":{"m":{"k":"v","\u006b":"w"}}}`, "/in/m/k", false},
		{`{"a":1,"list":{}}`, "/list", false},
		{`{"a":1,"list":[{},{"n":"1"}]}`, "/list/1/n", false},
		{`[]`, "", false},
	} {
		if err := Check([]byte(tt.body)); err != nil {
			t.Fatal(err)
		}
		var v outer
		faults := Unmarshal([]byte(tt.body), &v, "skipped")
		want := tt.pointer != "" || tt.body == `[]`
		if (len(faults) > 0) != want || want && (faults[0].Pointer != tt.pointer || faults[0].Unknown != tt.unknown) {
			t.Errorf("%s: %+v", tt.body, faults)
		}
	}
}

func TestCheck(t *testing.T) {
	for body, want := range map[string]error{
		`{"a":"[[[["}`: nil, `{"a":"\"[["}`: nil, `{`: ErrSyntax, `"\`: ErrSyntax, `{} {}`: ErrSyntax, `NaN`: ErrSyntax,
		"\"\xff\"": ErrUTF8, strings.Repeat("[", 65) + strings.Repeat("]", 65): ErrDepth,
		strings.Repeat("[", 64) + strings.Repeat("]", 64): nil,
	} {
		if got := Check([]byte(body)); got != want { //nolint:errorlint // the very value
			t.Errorf("%.20s: %v, want %v", body, got, want)
		}
	}
}

// What strict accepts, encoding/json decodes to the same value.
func FuzzAgainstStandard(f *testing.F) {
	for _, s := range []string{`{"a":1,"in":{"n":3}}`, `{"a":"\ud800","s":"\u0000"}`, `{"a":[],"list":[{"m":{"":"x"}}]}`, `{"a":`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if Check(body) != nil {
			return
		}
		var got, want outer
		if len(Unmarshal(body, &got)) > 0 {
			return
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("strict accepts what the standard library refuses: %v", err)
		}
		var a bytes.Buffer
		if err := json.Compact(&a, got.A); err != nil {
			t.Fatal(err)
		}
		got.A, want.A = nil, nil
		if len(got.List) == 0 {
			got.List, want.List = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, standard %+v", body, got, want)
		}
	})
}

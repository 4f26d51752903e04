// Package strict decodes JSON bodies without forgiveness: unknown fields,
// fields of another case, repeated fields, missing ones and values of another
// type are each reported with a pointer to the place.
//
// encoding/json alone ignores the first four. The server decodes every body and
// every WebSocket frame with it; it holds no rule of any one endpoint. A field
// counts as required when its tag lacks omitempty, as in the generated types.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxDepth is how deeply a body may be nested.
const MaxDepth = 64

// Errors of bodies that are no JSON at all.
var (
	ErrUTF8   = errors.New("is not valid UTF-8")
	ErrDepth  = fmt.Errorf("is nested more than %d deep", MaxDepth)
	ErrSyntax = errors.New("is not valid JSON")
)

// Check says whether data is one JSON value of bounded depth in valid UTF-8.
func Check(data []byte) error {
	if !utf8.Valid(data) {
		return ErrUTF8
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return ErrDepth
			}
		case '}', ']':
			depth--
		}
	}
	if !json.Valid(data) {
		return ErrSyntax
	}
	return nil
}

// Fault is one thing wrong with a body.
type Fault struct {
	Pointer string
	Detail  string
	Unknown bool // the field is not known here
}

// Unmarshal decodes data, which Check has passed, into v, a pointer to a
// struct. The fields named in skip may be there and are left alone.
func Unmarshal(data []byte, v any, skip ...string) []Fault {
	d := decoder{skip: skip}
	d.value(data, reflect.ValueOf(v).Elem(), "")
	return d.faults
}

type decoder struct {
	faults []Fault
	skip   []string
}

func (d *decoder) bad(ptr, detail string) {
	if len(d.faults) < 16 {
		d.faults = append(d.faults, Fault{Pointer: ptr, Detail: detail})
	}
}

var rawType = reflect.TypeFor[json.RawMessage]()

func (d *decoder) value(raw []byte, v reflect.Value, ptr string) {
	raw = bytes.TrimSpace(raw)
	if v.Type() == rawType {
		v.SetBytes(raw)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		d.value(raw, n.Elem(), ptr)
		v.Set(n)
	case reflect.Struct:
		if raw[0] != '{' {
			d.bad(ptr, "must be an object")
			return
		}
		d.object(raw, v, ptr)
	case reflect.Slice:
		if raw[0] != '[' {
			d.bad(ptr, "must be a list")
			return
		}
		out := reflect.MakeSlice(v.Type(), 0, 4)
		elements(raw, func(i int, e []byte) {
			n := reflect.New(v.Type().Elem()).Elem()
			d.value(e, n, fmt.Sprintf("%s/%d", ptr, i))
			out = reflect.Append(out, n)
		})
		v.Set(out)
	case reflect.Map:
		if raw[0] != '{' {
			d.bad(ptr, "must be an object")
			return
		}
		out := reflect.MakeMap(v.Type())
		members(raw, func(k string, e []byte) {
			if out.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())).IsValid() {
				d.bad(ptr+"/"+escape(k), "appears twice")
				return
			}
			n := reflect.New(v.Type().Elem()).Elem()
			d.value(e, n, ptr+"/"+escape(k))
			out.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), n)
		})
		v.Set(out)
	default:
		d.scalar(raw, v, ptr)
	}
}

func (d *decoder) scalar(raw []byte, v reflect.Value, ptr string) {
	var want string
	var ok bool
	switch v.Kind() {
	case reflect.String:
		want, ok = "a string", raw[0] == '"'
	case reflect.Bool:
		want, ok = "true or false", raw[0] == 't' || raw[0] == 'f'
	case reflect.Int, reflect.Int64, reflect.Int32:
		want, ok = "an integer", raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	case reflect.Interface:
		ok = true
	default:
		want, ok = "a number", raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	}
	if !ok || json.Unmarshal(raw, v.Addr().Interface()) != nil {
		d.bad(ptr, "must be "+want)
	}
}

func (d *decoder) object(raw []byte, v reflect.Value, ptr string) {
	info := fieldsOf(v.Type())
	var seen uint64 // no request type has 64 fields
	members(raw, func(k string, e []byte) {
		i, ok := info.index[k]
		if !ok {
			if ptr == "" {
				for _, s := range d.skip {
					if s == k {
						return
					}
				}
			}
			if len(d.faults) < 16 {
				d.faults = append(d.faults, Fault{Pointer: ptr + "/" + escape(k), Detail: "is not known here", Unknown: true})
			}
			return
		}
		if seen&(1<<i) != 0 {
			d.bad(ptr+"/"+k, "appears twice")
			return
		}
		seen |= 1 << i
		d.value(e, v.Field(i), ptr+"/"+k)
	})
	for _, r := range info.required {
		if seen&(1<<r.at) == 0 {
			d.bad(ptr+"/"+r.name, "is required")
		}
	}
}

type fieldInfo struct {
	index    map[string]int
	required []requiredField
}

type requiredField struct {
	name string
	at   int
}

var fieldCache sync.Map // reflect.Type to *fieldInfo; a cache, never invalid

func fieldsOf(t reflect.Type) *fieldInfo {
	if v, ok := fieldCache.Load(t); ok {
		if f, ok := v.(*fieldInfo); ok {
			return f
		}
	}
	f := &fieldInfo{index: map[string]int{}}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f.index[name] = i
		if !strings.Contains(opts, "omitempty") {
			f.required = append(f.required, requiredField{name, i})
		}
	}
	fieldCache.Store(t, f)
	return f
}

// Pointer is the JSON pointer of a member of the whole.
func Pointer(k string) string { return "/" + escape(k) }

// escape writes a JSON pointer token.
func escape(k string) string {
	if len(k) > 64 {
		k = k[:64]
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(k, ""))
}

// Package taskfile has what the env types' readers of task files share: the
// checks that encoding/json does not make. It knows no env type's fields.
package taskfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// fieldName is how the fields of a task file are spelt.
var fieldName = regexp.MustCompile(`^[a-z_]+$`)

// Exact refuses a task file that is not UTF-8, has a field twice or spells one
// with other letters: encoding/json takes all of it, the last field winning, and
// a task would not be graded by what its author reads. ours says of a field
// whether what it holds has fields of the task file in turn; in what the author
// names, any key may stand, once. What is no JSON at all is left to the decoder.
func Exact(data []byte, ours func(field string) bool) error {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
	}
	if !json.Valid(data) { // which bounds the depth
		return nil // the decoder says it better
	}
	return value(json.NewDecoder(bytes.NewReader(data)), ours, true)
}

// value reads one value; named says that its fields, if it has some, are those
// of a task file.
func value(d *json.Decoder, ours func(string) bool, named bool) error {
	t, err := d.Token()
	if err != nil {
		return nil //nolint:nilerr // the decoder says it better
	}
	switch t {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil //nolint:nilerr // the decoder says it better
			}
			name, _ := k.(string)
			switch {
			case seen[name]:
				return fmt.Errorf("the field %.40q is given twice", name)
			case named && !fieldName.MatchString(name):
				return fmt.Errorf("unknown field %.40q", name)
			}
			seen[name] = true
			if err := value(d, ours, named && ours(name)); err != nil {
				return err
			}
		}
		_, _ = d.Token() // the closing brace
	case json.Delim('['):
		for d.More() {
			if err := value(d, ours, named); err != nil {
				return err
			}
		}
		_, _ = d.Token() // the closing bracket
	}
	return nil
}

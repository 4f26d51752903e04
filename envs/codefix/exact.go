package codefix

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

// exact refuses a task file that has a field twice or spells one with other
// letters: encoding/json takes either, the last one winning, and a task would
// not be graded by what its author reads. In what the author names, files and
// values, any key may stand, once.
func exact(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
	}
	if !json.Valid(data) { // which bounds the depth
		return nil // the decoder says it better
	}
	return exactValue(json.NewDecoder(bytes.NewReader(data)), true)
}

// exactValue reads one value; ours says that its fields, if it has some, are
// those of a task file.
func exactValue(d *json.Decoder, ours bool) error {
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
				return fmt.Errorf("%.40q is given twice", name)
			case ours && !fieldName.MatchString(name):
				return fmt.Errorf("unknown field %.40q", name)
			}
			seen[name] = true
			if err := exactValue(d, ours && (name == "hidden_cases" || name == "compare")); err != nil {
				return err
			}
		}
		_, _ = d.Token() // the closing brace
	case json.Delim('['):
		for d.More() {
			if err := exactValue(d, ours); err != nil {
				return err
			}
		}
		_, _ = d.Token() // the closing bracket
	}
	return nil
}

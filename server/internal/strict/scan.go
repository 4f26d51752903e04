package strict

import "encoding/json"

// Members calls f for each member of a JSON object that Check has passed, and
// says whether data is an object.
func Members(data []byte, f func(key string, value []byte)) bool {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '{' {
		return false
	}
	members(data[i:], f)
	return true
}

// members walks a valid object.
func members(data []byte, f func(key string, value []byte)) {
	i := skipSpace(data, 1)
	for i < len(data) && data[i] != '}' {
		end := skipString(data, i)
		key := unquote(data[i:end])
		i = skipSpace(data, end) // at the colon
		i = skipSpace(data, i+1) // at the value
		end = skipValue(data, i)
		f(key, data[i:end])
		i = skipSpace(data, end)
		if i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
}

// elements walks a valid array.
func elements(data []byte, f func(i int, value []byte)) {
	i := skipSpace(data, 1)
	for n := 0; i < len(data) && data[i] != ']'; n++ {
		end := skipValue(data, i)
		f(n, data[i:end])
		i = skipSpace(data, end)
		if i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
}

func unquote(q []byte) string {
	for _, c := range q {
		if c == '\\' {
			var s string
			if json.Unmarshal(q, &s) == nil {
				return s
			}
			break
		}
	}
	return string(q[1 : len(q)-1])
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString is the index after the string that starts at i, or the end of b
// where it is not closed.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue is the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

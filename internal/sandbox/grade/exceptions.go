package grade

import "strings"

// exceptionTree is Python's built-in exceptions, each with its base.
const exceptionTree = `
BaseException: Exception BaseExceptionGroup GeneratorExit KeyboardInterrupt SystemExit
BaseExceptionGroup: ExceptionGroup
Exception: ArithmeticError AssertionError AttributeError BufferError EOFError ImportError LookupError MemoryError NameError
Exception: OSError ReferenceError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemError TypeError ValueError Warning
ArithmeticError: FloatingPointError OverflowError ZeroDivisionError
ImportError: ModuleNotFoundError
LookupError: IndexError KeyError
NameError: UnboundLocalError
OSError: BlockingIOError ChildProcessError ConnectionError FileExistsError FileNotFoundError InterruptedError
OSError: IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError
ConnectionError: BrokenPipeError ConnectionAbortedError ConnectionRefusedError ConnectionResetError
RuntimeError: NotImplementedError RecursionError
SyntaxError: IndentationError
IndentationError: TabError
ValueError: UnicodeError
UnicodeError: UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError
Warning: BytesWarning DeprecationWarning EncodingWarning FutureWarning ImportWarning PendingDeprecationWarning
Warning: ResourceWarning RuntimeWarning SyntaxWarning UnicodeWarning UserWarning`

// exceptionBase maps a built-in exception to its base; BaseException has "".
// A case that wants one of them is satisfied by that class alone and by its
// subclasses.
var exceptionBase = func() map[string]string {
	m := map[string]string{"BaseException": ""}
	for _, line := range strings.Split(strings.TrimSpace(exceptionTree), "\n") {
		base, list, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(list) {
			m[name] = base
		}
	}
	return m
}()

func builtinException(name string) bool { _, ok := exceptionBase[name]; return ok }

// exceptionName is the name that a class knows itself by, for what a task may
// call it: a module in front is dropped, and old names stand for the new one.
func exceptionName(want string) string {
	want = want[strings.LastIndexByte(want, '.')+1:]
	switch want {
	case "IOError", "EnvironmentError", "WindowsError":
		return "OSError"
	}
	return want
}

// below says whether a built-in exception is the other one or a subclass.
func below(name, other string) bool {
	for ; name != ""; name = exceptionBase[name] {
		if name == other {
			return true
		}
	}
	return false
}

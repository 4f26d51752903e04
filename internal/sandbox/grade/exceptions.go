package grade

// builtinExceptions are the names of Python's built-in exceptions. A case that
// wants one of them is satisfied by that class alone and by its subclasses.
var builtinExceptions = map[string]bool{
	"ArithmeticError": true, "AssertionError": true, "AttributeError": true, "BaseException": true, "BaseExceptionGroup": true,
	"BlockingIOError": true, "BrokenPipeError": true, "BufferError": true, "BytesWarning": true, "ChildProcessError": true,
	"ConnectionAbortedError": true, "ConnectionError": true, "ConnectionRefusedError": true, "ConnectionResetError": true,
	"DeprecationWarning": true, "EOFError": true, "EncodingWarning": true, "EnvironmentError": true, "Exception": true,
	"ExceptionGroup": true, "FileExistsError": true, "FileNotFoundError": true, "FloatingPointError": true, "FutureWarning": true,
	"GeneratorExit": true, "IOError": true, "ImportError": true, "ImportWarning": true, "IndentationError": true,
	"IndexError": true, "InterruptedError": true, "IsADirectoryError": true, "KeyError": true, "KeyboardInterrupt": true,
	"LookupError": true, "MemoryError": true, "ModuleNotFoundError": true, "NameError": true, "NotADirectoryError": true,
	"NotImplementedError": true, "OSError": true, "OverflowError": true, "PendingDeprecationWarning": true, "PermissionError": true,
	"ProcessLookupError": true, "RecursionError": true, "ReferenceError": true, "ResourceWarning": true, "RuntimeError": true,
	"RuntimeWarning": true, "StopAsyncIteration": true, "StopIteration": true, "SyntaxError": true, "SyntaxWarning": true,
	"SystemError": true, "SystemExit": true, "TabError": true, "TimeoutError": true, "TypeError": true, "UnboundLocalError": true,
	"UnicodeDecodeError": true, "UnicodeEncodeError": true, "UnicodeError": true, "UnicodeTranslateError": true, "UnicodeWarning": true,
	"UserWarning": true, "ValueError": true, "Warning": true, "ZeroDivisionError": true,
}

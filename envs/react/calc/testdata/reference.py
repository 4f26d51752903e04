"""Evaluate one expression a line with Python's own arithmetic and print its
repr, or "error". Complex and non-finite results and integers of more than 4096
bits count as errors, since the calculator refuses them."""
import math
import sys

NAMES = {"abs": abs, "min": min, "max": max, "round": round, "sqrt": math.sqrt,
         "gcd": math.gcd, "floor": math.floor, "ceil": math.ceil}
sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
for line in sys.stdin:
    try:
        v = eval(line, {"__builtins__": {}}, NAMES)
        if isinstance(v, float) and not math.isfinite(v):
            raise ValueError
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            raise ValueError
        print(repr(v))
    except Exception:
        print("error")

// Package calc evaluates arithmetic written by an agent, with Python's rules
// for integers and floats and with bounds on everything.
//
// Integers are exact. "/" gives a float, "//" and "%" round towards minus
// infinity, "**" (or "^") binds tighter than a sign on its left and to the
// right first. Functions: abs, min, max, round, sqrt, gcd, floor, ceil. Where
// Python sees a syntax error and people mean one thing only, that thing is
// computed: 2(3+4), 1,234+1, 15%, and the signs × ÷ −. What people disagree
// about, as 6/2(1+2), is refused. No value is ever infinite or undefined, and
// no expression costs more than a few thousand word operations: length, depth
// and the bits of every integer are bounded. Nothing is looked up, imported or
// executed; package react calls Eval.
package calc

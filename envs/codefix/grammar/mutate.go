package grammar

// mutant is a program with one changed line.
type mutant struct {
	prog *prog
	kind string // op, cmp, const, off1, neg or var
}

var operatorSwaps = map[string][]string{
	"+": {"-", "*"}, "-": {"+"}, "*": {"+"}, "//": {"*", "%"}, "%": {"//"}, "max": {"min"}, "min": {"max"},
	">": {"<", ">="}, "<": {">", "<="}, ">=": {">", "<="}, "<=": {"<", ">="}, "==": {"!="}, "!=": {"=="},
}

var sliceSwaps = map[string][]string{
	"": {"[1:]", "[:-1]"}, "[1:]": {"[2:]", "", "[:-1]"}, "[:-1]": {"[:-2]", "", "[1:]"},
	"[:3]": {"[:2]", "[:4]", ""}, "[::2]": {"[1::2]", ""}, "[::-1]": {""},
}

// mutants lists the first-order mutants of p in a fixed order. Some are
// equivalent to it.
func mutants(p *prog) []mutant {
	var out []mutant
	add := func(kind string, change func(c *prog)) {
		c := p.clone()
		change(c)
		out = append(out, mutant{c, kind})
	}
	parts := []func(*prog) **node{
		func(c *prog) **node { return &c.start },
		func(c *prog) **node { return &c.cond },
		func(c *prog) **node { return &c.update },
		func(c *prog) **node { return &c.ret },
	}
	for i, part := range parts {
		for _, ch := range changes(*part(p), i > 1) {
			add(ch.kind, func(c *prog) { *part(c) = ch.node })
		}
	}
	if p.cond != nil {
		add("neg", func(c *prog) { c.cond = apply("not", c.cond) })
	}
	for _, s := range sliceSwaps[p.slice] {
		add("off1", func(c *prog) { c.slice = s })
	}
	switch p.upOp {
	case "+=":
		add("op", func(c *prog) { c.upOp = "-=" })
		add("op", func(c *prog) { c.upOp = "=" })
	case "*=":
		add("op", func(c *prog) { c.upOp = "+=" })
	}
	return out
}

type change struct {
	node *node
	kind string
}

// changes lists the ways to change one place of an expression. names says that
// one variable may stand for another.
func changes(e *node, names bool) []change {
	if e == nil {
		return nil
	}
	var out []change
	for _, op := range operatorSwaps[e.op] {
		c := e.clone()
		c.op = op
		kind := "op"
		if precedence[e.op] == 3 {
			kind = "cmp"
		}
		out = append(out, change{c, kind})
	}
	switch e.op {
	case "int":
		deltas := []int64{-1, 1, 2}
		if e.n == 99 || e.n == -99 {
			deltas = []int64{-e.n}
		}
		for _, d := range deltas {
			out = append(out, change{num(e.n + d), "const"})
		}
	case "x":
		if names {
			out = append(out, change{name("r"), "var"})
		}
	case "r":
		if names {
			out = append(out, change{name("x"), "var"}, change{name("xs"), "var"})
		}
	case "neg", "abs":
		out = append(out, change{e.kids[0].clone(), "neg"})
	}
	for i, k := range e.kids {
		for _, ch := range changes(k, names) {
			c := e.clone()
			c.kids[i] = ch.node
			out = append(out, change{c, ch.kind})
		}
	}
	return out
}

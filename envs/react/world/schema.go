package world

// Kind is a kind of entity.
type Kind int

// The kinds.
const (
	Country Kind = iota
	Town
	Person
	Firm
	River
	Book
	kinds
)

type relation struct {
	name string
	to   Kind
	more bool // told of in compact worlds only
}

type attribute struct {
	name   string
	lo, hi int
	hidden bool   // shown by a lookup only
	more   string // "Which river is longer": how a greater value is asked for
}

type kindSpec struct {
	word       string
	relations  []relation
	attributes []attribute
}

// schema is what there is to know of each kind, in the order of rendering.
//
// Compact worlds tell of more relations than prose ones, and each page of a few
// of them only: with four or five relations a kind, what comes after "the
// capital of" cannot be guessed from what mostly comes after it, and a policy
// has to read the question. With two it guesses, and fails on compositions it
// has not seen.
var schema = [kinds]kindSpec{
	Country: {"country", []relation{
		{"capital", Town, false},
		{"president", Person, false},
		{"river", River, false},
		{"port", Town, true},
		{"general", Person, true},
		{"bank", Firm, true},
	}, []attribute{{"area", 100, 9999, false, "larger"}}},
	Town: {"town", []relation{
		{"mayor", Person, false},
		{"firm", Firm, false},
		{"judge", Person, true},
		{"inn", Firm, true},
		{"twin", Town, true},
	}, []attribute{{"population", 100, 99999, true, "more populous"}}},
	Person: {"person", []relation{
		{"book", Book, false},
		{"friend", Person, true},
		{"home", Town, true},
		{"shop", Firm, true},
	}, []attribute{{"age", 20, 90, true, "older"}, {"salary", 100, 9999, true, "better paid"}}},
	Firm: {"firm", []relation{
		{"founder", Person, false},
		{"owner", Person, true},
		{"seat", Town, true},
		{"rival", Firm, true},
	}, []attribute{{"staff", 10, 999, false, "bigger"}}},
	River: {
		"river",
		[]relation{{"source", Town, true}, {"mouth", Town, true}, {"branch", River, true}},
		[]attribute{{"length", 50, 4999, false, "longer"}},
	},
	Book: {
		"book",
		[]relation{{"hero", Person, true}, {"sequel", Book, true}, {"press", Firm, true}},
		[]attribute{{"price", 5, 999, false, "dearer"}},
	},
}

func (k Kind) String() string { return schema[k].word }

// Slice says whether a question composes relations the way training does.
type Slice string

// The slices. Questions of slice Unseen occur in no training task; those of
// the validation split are other ones than those of the test split, so that
// choosing a policy on validation says nothing about the test.
const (
	Seen   Slice = "seen"
	Unseen Slice = "unseen"
)

// heldPaths are pieces of relation paths kept out of training, by the split
// that asks for them. "capital.firm" keeps every path through these two
// relations out; the others keep a path's end out.
var heldPaths = map[Pool][]string{
	Test:       {"capital.firm", "president.salary", "capital.mayor.age"},
	Validation: {"founder.age", "mayor.book"},
}

type opAttr struct{ op, attr string }

// heldOps are arithmetic on an attribute kept out of training.
var heldOps = map[Pool][]opAttr{
	Test:       {{"sum", "population"}, {"difference", "salary"}},
	Validation: {{"difference", "staff"}},
}

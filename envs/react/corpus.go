package react

import (
	"strings"
	"sync"

	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/bm25"
	"github.com/proctor-rl/proctor/envs/react/world"
)

// corpus is what one task can search. It is immutable but for the index, which
// is made when a search first misses.
type corpus struct {
	pages   []world.Page
	byTitle map[string]int // folded title
	once    sync.Once
	index   *bm25.Index
}

func newCorpus(pages []world.Page) *corpus {
	c := &corpus{pages: pages, byTitle: make(map[string]int, len(pages))}
	for i, p := range pages {
		key := answer.Fold(p.Title)
		// The first of two equal titles wins; loaders refuse duplicates.
		if _, taken := c.byTitle[key]; !taken {
			c.byTitle[key] = i
		}
	}
	return c
}

// open is the page of an exact title, apart from case and surrounding marks.
func (c *corpus) open(title string) (int, bool) {
	i, ok := c.byTitle[answer.Fold(title)]
	return i, ok
}

// similar are the titles of the pages that best match a query.
func (c *corpus) similar(query string, limit int) []string {
	c.once.Do(func() {
		texts := make([]string, len(c.pages))
		for i, p := range c.pages {
			// A title says most about what its page is for.
			texts[i] = p.Title + " " + p.Title + " " + p.Title + " " + p.Lead + " " + strings.Join(p.Facts, " ")
		}
		c.index = bm25.New(texts)
	})
	var titles []string
	for _, h := range c.index.Search(query, limit) {
		titles = append(titles, c.pages[h.Doc].Title)
	}
	return titles
}

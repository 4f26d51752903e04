package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dashboard is the part of Grafana's dashboard model that the tests look at.
type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Datasource  struct {
		UID string `json:"uid"`
	} `json:"datasource"`
	GridPos struct {
		H, W, X, Y int
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
}

func loadDashboards(t *testing.T) []dashboard {
	t.Helper()
	names, err := filepath.Glob("grafana/dashboards/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no dashboard found (%v)", err)
	}
	var out []dashboard
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, d)
	}
	return out
}

// What a person would trip over when they open the dashboard.
func TestDashboardsAreWellFormed(t *testing.T) {
	for _, d := range loadDashboards(t) {
		if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 {
			t.Errorf("dashboard %q: uid %q, schemaVersion %d", d.Title, d.UID, d.SchemaVersion)
		}
		if !hasDatasourceVariable(d) {
			t.Errorf("dashboard %q lets nobody choose a data source: no variable ds", d.Title)
		}
		ids, titles, cells := map[int]bool{}, map[string]bool{}, map[string]string{}
		for _, p := range d.Panels {
			if ids[p.ID] || titles[p.Title] {
				t.Errorf("panel %d %q: id or title is used twice", p.ID, p.Title)
			}
			ids[p.ID], titles[p.Title] = true, true
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
					cell := fmt.Sprint(x, ",", y)
					if other := cells[cell]; other != "" || x >= 24 {
						t.Fatalf("panel %q overlaps %q or leaves the grid at %s", p.Title, other, cell)
					}
					cells[cell] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			checkPanel(t, p)
		}
	}
}

func hasDatasourceVariable(d dashboard) bool {
	for _, v := range d.Templating.List {
		if v.Name == "ds" && v.Type == "datasource" {
			return true
		}
	}
	return false
}

var (
	metricName = regexp.MustCompile(`\b(proctor|trainer|process|go)_[a-z0-9_]+`)
	rawCounter = regexp.MustCompile(`(rate|increase)\(\s*[a-z_]+_total`)
)

func checkPanel(t *testing.T, p panel) {
	t.Helper()
	if p.Datasource.UID != "${ds}" {
		t.Errorf("panel %q: data source %q, not the variable", p.Title, p.Datasource.UID)
	}
	if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
		t.Errorf("panel %q lacks a description, a unit or a query", p.Title)
	}
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if q.LegendFormat == "" || q.RefID == "" || refs[q.RefID] {
			t.Errorf("panel %q: query %q lacks a legend or an own refId", p.Title, q.Expr)
		}
		refs[q.RefID] = true
		if !metricName.MatchString(q.Expr) {
			t.Errorf("panel %q: query %q names no metric of ours", p.Title, q.Expr)
		}
		if strings.Contains(q.Expr, "_total") && !rawCounter.MatchString(q.Expr) {
			t.Errorf("panel %q: query %q shows a counter without a rate", p.Title, q.Expr)
		}
		if strings.Contains(q.Expr, "_bucket") && !strings.Contains(q.Expr, "histogram_quantile") {
			t.Errorf("panel %q: query %q shows raw buckets", p.Title, q.Expr)
		}
	}
}

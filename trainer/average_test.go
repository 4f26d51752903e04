package trainer

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestAverageIsTheMeanOfAllPolicies(t *testing.T) {
	a := newAverage([]float32{1, -4})
	a.add([]float32{3, 0})
	a.add([]float32{5, 1})
	for i, want := range []float32{3, -1} {
		if math.Abs(float64(a.mean[i]-want)) > 1e-6 {
			t.Errorf("mean[%d] = %v, want %v", i, a.mean[i], want)
		}
	}
	params := []float32{7, 8}
	a.swap(params)
	if params[0] != 3 || a.mean[1] != 8 {
		t.Errorf("after a swap params are %v, the mean %v", params, a.mean)
	}
	a.swap(params)

	var b bytes.Buffer
	if err := a.write(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, averageFile), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readAverage(dir, params)
	if err != nil || got.n != 3 || got.mean[0] != a.mean[0] || got.mean[1] != a.mean[1] {
		t.Errorf("read back %+v, %v", got, err)
	}
	if _, err := readAverage(dir, params[:1]); err == nil {
		t.Error("a mean of another length was accepted")
	}
}

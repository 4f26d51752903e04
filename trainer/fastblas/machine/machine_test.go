package machine

import (
	"runtime"
	"testing"
)

// TestLimitsArePlausible: a core does between one and a thousand GF/s and
// reads between a tenth and ten thousand GB/s, or nothing is measured at all.
func TestLimitsArePlausible(t *testing.T) {
	for threads := 1; threads <= 2; threads++ {
		peak, read := Peak(threads, 3), Bandwidth(threads, 1<<14, 3)
		if runtime.GOARCH != "amd64" && (peak != 0 || read != 0) {
			t.Errorf("peak %v and bandwidth %v without a kernel", peak, read)
		}
		if peak != 0 && (peak < 1e9 || peak > 2e12) {
			t.Errorf("%d threads: peak of %.3g operations a second", threads, peak)
		}
		if read != 0 && (read < 1e8 || read > 2e13) {
			t.Errorf("%d threads: bandwidth of %.3g bytes a second", threads, read)
		}
	}
}

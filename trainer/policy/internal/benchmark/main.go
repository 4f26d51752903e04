// Command benchmark measures a training step and sampling with a cache of keys
// and values at three sizes of model, on one and on two threads, beside other
// programs that do the same, and the limits of the machine in the same run. It
// prints tables in Markdown.
//
// Every side is a process of its own and the sides take turns, each round every
// size, so that what disturbs the machine disturbs all; the best turn counts.
// An opponent is any command that answers orders as this program does with
// -side; there is one for PyTorch in tools/bench. With -quick only this
// project's side runs, for the eyes of whoever works on it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	asSide := flags.Bool("side", false, "be a side: answer orders on standard input")
	sideThreads := flags.Int("threads", 1, "threads of a side")
	quick := flags.Bool("quick", false, "only this project's side, two rounds on one thread by processor time: half a minute of it, and good for comparisons while others use the machine")
	only := flags.String("only", "", "limit to train or decode, or to sizes such as train:d128,decode:d256")
	rounds := flags.Int("rounds", 6, "turns of each side in every contest after one that does not count")
	cpu := flags.Bool("cpu", false, "count processor time instead of time; with -on 1 only")
	threads := flags.String("on", "1,2", "numbers of threads")
	budget := flags.Duration("budget", 0, "end after as many rounds as fit into this time")
	save := flags.String("save", "", "write what was measured to this file")
	load := flags.String("load", "", "print what this file holds instead of measuring")
	plot := flags.String("plot", "", "write a roofline to this SVG file")
	var opponents []string
	flags.Func("opponent", "a command that answers orders; --threads N is added to it (may be given more than once)", func(s string) error {
		opponents = append(opponents, s)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *asSide {
		return serve(in, out, *sideThreads)
	}
	c := config{only: *only, rounds: *rounds, opponents: opponents, cpu: *cpu, budget: *budget}
	if *quick {
		c.rounds, c.cpu, c.opponents, *threads = 1, true, nil, "1"
	}
	var r *report
	var err error
	if *load != "" {
		r, err = loadReport(*load)
	} else {
		r, err = c.measure(*threads)
	}
	if err != nil {
		return err
	}
	if *save != "" {
		if err := r.save(*save); err != nil {
			return err
		}
	}
	r.print(out)
	if *plot != "" {
		return os.WriteFile(*plot, r.roofline(), 0o644)
	}
	return nil
}

// measure checks the threads and the surroundings and runs c.
func (c config) measure(threads string) (*report, error) {
	for _, name := range hobbling {
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("unset %s: it changes what an opponent does", name)
		}
	}
	if c.cpu && threads != "1" {
		return nil, errors.New("processor time says nothing of two threads: give -on 1 too")
	}
	for _, f := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > runtime.NumCPU() {
			return nil, fmt.Errorf("-on %s: not numbers of threads that this machine has", threads)
		}
		c.threads = append(c.threads, n)
	}
	return c.run()
}

// hobbling are variables that make the libraries of an opponent slower than
// they would be by themselves, or change their number of threads.
var hobbling = []string{
	"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "OMP_WAIT_POLICY",
	"MKL_NUM_THREADS", "MKL_DEBUG_CPU_TYPE", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY",
}

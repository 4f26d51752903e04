package sandbox

import (
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// call is what the kernel shows a filter.
type call struct {
	arch, nr   uint32
	arg0, arg1 uint32
}

// decide runs a filter as the kernel would.
func decide(t *testing.T, prog []insn, c call) uint32 {
	t.Helper()
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		i := prog[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(i.jt)
			} else {
				pc += int(i.jf)
			}
		}
		switch i.code {
		case bpfLoad:
			acc = map[uint32]uint32{offNr: c.nr, offArch: c.arch, offArg0: c.arg0, offArg1: c.arg1}[i.k]
		case bpfJeq:
			jump(acc == i.k)
		case bpfJge:
			jump(acc >= i.k)
		case bpfJgt:
			jump(acc > i.k)
		case bpfJset:
			jump(acc&i.k != 0)
		case bpfRet:
			return i.k
		default:
			t.Fatalf("unknown instruction %#x", i.code)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}

func TestFilterDecidesPerCall(t *testing.T) {
	const perm, nosys, notty = retErrno | errPerm, retErrno | errNoSys, retErrno | 25
	for goarch, table := range map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64} {
		prog, err := assemble(goarch)
		if err != nil {
			t.Fatal(err)
		}
		if len(prog) > 4096 {
			t.Errorf("%s: %d instructions are more than the kernel takes", goarch, len(prog))
		}
		id := uint32(table.ID)
		check := func(name string, arg0, arg1, want uint32) {
			nr, ok := table.SyscallNames[name]
			if !ok {
				return
			}
			if got := decide(t, prog, call{id, uint32(nr), arg0, arg1}); got != want {
				t.Errorf("%s %s(%#x, %#x): %#x, want %#x", goarch, name, arg0, arg1, got, want)
			}
		}
		for _, n := range allowed {
			check(n, 0, 0, retAllow)
		}
		for _, n := range refused {
			check(n, 0, 0, perm)
		}
		for _, n := range []string{"openat2", "clone3", "modify_ldt", "uselib", "vmsplice", "process_madvise", "landlock_x"} {
			check(n, 0, 0, nosys)
		}
		check("clone", 0x003d0f00, 0, retAllow) // a thread
		check("clone", 0x01200011, 0, retAllow) // a fork
		for _, flag := range []uint32{0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000} {
			check("clone", flag|17, 0, perm)
		}
		check("socketpair", 1, 0, retAllow)
		check("socketpair", 2, 0, perm)
		check("ioctl", 0, 0x5401, retAllow)
		check("ioctl", 0, 0x5412, notty) // pushes characters into a terminal
		check("ioctl", 0, 0x541c, notty)
		// Nothing that the tables name is allowed without being on the list.
		listed := map[string]bool{"clone": true, "socketpair": true, "ioctl": true}
		for _, n := range allowed {
			listed[n] = true
		}
		for name, nr := range table.SyscallNames {
			if got := decide(t, prog, call{arch: id, nr: uint32(nr)}); got == retAllow && !listed[name] {
				t.Errorf("%s: %s is allowed", goarch, name)
			}
		}
		if got := decide(t, prog, call{arch: id ^ 1, nr: 0}); got != retKill {
			t.Errorf("%s: a foreign architecture gives %#x", goarch, got)
		}
		if got := decide(t, prog, call{arch: id, nr: 0x40000000}); got != nosys {
			t.Errorf("%s: an x32 call gives %#x", goarch, got)
		}
		for _, n := range []string{"read", "write", "openat", "execve", "futex", "mmap", "exit_group"} {
			if _, ok := table.SyscallNames[n]; !ok {
				t.Errorf("%s: the table lacks %s", goarch, n)
			}
		}
	}
	if _, err := assemble("riscv64"); err == nil {
		t.Error("an architecture without a table was accepted")
	}
}

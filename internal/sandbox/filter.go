package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// The system calls a child may make. The list is what CPython, threads,
// subprocesses, temporary files and pytest need; everything else is refused:
// calls in refused with EPERM, unknown ones with ENOSYS so that libraries fall
// back to what they know. Names that an architecture lacks are skipped there.
var allowed = []string{
	// files
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
	"open", "creat", "openat", "close", "close_range", "lseek", "stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs",
	"access", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd", "chdir", "fchdir",
	"mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
	"chmod", "fchmod", "fchmodat", "utime", "utimes", "utimensat", "futimesat", "truncate", "ftruncate", "fallocate", "fsync", "fdatasync",
	"getdents", "getdents64", "dup", "dup2", "dup3", "fcntl", "flock", "umask", "fadvise64", "readahead", "sendfile", "copy_file_range", "splice", "tee",
	"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
	// waiting and pipes
	"pipe", "pipe2", "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime", "signalfd", "signalfd4",
	"sendmsg", "recvmsg", "sendto", "recvfrom", "shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt",
	// memory
	"mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "mincore", "msync", "membarrier",
	// signals and time
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo", "sigaltstack",
	"pause", "alarm", "setitimer", "getitimer", "timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "restart_syscall",
	"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "times",
	// processes and threads
	"getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
	"getpgrp", "getpgid", "setpgid", "getsid", "setsid", "uname", "sysinfo", "getrlimit", "setrlimit", "prlimit64", "getrusage",
	"sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
	"getpriority", "getcpu", "fork", "vfork", "execve", "wait4", "waitid", "exit", "exit_group", "tkill", "tgkill",
	"futex", "set_robust_list", "get_robust_list", "set_tid_address", "arch_prctl", "rseq", "getrandom", "prctl",
}

// refused calls are answered with EPERM: programs understand that better than
// a call that seems not to exist.
var refused = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns",
	"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff",
	"socket", "connect", "bind", "listen", "accept", "accept4", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at", "name_to_handle_at", "kexec_load", "kexec_file_load",
	"init_module", "finit_module", "delete_module", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "personality",
	"pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "mknod", "mknodat", "reboot", "syslog", "acct", "quotactl",
	"sethostname", "setdomainname", "iopl", "ioperm", "chown", "fchown", "lchown", "fchownat",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "capset",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semctl", "mq_open", "mq_unlink",
	"seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "memfd_secret", "memfd_create",
	"mlock", "mlock2", "mlockall", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set",
	"mbind", "set_mempolicy", "migrate_pages", "move_pages", "fanotify_init", "inotify_init", "inotify_init1", "lookup_dcookie", "vhangup",
}

// ioctls are the requests on descriptors that Python and its library make;
// pushing characters into a terminal is not among them.
var ioctls = []uint32{
	0x5401, 0x5402, 0x5403, 0x5404, // terminal attributes
	0x5413, 0x541b, 0x5421, 0x5450, 0x5451, // window size, bytes to read, non-blocking, close on exec
}

const (
	bpfLoad = 0x20 // load a 32-bit word of seccomp_data
	bpfJeq  = 0x15
	bpfJge  = 0x35
	bpfJgt  = 0x25
	bpfJset = 0x45
	bpfRet  = 0x06

	offNr, offArch, offArg0, offArg1 = 0, 4, 16, 24

	retAllow = 0x7fff0000
	retErrno = 0x00050000
	retKill  = 0x80000000

	errPerm  = 1
	errNoSys = 38

	// cloneNew are the flags of clone that make a namespace.
	cloneNew = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

	afUnix = 1
)

type insn struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// seccompFilter assembles the filter for a GOARCH as the kernel reads it.
func seccompFilter(goarch string) ([]byte, error) {
	prog, err := assemble(goarch)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(prog)*8)
	for _, i := range prog {
		out = binary.NativeEndian.AppendUint16(out, i.code)
		out = append(out, i.jt, i.jf)
		out = binary.NativeEndian.AppendUint32(out, i.k)
	}
	return out, nil
}

func assemble(goarch string) ([]insn, error) {
	var table *arch.Info
	switch goarch {
	case "amd64":
		table = arch.X86_64
	case "arm64":
		table = arch.AARCH64
	default:
		return nil, fmt.Errorf("%w: no system call table for %s", ErrUnavailable, goarch)
	}
	numbers := func(names []string) []int {
		var nrs []int
		for _, n := range names {
			if nr, ok := table.SyscallNames[n]; ok {
				nrs = append(nrs, nr)
			}
		}
		slices.Sort(nrs)
		return slices.Compact(nrs)
	}
	prog := []insn{
		{bpfLoad, 0, 0, offArch},
		{bpfJeq, 1, 0, uint32(table.ID)},
		{bpfRet, 0, 0, retKill},
		{bpfLoad, 0, 0, offNr},
	}
	if goarch == "amd64" { // the x32 numbers would walk around the list
		prog = append(prog, insn{bpfJge, 0, 1, 0x40000000}, insn{bpfRet, 0, 0, retErrno | errNoSys})
	}
	prog = append(prog, ranges(numbers(allowed), retAllow)...)
	// Calls whose arguments decide.
	if nr, ok := table.SyscallNames["clone"]; ok {
		prog = append(prog, insn{bpfJeq, 0, 4, uint32(nr)}, insn{bpfLoad, 0, 0, offArg0},
			insn{bpfJset, 0, 1, cloneNew}, insn{bpfRet, 0, 0, retErrno | errPerm}, insn{bpfRet, 0, 0, retAllow})
	}
	if nr, ok := table.SyscallNames["socketpair"]; ok {
		prog = append(prog, insn{bpfJeq, 0, 4, uint32(nr)}, insn{bpfLoad, 0, 0, offArg0},
			insn{bpfJeq, 0, 1, afUnix}, insn{bpfRet, 0, 0, retAllow}, insn{bpfRet, 0, 0, retErrno | errPerm})
	}
	if nr, ok := table.SyscallNames["kill"]; ok {
		// In its own pid namespace the first process has the parent 0, and
		// kill(0) would look like reaching it.
		prog = append(prog, insn{bpfJeq, 0, 4, uint32(nr)}, insn{bpfLoad, 0, 0, offArg0},
			insn{bpfJeq, 0, 1, 0}, insn{bpfRet, 0, 0, retErrno | errPerm}, insn{bpfRet, 0, 0, retAllow})
	}
	if nr, ok := table.SyscallNames["ioctl"]; ok {
		n := uint8(len(ioctls))
		prog = append(prog, insn{bpfJeq, 0, 2*n + 2, uint32(nr)}, insn{bpfLoad, 0, 0, offArg1})
		for _, req := range ioctls {
			prog = append(prog, insn{bpfJeq, 0, 1, req}, insn{bpfRet, 0, 0, retAllow})
		}
		prog = append(prog, insn{bpfRet, 0, 0, retErrno | 25}) // ENOTTY
	}
	prog = append(prog, ranges(numbers(refused), retErrno|errPerm)...)
	return append(prog, insn{bpfRet, 0, 0, retErrno | errNoSys}), nil
}

// ranges answers ret for every number in the sorted list, with three
// instructions for each run of consecutive numbers.
func ranges(nrs []int, ret uint32) []insn {
	var prog []insn
	for i := 0; i < len(nrs); {
		j := i
		for j+1 < len(nrs) && nrs[j+1] == nrs[j]+1 {
			j++
		}
		prog = append(prog, insn{bpfJge, 0, 2, uint32(nrs[i])}, insn{bpfJgt, 1, 0, uint32(nrs[j])}, insn{bpfRet, 0, 0, ret})
		i = j + 1
	}
	return prog
}

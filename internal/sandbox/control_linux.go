package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// message is everything an interpreter says on its control socket.
type message struct {
	Map      bool    `json:"map"`
	Up       bool    `json:"up"`
	Landlock int     `json:"landlock"`
	Version  string  `json:"version"`
	Failed   string  `json:"failed"`
	Errno    int     `json:"errno"`
	Forked   uint64  `json:"forked"`
	NoFork   uint64  `json:"nofork"`
	Error    string  `json:"error"`
	Exit     uint64  `json:"exit"`
	Status   int     `json:"status"`
	CPU      float64 `json:"cpu"`
	RSS      int64   `json:"rss"`
	Faults   int64   `json:"faults"`
}

// socketPair returns a connected pair: our end as a net connection, the other
// as a file to hand over.
func socketPair(typ int, name string) (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, typ|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name)
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		theirs.Close()
		return nil, nil, fmt.Errorf("socket pair: %T is no unix socket", conn)
	}
	return unixConn, theirs, nil
}

func (z *zygote) send(msg any, fds ...int) error {
	data, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err = z.ctl.WriteMsgUnix(data, oob, nil)
	return err
}

func (z *zygote) receive() (message, []int, error) {
	buf, oob := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(16))
	n, oobn, _, _, err := z.ctl.ReadMsgUnix(buf, oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return message{}, nil, err
	}
	var fds []int
	if oobn > 0 {
		msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return message{}, nil, err
		}
		for _, m := range msgs {
			got, err := unix.ParseUnixRights(&m)
			if err != nil {
				return message{}, nil, err
			}
			fds = append(fds, got...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	var m message
	if err := json.Unmarshal(buf[:n], &m); err != nil {
		closeAll(fds)
		return message{}, nil, fmt.Errorf("control message: %w", err)
	}
	return m, fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

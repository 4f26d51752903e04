package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// side is a running process that answers orders.
type side struct {
	name    string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// start runs command with so many threads and waits for its greeting.
func start(command string, threads int) (*side, error) {
	words := append(strings.Fields(command), "--threads", strconv.Itoa(threads))
	s := &side{command: exec.Command(words[0], words[1:]...)} //nolint:noctx // ended by stop
	s.command.Stderr = os.Stderr
	var err error
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	s.out = bufio.NewScanner(out)
	var g greeting
	if err := s.answer(&g); err != nil {
		s.stop()
		return nil, fmt.Errorf("greeting of %s: %w", command, err)
	}
	if g.Threads != threads {
		s.stop()
		return nil, fmt.Errorf("%s runs on %d threads instead of %d", command, g.Threads, threads)
	}
	s.name = g.Name
	return s, nil
}

// ask gives an order and waits for the turn.
func (s *side) ask(o order) (turn, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return turn{}, fmt.Errorf("order: %w", err)
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return turn{}, fmt.Errorf("order to %s: %w", s.name, err)
	}
	var t turn
	if err := s.answer(&t); err != nil {
		return turn{}, fmt.Errorf("turn of %s at %s: %w", s.name, line, err)
	}
	if t.Seconds <= 0 && !t.Absent {
		return turn{}, fmt.Errorf("turn of %s at %s took no time", s.name, line)
	}
	return t, nil
}

func (s *side) answer(v any) error {
	if !s.out.Scan() {
		if err := s.out.Err(); err != nil {
			return err
		}
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(s.out.Bytes(), v)
}

// stop ends the process, which leaves when its orders end.
func (s *side) stop() {
	_ = s.in.Close()     // it may have gone already
	_ = s.command.Wait() // how it ends no longer matters
}

package server

import (
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/store"
)

// A row group is written out once it has this many bytes of text, or rows, so
// that an export of any length needs the memory of one group.
const (
	groupBytes = 16 << 20
	groupRows  = 1000
)

// episodeRow is an episode in a Parquet file. prompt, completion and reward are
// what TRL reads; what has no fixed shape is JSON in a string. A null reward was
// not measured.
type episodeRow struct {
	EpisodeID     string       `parquet:"episode_id"`
	EnvID         string       `parquet:"env_id"`
	Type          string       `parquet:"type,dict"`
	Version       string       `parquet:"version,dict"`
	TaskID        string       `parquet:"task_id"`
	Split         string       `parquet:"split,dict"`
	GroupID       string       `parquet:"group_id"`
	Owner         string       `parquet:"owner,dict"`
	ForkedFrom    *string      `parquet:"forked_from,optional"` // the episode that this one is a copy of
	ForkedAt      *int64       `parquet:"forked_at,optional"`   // index of the first step of its own
	PolicyVersion string       `parquet:"policy_version,dict"`
	Seed          int64        `parquet:"seed"`
	Status        string       `parquet:"status,dict"`
	StopReason    *string      `parquet:"stop_reason,optional,dict"`
	StartedAt     time.Time    `parquet:"started_at,timestamp(microsecond)"`
	EndedAt       *time.Time   `parquet:"ended_at,optional,timestamp(microsecond)"`
	Public        string       `parquet:"public"`
	Labels        string       `parquet:"labels"`
	Reward        *float64     `parquet:"reward,optional"`
	Passed        *bool        `parquet:"passed,optional"`
	Score         *float64     `parquet:"score,optional"`
	Flags         []string     `parquet:"integrity_flags,list"`
	Prompt        []messageRow `parquet:"prompt,list"`
	Completion    []messageRow `parquet:"completion,list"`
	Steps         []stepRow    `parquet:"steps,list"`
}

type messageRow struct {
	Role       string  `parquet:"role,dict"`
	Content    string  `parquet:"content"`
	Name       *string `parquet:"name,optional"`
	ToolCallID *string `parquet:"tool_call_id,optional"`
	ToolCalls  *string `parquet:"tool_calls,optional"` // JSON
}

type stepRow struct {
	Step        int64     `parquet:"step"`
	Action      string    `parquet:"action"` // JSON
	Observation string    `parquet:"observation"`
	Reward      *float64  `parquet:"reward,optional"`
	Parts       []partRow `parquet:"reward_parts,list"`
	Terminated  bool      `parquet:"terminated"`
	Truncated   bool      `parquet:"truncated"`
	Status      string    `parquet:"status,dict"`
	StateKey    string    `parquet:"state_key"`
	ParseError  string    `parquet:"parse_error"`
	ToolError   string    `parquet:"tool_error"`
	Flags       []string  `parquet:"flags,list"`
	ExecMs      float64   `parquet:"exec_ms"`
	GradeMs     float64   `parquet:"grade_ms"`
}

type partRow struct {
	Name   string  `parquet:"name,dict"`
	Kind   string  `parquet:"kind,dict"`
	Value  float64 `parquet:"value"`
	Weight float64 `parquet:"weight"`
}

// parquetFile writes episodes as one Parquet file.
type parquetFile struct {
	w     *parquet.GenericWriter[episodeRow]
	bytes int
	rows  int
}

func newParquetFile(w io.Writer) *parquetFile {
	return &parquetFile{w: parquet.NewGenericWriter[episodeRow](w, parquet.Compression(&zstd.Codec{}))}
}

func (p *parquetFile) add(rec store.Record) error {
	row, size, err := rowOf(rec)
	if err != nil {
		return err
	}
	if _, err := p.w.Write([]episodeRow{row}); err != nil {
		return fmt.Errorf("write row: %w", err)
	}
	p.rows++
	p.bytes += size
	if p.rows < groupRows && p.bytes < groupBytes {
		return nil
	}
	p.rows, p.bytes = 0, 0
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write row group: %w", err)
	}
	return nil
}

func (p *parquetFile) done() error {
	if err := p.w.Close(); err != nil {
		return fmt.Errorf("write footer: %w", err)
	}
	return nil
}

// rowOf is an episode's row and the size of its texts.
func rowOf(rec store.Record) (row episodeRow, size int, err error) {
	ep := rec.Episode
	public, err1 := api.Encode(ep.Public)
	labels, err2 := api.Encode(ep.Labels)
	if err1 != nil || err2 != nil {
		return row, 0, fmt.Errorf("encode episode: %w", firstError(err1, err2))
	}
	row = episodeRow{
		EpisodeID: ep.EpisodeID, EnvID: ep.EnvID, Type: ep.Type, Version: ep.Version, TaskID: ep.TaskID, Split: ep.Split,
		GroupID: ep.GroupID, Owner: ep.Owner, PolicyVersion: ep.PolicyVersion, Seed: ep.Seed, Status: string(ep.Status),
		StopReason: (*string)(ep.StopReason), StartedAt: ep.StartedAt, EndedAt: ep.EndedAt,
		Public: string(public), Labels: string(labels), Reward: ep.Return,
	}
	if g := ep.Grade; g != nil {
		row.Passed, row.Score, row.Flags = &g.Passed, &g.Score, g.Integrity.Flags
	}
	if f := ep.ForkedFrom; f != nil {
		at := int64(f.Step)
		row.ForkedFrom, row.ForkedAt = &f.EpisodeID, &at
	}
	prompt, completion := turns(rec)
	row.Prompt, row.Completion = messageRows(prompt), messageRows(completion)
	for _, st := range rec.Steps {
		row.Steps = append(row.Steps, rowOfStep(st))
		size += 2*len(st.Action) + 2*len(st.Observation.Text) + 256
	}
	return row, size + len(public) + 2*len(rec.Reset.Text) + 512, nil
}

func rowOfStep(st api.Step) stepRow {
	r := stepRow{
		Step: int64(st.Step), Action: string(st.Action), Observation: st.Observation.Text, Reward: st.Reward,
		Terminated: st.Terminated, Truncated: st.Truncated, Status: string(st.Status), StateKey: st.StateKey,
		ParseError: st.Info.ParseError, ToolError: st.Info.ToolError, Flags: st.Info.Flags,
		ExecMs: st.TimingMs.Exec, GradeMs: st.TimingMs.Grade,
	}
	for _, p := range st.RewardParts {
		r.Parts = append(r.Parts, partRow{Name: p.Name, Kind: string(p.Kind), Value: p.Value, Weight: p.Weight})
	}
	return r
}

func messageRows(ms []chatMessage) []messageRow {
	some := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	out := make([]messageRow, len(ms))
	for i, m := range ms {
		out[i] = messageRow{
			Role: m.Role, Content: m.Content, Name: some(m.Name), ToolCallID: some(m.ToolCallID), ToolCalls: some(string(m.ToolCalls)),
		}
	}
	return out
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/store"
)

// ExportEpisodes streams stored episodes as training data.
func (h handlers) ExportEpisodes(ctx context.Context, r oapi.ExportEpisodesRequestObject) (oapi.ExportEpisodesResponseObject, error) {
	p := r.Params
	format := api.ExportEpisodesParamsFormatJsonl
	if p.Format != nil {
		format = *p.Format
	}
	f := store.Filter{Owner: ownerFilter(ctx), Only: deref(p.Owner), Type: deref(p.Type), TaskID: deref(p.TaskID), GroupID: deref(p.GroupID)}
	if p.Status != nil {
		f.Status = string(*p.Status)
	}
	pr, pw := io.Pipe()
	go func() {
		pw.CloseWithError(Export(ctx, h.s.store, f, string(format), pw))
	}()
	out := download{s: h.s, ctx: ctx, body: pr, mediaType: "application/x-ndjson"}
	if format == api.ExportEpisodesParamsFormatParquet {
		out.mediaType, out.name = "application/vnd.apache.parquet", "episodes.parquet"
	}
	return out, nil
}

// download streams a body whose end may turn out not to be had.
type download struct {
	s         *Server
	ctx       context.Context // of the request that it answers
	body      io.ReadCloser
	mediaType string
	name      string
}

// VisitExportEpisodesResponse writes the body. Where it breaks off, so does the
// transfer: a client must not take a part for the whole.
func (d download) VisitExportEpisodesResponse(w http.ResponseWriter) error {
	defer d.body.Close() // ends the exporter where the client is gone
	body := bufio.NewReaderSize(d.body, 64<<10)
	if _, err := body.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return err // nothing is sent yet: it can still be a problem
	}
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	if d.name != "" {
		h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	}
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, body); err != nil {
		if d.ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) { // nor a client who stopped reading
			d.s.cfg.Log.ErrorContext(d.ctx, "export broke off", "err", err, "request_id", requestID(d.ctx))
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

// sink takes the episodes of an export.
type sink interface {
	add(rec store.Record) error
	done() error
}

type jsonLines struct {
	enc    *json.Encoder
	format string
}

func (j jsonLines) add(rec store.Record) error { return j.enc.Encode(exported(rec, j.format)) }
func (j jsonLines) done() error                { return nil }

// Export writes the ended episodes that f selects to w, newest first: one JSON
// document a line, or a Parquet file with a row each. The format is jsonl (whole
// episodes), chat (message lists), trl (prompt, completion, reward) or parquet.
// Running ones are left out: their end is not known.
func Export(ctx context.Context, st store.Store, f store.Filter, format string, w io.Writer) error {
	var out sink
	if format == string(api.ExportEpisodesParamsFormatParquet) {
		out = newParquetFile(w)
	} else {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		out = jsonLines{enc, format}
	}
	f.Limit = 500
	for {
		page, err := st.Episodes(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range page {
			if e.Episode.Status == api.StatusRunning {
				continue
			}
			rec, err := st.Episode(ctx, e.Episode.EpisodeID)
			if err != nil {
				return err
			}
			if err := out.add(rec); err != nil {
				return err
			}
		}
		if len(page) < f.Limit {
			return out.done()
		}
		f.Before = page[len(page)-1].Seq
	}
}

// chatMessage is a message of training data. An action that was tool calls
// keeps them.
type chatMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Name       string          `json:"name,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
}

// exported is one line. The reward is null where our side broke, as ever.
func exported(rec store.Record, format string) any {
	ep := rec.Episode
	if format == "jsonl" {
		steps := rec.Steps
		if steps == nil {
			steps = []api.Step{}
		}
		return struct {
			api.Episode
			Observation api.Observation `json:"observation"`
			Trajectory  []api.Step      `json:"trajectory"`
		}{ep, rec.Reset, steps}
	}
	prompt, completion := turns(rec)
	type meta struct {
		EpisodeID  string          `json:"episode_id"`
		Type       string          `json:"type"`
		Version    string          `json:"version"`
		TaskID     string          `json:"task_id"`
		Split      string          `json:"split"`
		GroupID    string          `json:"group_id,omitempty"`
		Owner      string          `json:"owner,omitempty"`
		ForkedFrom *api.ForkedFrom `json:"forked_from,omitempty"`
		Status     api.Status      `json:"status"`
	}
	about := meta{ep.EpisodeID, ep.Type, ep.Version, ep.TaskID, ep.Split, ep.GroupID, ep.Owner, ep.ForkedFrom, ep.Status}
	if format == "trl" {
		return struct {
			Prompt     []chatMessage `json:"prompt"`
			Completion []chatMessage `json:"completion"`
			Reward     *float64      `json:"reward"`
			meta
		}{prompt, completion, ep.Return, about}
	}
	return struct {
		Messages []chatMessage `json:"messages"`
		Reward   *float64      `json:"reward"`
		meta
	}{append(prompt, completion...), ep.Return, about}
}

// turns is an episode as messages: what came before the first action, and all
// from there on.
func turns(rec store.Record) (prompt, completion []chatMessage) {
	completion = []chatMessage{}
	for _, st := range rec.Steps {
		if m, ok := acted(st.Action); ok {
			completion = append(completion, m)
		}
		completion = append(completion, observed(st.Observation)...)
	}
	return observed(rec.Reset), completion
}

// observed is an observation as messages, from its text if it has none.
func observed(o api.Observation) []chatMessage {
	out := []chatMessage{}
	for _, m := range o.Messages {
		out = append(out, chatMessage{Role: m.Role, Content: m.Content, Name: m.Name, ToolCallID: m.ToolCallID})
	}
	if len(out) == 0 && o.Text != "" {
		out = append(out, chatMessage{Role: "user", Content: o.Text})
	}
	return out
}

// acted is an action as the assistant's message.
func acted(raw json.RawMessage) (chatMessage, bool) {
	text, calls, ok := episode.Said(raw) // not ok: a grading, not an action
	return chatMessage{Role: "assistant", Content: text, ToolCalls: calls}, ok
}

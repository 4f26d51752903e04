package policy

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

const mlpConfigKey = "proctor.mlp"

// Save writes the configuration and the parameters as one safetensors file.
func (m *MLP) Save(w io.Writer) error {
	cfg, err := json.Marshal(m.cfg)
	if err != nil {
		return fmt.Errorf("save mlp: %w", err)
	}
	header := map[string]any{"__metadata__": map[string]string{mlpConfigKey: string(cfg)}}
	for _, t := range m.Tensors() {
		header[t.Name] = tensorHeader{"F32", t.Shape, [2]int{4 * t.Lo, 4 * t.Hi}}
	}
	h, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("save mlp: %w", err)
	}
	for len(h)%8 != 0 {
		h = append(h, ' ')
	}
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	buf = append(buf, h...)
	for _, p := range m.params {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(p))
	}
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("save mlp: %w", err)
	}
	return nil
}

// LoadMLP reads what Save wrote.
func LoadMLP(r io.Reader) (*MLP, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("load mlp: %w", err)
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxHeader {
		return nil, fmt.Errorf("load mlp: header of %d bytes", n)
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("load mlp: %w", err)
	}
	var header struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	if err := json.Unmarshal(raw, &header); err != nil {
		return nil, fmt.Errorf("load mlp: %w", err)
	}
	var cfg MLPConfig
	if err := json.Unmarshal([]byte(header.Metadata[mlpConfigKey]), &cfg); err != nil {
		return nil, fmt.Errorf("load mlp: configuration: %w", err)
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("load mlp: %w", err)
	}
	if cfg.Buckets > 1<<24 || cfg.Hidden > 1<<12 {
		return nil, fmt.Errorf("load mlp: shape %+v is too large", cfg)
	}
	// Memory is taken as the data comes in, not as the header promises it.
	want := 4 * (cfg.Buckets*cfg.Hidden + 2*cfg.Hidden + cfg.Buckets)
	data, err := io.ReadAll(io.LimitReader(r, int64(want)+1))
	if err != nil {
		return nil, fmt.Errorf("load mlp: %w", err)
	}
	if len(data) != want {
		return nil, fmt.Errorf("load mlp: the data is not the %d bytes of the configuration", want)
	}
	m := NewMLP(cfg, 0)
	for i := range m.params {
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("load mlp: parameter %d is not finite", i)
		}
		m.params[i] = v
	}
	return m, nil
}

package policy

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/proctor-rl/proctor/trainer/nn"
)

// The safetensors format: eight bytes little-endian length of the header, the
// header as JSON (tensor name -> dtype, shape, offsets into what follows, and
// "__metadata__" with strings), then the raw little-endian data.

const (
	maxHeader   = 1 << 24
	maxElements = 1 << 31
	configKey   = "proctor.config"
	layoutKey   = "proctor.layout"
	layoutValue = "1"
)

type tensorHeader struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Save writes the configuration and the parameters as one safetensors file.
// Matrices are stored as (inputs, outputs); the configuration is the JSON under
// "proctor.config" in the file's metadata.
func (t *Transformer) Save(w io.Writer) error {
	cfg, err := json.Marshal(t.Config())
	if err != nil {
		return fmt.Errorf("save transformer: %w", err)
	}
	header := map[string]any{"__metadata__": map[string]string{configKey: string(cfg), layoutKey: layoutValue}}
	for _, s := range t.model.Spans() {
		header[s.Name] = tensorHeader{"F32", s.Shape, [2]int{4 * s.Lo, 4 * s.Hi}}
	}
	h, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("save transformer: %w", err)
	}
	for len(h)%8 != 0 {
		h = append(h, ' ')
	}
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	buf = append(buf, h...)
	for _, p := range t.Params() {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(p))
	}
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("save transformer: %w", err)
	}
	return nil
}

// LoadTransformer reads what Save wrote. It refuses a file whose tensors are
// not exactly those of its configuration or that holds values that are not
// finite.
func LoadTransformer(r io.Reader) (*Transformer, error) {
	t, err := loadTransformer(r)
	if err != nil {
		return nil, fmt.Errorf("load transformer: %w", err)
	}
	return t, nil
}

func loadTransformer(r io.Reader) (*Transformer, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxHeader {
		return nil, errors.New("header is too long: " + strconv.FormatUint(n, 10))
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	cfg, tensors, err := readHeader(raw)
	if err != nil {
		return nil, err
	}
	elements, err := countParams(cfg)
	if err != nil {
		return nil, err
	}
	// Memory is taken as the data comes in, not as the header promises it.
	data, err := io.ReadAll(io.LimitReader(r, int64(4*elements)+1))
	if err != nil {
		return nil, err
	}
	if len(data) != 4*elements {
		return nil, fmt.Errorf("the data is not the %d bytes of the configuration", 4*elements)
	}
	t := newTransformer(nn.NewModel[float32](cfg, 0))
	spans := t.model.Spans()
	if len(spans) != len(tensors) {
		return nil, fmt.Errorf("%d tensors instead of %d", len(tensors), len(spans))
	}
	for _, s := range spans {
		h, ok := tensors[s.Name]
		if !ok || h.DType != "F32" || !slices.Equal(h.Shape, s.Shape) || h.Offsets != [2]int{4 * s.Lo, 4 * s.Hi} {
			return nil, fmt.Errorf("tensor %s is missing or not as the configuration has it", s.Name)
		}
	}
	for i := range t.Params() {
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if v-v != 0 {
			return nil, errors.New("a parameter is not finite")
		}
		t.Params()[i] = v
	}
	return t, nil
}

func readHeader(raw []byte) (TransformerConfig, map[string]tensorHeader, error) {
	var cfg TransformerConfig
	var header map[string]json.RawMessage
	if err := json.Unmarshal(raw, &header); err != nil {
		return cfg, nil, err
	}
	var meta map[string]string
	if err := json.Unmarshal(header["__metadata__"], &meta); err != nil {
		return cfg, nil, fmt.Errorf("metadata: %w", err)
	}
	delete(header, "__metadata__")
	if meta[layoutKey] != layoutValue {
		return cfg, nil, fmt.Errorf("layout %q is not known", meta[layoutKey])
	}
	if err := json.Unmarshal([]byte(meta[configKey]), &cfg); err != nil {
		return cfg, nil, fmt.Errorf("configuration: %w", err)
	}
	tensors := make(map[string]tensorHeader, len(header))
	for name, v := range header {
		var h tensorHeader
		if err := json.Unmarshal(v, &h); err != nil {
			return cfg, nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		tensors[name] = h
	}
	return cfg, tensors, nil
}

// countParams bounds the size of a model before anything is allocated for it.
func countParams(cfg TransformerConfig) (int, error) {
	const maxEach = 1 << 20
	if cfg.Vocab > maxEach || cfg.Context > maxEach || cfg.Dim > maxEach || cfg.Layers > maxEach ||
		cfg.Heads > maxEach || cfg.FF > maxEach {
		return 0, errors.New("configuration out of range")
	}
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	n, ok := cfg.NumParams(maxElements)
	if !ok {
		return 0, errors.New("model too large")
	}
	return n, nil
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// A price is what the API server estimates that an expression costs, or why it cannot be compiled.
type price struct {
	Cost  uint64 `json:"cost"`
	Error string `json:"error,omitempty"`
}

// estimate reads one expression a line, as a JSON text, and writes its price.
func estimate(in io.Reader, out io.Writer) error {
	kind := environment.NewExpressions
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	encoder := json.NewEncoder(out)
	for decoder := json.NewDecoder(bufio.NewReader(in)); ; {
		var text string
		if err := decoder.Decode(&text); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		found := compiler.CompileCELExpression(text, dracel.Options{EnvType: &kind})
		told := price{Cost: found.MaxCost}
		if found.Error != nil {
			told.Error = found.Error.Error()
		}
		if err := encoder.Encode(told); err != nil {
			return err
		}
	}
}

package main

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const rememberedExpressions = 4096

// The minors have different features, so their fields are found at run time: the allocator tells
// the gates of a field, joined by a plus where it needs several.
var featureGates = gatesByField()

func gatesByField() [][]string {
	fields := reflect.TypeFor[structured.Features]().NumField()
	found := make([][]string, fields)
	for i := range fields {
		var one structured.Features
		reflect.ValueOf(&one).Elem().Field(i).SetBool(true)
		for name := range one.Set() {
			found[i] = strings.Split(name, "+")
		}
	}
	return found
}

func knownGates() []string {
	names := sets.New[string]()
	for _, gates := range featureGates {
		names.Insert(gates...)
	}
	return sets.List(names)
}

// allocatorFeatures are those whose gates are all on. A gate that is not named is off, and one
// that the allocator does not know is none of its business.
func (s setting) allocatorFeatures() structured.Features {
	var features structured.Features
	value := reflect.ValueOf(&features).Elem()
	off := func(gate string) bool { return !s.Features[gate] }
	for i, gates := range featureGates {
		value.Field(i).SetBool(!slices.ContainsFunc(gates, off))
	}
	return features
}

var (
	caches     = map[cel.Features]*cel.Cache{}
	cachesLock sync.Mutex
)

// expressions is where compiled expressions are kept; what compiles depends on the gates.
func (s setting) expressions() *cel.Cache {
	var features cel.Features
	value := reflect.ValueOf(&features).Elem()
	for i := range value.NumField() {
		name := "DRA" + strings.TrimPrefix(value.Type().Field(i).Name, "Enable")
		value.Field(i).SetBool(s.Features[name])
	}
	cachesLock.Lock()
	defer cachesLock.Unlock()
	if caches[features] == nil {
		caches[features] = cel.NewCache(rememberedExpressions, features)
	}
	return caches[features]
}

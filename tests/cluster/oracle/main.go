// Oracle answers what the allocator of a Kubernetes minor makes of the claims of a Pod on a node.
//
// It reads one question a line from stdin and writes one answer a line, in the same order, to
// stdout; a line that it cannot make sense of has an answer too. The minor is that of the module
// file which it is built with.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
)

const allocatorModule = "k8s.io/dynamic-resource-allocation"

func main() {
	version := flag.Bool("version", false, "print the version of the allocator")
	gates := flag.Bool("gates", false, "print the feature gates that the allocator knows")
	costs := flag.Bool("costs", false, "estimate what expressions cost, one a line as a JSON text")
	flag.Parse()
	switch {
	case *version:
		fmt.Println(allocatorVersion())
	case *gates:
		for _, name := range knownGates() {
			fmt.Println(name)
		}
	case *costs:
		if err := estimate(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func allocatorVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == allocatorModule {
			return module.Version
		}
	}
	return "unknown"
}

// A job is a question on its way to a worker, with the place where its answer is waited for.
type job struct {
	question question
	answer   chan<- []byte
}

// serve answers questions until there are none. Lines are read one after the other, because one
// may recall what an earlier one said; the searches run side by side.
func serve(in io.Reader, out io.Writer) error {
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job)
	// So far may the fast questions run ahead of a slow one.
	answers := make(chan (<-chan []byte), 64*workers)
	failed := make(chan error, 1)
	for range workers {
		go work(jobs)
	}
	go func() {
		defer close(answers)
		defer close(jobs)
		failed <- ask(bufio.NewReaderSize(in, 1<<20), jobs, answers)
	}()
	for answer := range answers {
		if _, err := out.Write(<-answer); err != nil {
			return err
		}
	}
	return <-failed
}

func work(jobs <-chan job) {
	for one := range jobs {
		one.answer <- one.question.answer().line()
	}
}

func ask(in *bufio.Reader, jobs chan<- job, answers chan<- (<-chan []byte)) error {
	memory := map[string]setting{}
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			answer := make(chan []byte, 1)
			answers <- answer
			if one, err := understand(line, memory); err != nil {
				answer <- one.failed(scopeLine, err).line()
			} else {
				jobs <- job{one, answer}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// What containers of tests run: `app sleep`, `app serve`, `app fail`; and what tests run in them: `app end`,
// `app write FILE TEXT`, `app read FILE`, `app has FILE`.
//
// An image without a shell, so that what a test does is in the test.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	arguments := append(os.Args[1:], "sleep")
	if err := run(arguments[0], arguments[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(verb string, arguments []string) error {
	switch verb {
	case "sleep":
		wait()
		return nil
	case "serve":
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			hostname, _ := os.Hostname()
			fmt.Fprintln(w, hostname)
		})
		go wait()
		return http.ListenAndServe(":8080", nil)
	case "write":
		return os.WriteFile(arguments[0], []byte(arguments[1]), 0o644)
	case "read":
		content, err := os.ReadFile(arguments[0])
		os.Stdout.Write(content)
		return err
	case "has":
		if _, err := os.Stat(arguments[0]); err != nil {
			fmt.Println("no")
		} else {
			fmt.Println("yes")
		}
		return nil
	case "end": // the container's first process, as if it had crashed
		return syscall.Kill(1, syscall.SIGUSR1)
	default:
		return fmt.Errorf("failed on request: `%s`", verb)
	}
}

// wait ends gracefully on a signal, which pid 1 does only with a handler for it.
func wait() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	if <-signals == syscall.SIGUSR1 {
		os.Exit(1)
	}
	os.Exit(0)
}

// Command client does the job of the measured clients without an SDK: calls
// around encoding/json and a few structs, without a handshake or metadata. It neither cancels nor looks at anything but what it needs.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/ferrymcp/ferry/bench/program"
)

type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  params `json:"params"`
}

type params struct {
	Name      string       `json:"name"`
	Arguments program.Echo `json:"arguments"`
}

type response struct {
	ID     int `json:"id"`
	Result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

func (r *response) text() (string, error) {
	if r.Error != nil || len(r.Result.Content) == 0 {
		return "", errors.New("no text in the response")
	}
	return r.Result.Content[0].Text, nil
}

func main() {
	s := program.ParseClient()
	s.Run(func() error {
		f := &floor{url: s.HTTP, in: bufio.NewReaderSize(os.Stdin, 64<<10), pending: map[int]chan *response{}}
		if s.HTTP != "" {
			f.http.Transport = &http.Transport{MaxIdleConnsPerHost: s.Depth}
			return s.Calls(context.Background(), f.post)
		}
		var reading sync.WaitGroup
		reading.Go(f.read)
		defer reading.Wait()
		return s.Calls(context.Background(), f.write)
	})
}

type floor struct {
	url  string
	http http.Client
	in   *bufio.Reader

	mu      sync.Mutex
	next    int
	pending map[int]chan *response
}

func (f *floor) request(text string) *request {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return &request{"2.0", f.next, "tools/call", params{"echo", program.Echo{Text: text}}}
}

// write makes a call over standard output.
func (f *floor) write(_ context.Context, text string) (string, error) {
	rq := f.request(text)
	line, err := json.Marshal(rq)
	if err != nil {
		return "", err
	}
	answer := make(chan *response, 1)
	f.mu.Lock()
	f.pending[rq.ID] = answer
	_, err = os.Stdout.Write(append(line, '\n'))
	f.mu.Unlock()
	if err != nil {
		return "", err
	}
	return (<-answer).text()
}

// read hands responses to the calls until the input ends, which ends the program.
func (f *floor) read() {
	for {
		line, err := f.in.ReadBytes('\n')
		if err != nil {
			os.Exit(1)
		}
		rs := new(response)
		if err := json.Unmarshal(line, rs); err != nil {
			os.Exit(1)
		}
		f.mu.Lock()
		answer := f.pending[rs.ID]
		delete(f.pending, rs.ID)
		f.mu.Unlock()
		if answer != nil {
			answer <- rs
		}
	}
}

// post makes a call over HTTP.
func (f *floor) post(ctx context.Context, text string) (string, error) {
	body, err := json.Marshal(f.request(text))
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	res, err := f.http.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		return "", err
	}
	rs := new(response)
	if err := json.Unmarshal(body, rs); err != nil {
		return "", err
	}
	return rs.text()
}

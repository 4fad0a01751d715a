package netguard_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ferrymcp/ferry/netguard"
)

// A client of HTTP that follows no URL into the own network.
func Example() {
	guard := &netguard.Dialer{Hosts: []string{"idp.corp.example"}} // and this one wherever it is
	transport := &http.Transport{DialContext: guard.DialContext}
	client := &http.Client{Transport: transport}

	_, err := client.Head("http://169.254.169.254/latest/meta-data/")
	var refused *netguard.Error
	fmt.Println(errors.As(err, &refused), refused)
	// Output: true connect to 169.254.169.254: metadata address, allow it explicitly if it is meant
}

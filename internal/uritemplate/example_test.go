package uritemplate_test

import (
	"fmt"

	"github.com/ferrymcp/ferry/internal/uritemplate"
)

func Example() {
	t, err := uritemplate.Parse("db://{table}/{id}")
	if err != nil {
		fmt.Println(err)
		return
	}
	vars, ok := t.Match("db://users/7")
	fmt.Println(ok, vars["table"], vars["id"])
	uri, _ := t.Expand(map[string]string{"table": "orders", "id": "a b"})
	fmt.Println(uri)
	// Output:
	// true users 7
	// db://orders/a%20b
}

package skills_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/skills"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func Example() {
	srv := server.New(mcp.Implementation{Name: "documents", Version: "1.0.0"}, nil)
	folder := fstest.MapFS{ // os.OpenRoot("skills") gives one of the system
		"greeting/SKILL.md":  {Data: []byte("---\nname: greeting\ndescription: How to greet\n---\nRead words.txt.\n")},
		"greeting/words.txt": {Data: []byte("Hello!\n")},
	}
	if _, err := skills.Serve(srv, folder, nil); err != nil {
		panic(err)
	}

	ctx := context.Background()
	near, far := transport.Pipe()
	done := make(chan error)
	go func() { done <- srv.ServeConn(ctx, far) }()
	dial := func(context.Context) (transport.Conn, error) { return near, nil }
	sess, err := client.New(mcp.Implementation{Name: "host", Version: "1.0.0"}, nil).Connect(ctx, transport.Dial(dial))
	if err != nil {
		panic(err)
	}
	for skill, err := range skills.List(ctx, sess) {
		if err != nil {
			panic(err)
		}
		fmt.Println(skill.Name(), "-", skill.Description())
		// Once the skill is needed and the user agrees:
		text, err := skills.Read(ctx, sess, skill, skill.URI, nil)
		fmt.Printf("%.3s... %v\n", text, err)
		words, _ := skill.Resolve("words.txt")
		text, err = skills.Read(ctx, sess, skill, words, nil)
		fmt.Printf("%s%v\n", text, err)
	}
	_ = sess.Close()
	<-done
	// Output:
	// greeting - How to greet
	// ---... <nil>
	// Hello!
	// <nil>
}

package everything

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// addContent adds the tools that show what results can hold.
func addContent(srv *server.Server) {
	add(srv, mcp.Tool{
		Name: "echo", Title: "Echo", Annotations: hints(true, true, false),
		Description: "Returns the text it is given.",
	}, `"message":{"type":"string","description":"text to return"}`, []string{"message"}, echo)
	add(srv, mcp.Tool{
		Name: "get-sum", Title: "Sum", Annotations: hints(true, true, false),
		Description: "Adds two numbers.",
	}, `"a":{"type":"number","description":"one number"},"b":{"type":"number","description":"the other"}`, []string{"a", "b"}, sum)
	add(srv, mcp.Tool{
		Name: "get-tiny-image", Title: "Tiny picture", Annotations: hints(true, true, false),
		Description: "Returns a small picture between two texts.",
	}, ``, nil, tinyImage)
	add(srv, mcp.Tool{
		Name: "get-annotated-message", Title: "Annotated message", Annotations: hints(true, true, false),
		Description: "Returns a message that says for whom it is and how much it matters.",
	}, `"messageType":{"type":"string","enum":["error","success","debug"],"description":"kind of message; each has other annotations"},`+
		`"includeImage":{"type":"boolean","default":false,"description":"return a picture as well"}`, []string{"messageType"}, annotated)
	add(srv, mcp.Tool{
		Name: "get-structured-content", Title: "Structured content", Annotations: hints(true, true, false),
		Description:  "Returns made-up weather as structured content that fits the tool's output schema.",
		OutputSchema: json.RawMessage(weatherSchema),
	}, `"location":{"type":"string","enum":["New York","Chicago","Los Angeles"],"description":"city"}`, []string{"location"}, structured)
	add(srv, mcp.Tool{
		Name: "trigger-long-running-operation", Title: "Long operation", Annotations: hints(true, true, false),
		Description: "Takes its time and tells of its progress.",
	}, `"duration":{"type":"number","default":10,"description":"how long it takes, in seconds"},`+
		`"steps":{"type":"number","default":5,"description":"how many steps it takes"}`, nil, long)
}

func echo(_ context.Context, _ *server.Call, in struct {
	Message string `json:"message"`
},
) (*mcp.CallToolResult, error) {
	return texts("Echo: " + in.Message)
}

func sum(_ context.Context, _ *server.Call, in struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
},
) (*mcp.CallToolResult, error) {
	return texts(fmt.Sprintf("The sum of %s and %s is %s.", number(in.A), number(in.B), number(in.A+in.B)))
}

// tiny is a picture of 20 by 20 points.
var tiny = func() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 20, 20))
	for i := range 400 {
		x, y := i%20, i/20
		if dx, dy := x-10, y-10; dx*dx+dy*dy < 80 {
			img.Set(x, y, color.RGBA{R: 32, G: uint8(80 + 8*x), B: uint8(80 + 8*y), A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("everything: make the picture: " + err.Error())
	}
	return b.Bytes()
}()

func tinyImage(context.Context, *server.Call, none) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text("Here's the image you requested:"),
		mcp.Image(tiny, "image/png"),
		mcp.Text("The image above is a colorful disc."),
	}}, nil
}

// for whom a message is, and how much it matters.
func noted(priority float64, audience ...mcp.Role) *mcp.Annotations {
	return &mcp.Annotations{Priority: &priority, Audience: audience}
}

func annotated(_ context.Context, _ *server.Call, in struct {
	Type  string `json:"messageType"`
	Image bool   `json:"includeImage"`
},
) (*mcp.CallToolResult, error) {
	var block mcp.Content
	switch in.Type {
	case "error":
		block = mcp.Text("Error: Operation failed")
		block.Annotations = noted(1, mcp.RoleUser, mcp.RoleAssistant)
	case "success":
		block = mcp.Text("Operation completed successfully")
		block.Annotations = noted(0.7, mcp.RoleUser)
	case "debug":
		block = mcp.Text("Debug: Cache hit ratio 0.95, latency 150ms")
		block.Annotations = noted(0.3, mcp.RoleAssistant)
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{block}}
	if in.Image {
		picture := mcp.Image(tiny, "image/png")
		picture.Annotations = noted(0.5, mcp.RoleUser)
		r.Content = append(r.Content, picture)
	}
	return r, nil
}

const weatherSchema = `{"type":"object","properties":{` +
	`"temperature":{"type":"number","description":"degrees"},` +
	`"conditions":{"type":"string","description":"what it looks like"},` +
	`"humidity":{"type":"number","description":"percent"}},` +
	`"required":["temperature","conditions","humidity"],"additionalProperties":false}`

// weather is made up.
var weather = map[string]string{
	"New York":    `{"temperature":33,"conditions":"Cloudy","humidity":82}`,
	"Chicago":     `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`,
	"Los Angeles": `{"temperature":73,"conditions":"Sunny / Clear","humidity":48}`,
}

func structured(_ context.Context, _ *server.Call, in struct {
	Location string `json:"location"`
},
) (*mcp.CallToolResult, error) {
	text := weather[in.Location]
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}, StructuredContent: json.RawMessage(text)}, nil
}

// The bounds of a long operation.
const (
	maxDuration = 3600 // seconds
	maxSteps    = 10_000
)

func long(ctx context.Context, c *server.Call, in struct {
	Duration *float64 `json:"duration"`
	Steps    *float64 `json:"steps"`
},
) (*mcp.CallToolResult, error) {
	duration, steps := or(in.Duration, 10), or(in.Steps, 5)
	if duration < 0 || duration > maxDuration || steps < 0 || steps > maxSteps {
		return nil, fmt.Errorf("give a duration from 0 to %d seconds and from 0 to %d steps", maxDuration, maxSteps)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for i := 1.0; i < steps+1; i++ {
		timer.Reset(time.Duration(duration / steps * float64(time.Second)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if err := c.Progress(ctx, i, steps, ""); err != nil {
			return nil, err
		}
	}
	return texts(fmt.Sprintf("Long running operation completed. Duration: %s seconds, Steps: %s.", number(duration), number(steps)))
}

// or returns what is given, or else a default.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// addEnvironment adds the tool that shows the environment.
func addEnvironment(srv *server.Server) {
	add(srv, mcp.Tool{
		Name: "get-env", Title: "Environment", Annotations: hints(true, true, false),
		Description: "Returns all environment variables of the server, with whatever secrets are in them.",
	}, ``, nil, func(context.Context, *server.Call, none) (*mcp.CallToolResult, error) {
		env := map[string]string{}
		for _, entry := range os.Environ() {
			if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
				env[name] = value
			}
		}
		text, err := result.Text(env)
		if err != nil {
			return nil, errors.New("the environment cannot be written as JSON")
		}
		return texts(text)
	})
}

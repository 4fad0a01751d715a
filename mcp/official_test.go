package mcp_test

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

const officialExamples = "../../shared/spec/examples/2026-07-28"

// What part of an official example our type stands for.
const (
	whole  = ""
	params = "params"
	result = "result"
	errorM = "error"
)

// official tells for each folder of official examples which of our types it is
// an example of.
var official = map[string]struct {
	part string
	typ  any
}{
	"AudioContent":                          {whole, mcp.Content{}},
	"BlobResourceContents":                  {whole, mcp.ResourceContents{}},
	"BooleanSchema":                         {whole, mcp.FormField{}},
	"CallToolRequest":                       {params, mcp.CallToolParams{}},
	"CallToolRequestParams":                 {whole, mcp.CallToolParams{}},
	"CallToolResult":                        {whole, mcp.CallToolResult{}},
	"CallToolResultResponse":                {result, mcp.CallToolResult{}},
	"CancelledNotification":                 {params, mcp.CancelledParams{}},
	"CancelledNotificationParams":           {whole, mcp.CancelledParams{}},
	"ClientCapabilities":                    {whole, mcp.ClientCapabilities{}},
	"CompleteRequest":                       {params, mcp.CompleteParams{}},
	"CompleteRequestParams":                 {whole, mcp.CompleteParams{}},
	"CompleteResult":                        {whole, mcp.CompleteResult{}},
	"CompleteResultResponse":                {result, mcp.CompleteResult{}},
	"CreateMessageRequest":                  {whole, mcp.InputRequest{}},
	"CreateMessageRequestParams":            {whole, mcp.CreateMessageParams{}},
	"CreateMessageResult":                   {whole, mcp.CreateMessageResult{}},
	"DiscoverRequest":                       {params, mcp.DiscoverParams{}},
	"DiscoverResult":                        {whole, mcp.DiscoverResult{}},
	"DiscoverResultResponse":                {result, mcp.DiscoverResult{}},
	"ElicitRequest":                         {whole, mcp.InputRequest{}},
	"ElicitRequestFormParams":               {whole, mcp.ElicitParams{}},
	"ElicitRequestURLParams":                {whole, mcp.ElicitParams{}},
	"ElicitResult":                          {whole, mcp.ElicitResult{}},
	"EmbeddedResource":                      {whole, mcp.Content{}},
	"GetPromptRequest":                      {params, mcp.GetPromptParams{}},
	"GetPromptRequestParams":                {whole, mcp.GetPromptParams{}},
	"GetPromptResult":                       {whole, mcp.GetPromptResult{}},
	"GetPromptResultResponse":               {result, mcp.GetPromptResult{}},
	"HeaderMismatchError":                   {errorM, jsonrpc.Error{}},
	"ImageContent":                          {whole, mcp.Content{}},
	"InputRequests":                         {whole, map[string]mcp.InputRequest{}},
	"InputRequiredResult":                   {whole, mcp.InputRequiredResult{}},
	"InputResponses":                        {whole, mcp.InputResponses{}},
	"InternalError":                         {whole, jsonrpc.Error{}},
	"InvalidParamsError":                    {whole, jsonrpc.Error{}},
	"ListPromptsRequest":                    {params, mcp.ListPromptsParams{}},
	"ListPromptsResult":                     {whole, mcp.ListPromptsResult{}},
	"ListPromptsResultResponse":             {result, mcp.ListPromptsResult{}},
	"ListResourceTemplatesRequest":          {params, mcp.ListResourceTemplatesParams{}},
	"ListResourceTemplatesResult":           {whole, mcp.ListResourceTemplatesResult{}},
	"ListResourceTemplatesResultResponse":   {result, mcp.ListResourceTemplatesResult{}},
	"ListResourcesRequest":                  {params, mcp.ListResourcesParams{}},
	"ListResourcesResult":                   {whole, mcp.ListResourcesResult{}},
	"ListResourcesResultResponse":           {result, mcp.ListResourcesResult{}},
	"ListRootsRequest":                      {whole, mcp.InputRequest{}},
	"ListRootsResult":                       {whole, mcp.ListRootsResult{}},
	"ListToolsRequest":                      {params, mcp.ListToolsParams{}},
	"ListToolsResult":                       {whole, mcp.ListToolsResult{}},
	"ListToolsResultResponse":               {result, mcp.ListToolsResult{}},
	"LoggingMessageNotification":            {params, mcp.LoggingMessageParams{}},
	"LoggingMessageNotificationParams":      {whole, mcp.LoggingMessageParams{}},
	"MethodNotFoundError":                   {whole, jsonrpc.Error{}},
	"MissingRequiredClientCapabilityError":  {errorM, jsonrpc.Error{}},
	"ModelPreferences":                      {whole, mcp.ModelPreferences{}},
	"NumberSchema":                          {whole, mcp.FormField{}},
	"PaginatedRequestParams":                {whole, mcp.PageParams{}},
	"ParseError":                            {whole, jsonrpc.Error{}},
	"ProgressNotification":                  {params, mcp.ProgressParams{}},
	"ProgressNotificationParams":            {whole, mcp.ProgressParams{}},
	"PromptListChangedNotification":         {params, mcp.EmptyParams{}},
	"ReadResourceRequest":                   {params, mcp.ReadResourceParams{}},
	"ReadResourceResult":                    {whole, mcp.ReadResourceResult{}},
	"ReadResourceResultResponse":            {result, mcp.ReadResourceResult{}},
	"Resource":                              {whole, mcp.Resource{}},
	"ResourceLink":                          {whole, mcp.Content{}},
	"ResourceListChangedNotification":       {params, mcp.EmptyParams{}},
	"ResourceUpdatedNotification":           {params, mcp.ResourceUpdatedParams{}},
	"ResourceUpdatedNotificationParams":     {whole, mcp.ResourceUpdatedParams{}},
	"Root":                                  {whole, mcp.Root{}},
	"SamplingMessage":                       {whole, mcp.SamplingMessage{}},
	"ServerCapabilities":                    {whole, mcp.ServerCapabilities{}},
	"StringSchema":                          {whole, mcp.FormField{}},
	"SubscriptionsAcknowledgedNotification": {params, mcp.AcknowledgedParams{}},
	"SubscriptionsListenRequest":            {params, mcp.ListenParams{}},
	"SubscriptionsListenResult":             {whole, mcp.ListenResult{}},
	"SubscriptionsListenResultResponse":     {result, mcp.ListenResult{}},
	"TextContent":                           {whole, mcp.Content{}},
	"TextResourceContents":                  {whole, mcp.ResourceContents{}},
	"TitledMultiSelectEnumSchema":           {whole, mcp.FormField{}},
	"TitledSingleSelectEnumSchema":          {whole, mcp.FormField{}},
	"Tool":                                  {whole, mcp.Tool{}},
	"ToolListChangedNotification":           {params, mcp.EmptyParams{}},
	"ToolResultContent":                     {whole, mcp.Content{}},
	"ToolUseContent":                        {whole, mcp.Content{}},
	"UnsupportedProtocolVersionError":       {errorM, jsonrpc.Error{}},
	"UntitledMultiSelectEnumSchema":         {whole, mcp.FormField{}},
	"UntitledSingleSelectEnumSchema":        {whole, mcp.FormField{}},
}

// TestOfficialExamples decodes every official example, encodes it again, and
// wants the same JSON.
func TestOfficialExamples(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(officialExamples)
	if err != nil {
		t.Skipf("the official examples are not here: %v", err)
	}
	for _, folder := range folders {
		want, ok := official[folder.Name()]
		if !ok {
			t.Errorf("folder %s has no type in the table", folder.Name())
			continue
		}
		files, err := filepath.Glob(filepath.Join(officialExamples, folder.Name(), "*.json"))
		if err != nil || len(files) == 0 {
			t.Errorf("folder %s: no examples (%v)", folder.Name(), err)
		}
		for _, file := range files {
			t.Run(folder.Name()+"/"+filepath.Base(file), func(t *testing.T) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if want.part != whole {
					data, _ = json.Member(data, want.part)
				}
				checkRoundTrip(t, want.typ, data, json.Unmarshal, json.Marshal)
				checkRoundTrip(t, want.typ, data, stdjson.Unmarshal, stdjson.Marshal)
			})
		}
	}
}

func checkRoundTrip(t *testing.T, typ any, data []byte, unmarshal func([]byte, any) error, marshal func(any) ([]byte, error)) {
	t.Helper()
	v := reflect.New(reflect.TypeOf(typ))
	if err := unmarshal(data, v.Interface()); err != nil {
		t.Fatalf("decode into %T: %v\n%s", typ, err, data)
	}
	// The value and not the pointer, so that methods on pointers would show.
	out, err := marshal(v.Elem().Interface())
	if err != nil {
		t.Fatalf("encode %T: %v", typ, err)
	}
	if diff := cmp.Diff(normal(t, data), normal(t, out)); diff != "" {
		t.Errorf("%T: the official example and what we write differ (-official +ours):\n%s", typ, diff)
	}
}

// normal decodes JSON for a comparison by meaning. A false isError or hasMore
// means the same as none, and an input request has no id although one official
// example does.
func normal(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := stdjson.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	dropDefaults(v)
	if m, ok := v.(map[string]any); ok && m["method"] == mcp.MethodRootsList {
		delete(m, "id")
	}
	return v
}

func dropDefaults(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"isError", "hasMore"} {
			if v[name] == false {
				delete(v, name)
			}
		}
		for _, member := range v {
			dropDefaults(member)
		}
	case []any:
		for _, item := range v {
			dropDefaults(item)
		}
	}
}

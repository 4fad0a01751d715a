// Package apps is the extension MCP Apps, io.modelcontextprotocol/ui: tools whose
// results a host shows in a page that comes from the server.
//
// A server adds its pages with AddPage and links its tools to them with Link. A
// host declares what it can show with Declare, learns from OfTool which page
// belongs to a tool and who may call it, and gets the page with Read, with the
// policy a browser has to enforce. Showing pages, in a sandbox, and talking to
// them is not part of this package.
//
// The extension is described at https://github.com/modelcontextprotocol/ext-apps.
package apps

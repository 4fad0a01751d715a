package mcp

// Implementation tells what a client or server is.
type Implementation struct {
	// Name is the name of the program.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Version is the version of the program, in any form.
	Version string `json:"version"`
	// Description tells what the program does. Older revisions do not have it.
	Description string `json:"description,omitzero"`
	// Icons are pictures for the program. Older revisions do not have them.
	Icons []Icon `json:"icons,omitzero"`
	// WebsiteURL is where to read more. Older revisions do not have it.
	WebsiteURL string `json:"websiteUrl,omitzero"`
}

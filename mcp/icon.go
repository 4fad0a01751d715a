package mcp

// Icon is a picture for something a server offers. Older revisions do not have
// it.
type Icon struct {
	// Src is where the picture is: an https: or data: URL. Others should not be
	// followed.
	Src string `json:"src"`
	// MIMEType is the type of the picture, when Src does not tell.
	MIMEType string `json:"mimeType,omitzero"`
	// Sizes are the sizes the picture is good for, such as "48x48", or "any";
	// nil means any.
	Sizes []string `json:"sizes,omitzero"`
	// Theme is ThemeLight or ThemeDark; "" means both.
	Theme string `json:"theme,omitzero"`
}

// The values of Icon.Theme.
const (
	// ThemeLight is for icons on a light background.
	ThemeLight = "light"
	// ThemeDark is for icons on a dark background.
	ThemeDark = "dark"
)

package revision

import "github.com/ferrymcp/ferry/mcp"

// ClientCapabilities returns what a client that can do all of c declares to
// servers of this revision: what the revision does not know is left out.
func (r *Revision) ClientCapabilities(c mcp.ClientCapabilities) mcp.ClientCapabilities {
	if c.Roots != nil && !r.Defines(mcp.NotificationRootsListChanged) {
		c.Roots = &mcp.RootsCapability{}
	}
	if c.Sampling != nil && !r.Has(SamplingTools) {
		c.Sampling = &mcp.SamplingCapability{}
	}
	switch {
	case r.Has(URLElicitation):
	case r.Has(Elicitation) && c.Elicitation.SupportsForm():
		c.Elicitation = &mcp.ElicitationCapability{}
	default:
		c.Elicitation = nil
	}
	if !r.Has(CoreTasks) {
		c.Tasks = nil
	}
	return c
}

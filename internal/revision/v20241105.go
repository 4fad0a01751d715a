package revision

// The first released revision: sessions over stdio or HTTP+SSE.
var rev20241105 = &Revision{
	name:     "2024-11-05",
	features: ServerRequests | NotFoundCode,
	methods:  featureMethods.plus(changeNotifications, sessionMethods),
}

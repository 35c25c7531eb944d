"""What the gateway and auth-service say to one another of a sign-in at an identity provider; no caller sees it."""

BROWSER_HEADER = "x-sign-in-browser"
"""The secret that the gateway keeps in a cookie of the browser that a sign-in is of."""
EARLIER_HEADER = "x-earlier-session"
"""The id of the session that this browser has when it begins to sign in."""
TOKEN_HEADER = "x-access-token"  # noqa: S105 - a name
"""The access token that the gateway puts into the cookie of a session."""
LOGIN = "/api/v1/auth/oidc/login"
CALLBACK = "/api/v1/auth/oidc/callback"

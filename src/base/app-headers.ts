// What the server alone says to a deployment's own HTTP app, over a socket that nobody else can open. Never taken from a
// client, and never passed on.

/** The user whom the server has found: base64 of JSON, `{user, scopes}`. */
export const CALLER_HEADER = 'x-weir-caller'

/** The request is a webhook, which is for routes of the app alone. */
export const WEBHOOK_HEADER = 'x-weir-webhook'

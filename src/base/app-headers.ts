// Headers that only the server sends to a deployment's custom HTTP app, over a private socket. The server removes them from
// requests of clients, and the app's process removes them from requests that it forwards.

/** The authenticated user: base64 of the JSON `{user, scopes}`. */
export const CALLER_HEADER = 'x-weir-caller'

/** Marks a webhook call, which only the app's own routes may answer. */
export const WEBHOOK_HEADER = 'x-weir-webhook'

/**
 * Id of the request that the app passes on, for as long as that request is open. The server then uses the credentials of
 * its caller, which the app does not get.
 */
export const PASSED_HEADER = 'x-weir-passed'

/** Hash of everything that a build of the web interface reads. */
export function uiHash(): string

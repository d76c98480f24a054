/** A file inside a run that is read with a separate request. */
export interface MediaLink {
  $media: string
  /** In bytes. */
  size: number
  mime: string
}

/** Anything may be sent in a run: only links of this form are followed. */
const OWN_LINK = /^\/api\/v1\/runs\/[0-9a-f-]{36}\/media\?path=[^&#]+$/

/** The value as a link of the server's own; undefined for any other value. */
export function mediaLink(value: unknown): MediaLink | undefined {
  if (typeof value !== 'object' || value === null || !('$media' in value)) return undefined
  const { $media, size, mime } = value as Partial<Record<keyof MediaLink, unknown>>
  if (typeof $media !== 'string' || !OWN_LINK.test($media) || typeof mime !== 'string') return undefined
  return { $media, size: Number(size), mime }
}

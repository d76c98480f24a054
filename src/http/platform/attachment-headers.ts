import type { Headers } from '../api/route.ts'

const MIME = /^[a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:;\s*charset=[\w-]+)?$/i
/** Types that a browser shows without running their content. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/|video\/|text\/plain|application\/(?:pdf|json))/i

/** Encodes any name in ASCII (RFC 8187). */
function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  )
}

/**
 * Headers that make it safe to serve bytes of unknown origin: browsers use the type as sent and do not guess it, run no
 * scripts, and save types that they would execute (HTML, SVG, XML, unknown) instead of showing them.
 */
export function attachmentHeaders(name: string, mime_type: string, size: number): Headers {
  const type = MIME.test(mime_type) ? mime_type : 'application/octet-stream'
  const disposition = SHOWN.test(type) ? 'inline' : 'attachment'
  return {
    'content-type': type,
    'content-length': size,
    'content-disposition': `${disposition}; filename*=UTF-8''${encoded(name)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, max-age=3600',
  }
}

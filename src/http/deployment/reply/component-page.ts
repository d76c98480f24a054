import { extname } from 'node:path'
import type { Headers } from '../../api/route.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}

/** Name of the script of Weir in a page of a component; it is served beside the files of the graph. */
export const FRAME_SCRIPT = 'component-frame.js'

/**
 * The page has no origin, loads only files of the server, connects to nothing, and cannot leave its frame. Any page may
 * frame it, because it has no data until that page sends some.
 */
const POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ')

export const COMPONENT_PAGE_HEADERS: Headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

function page(graph_id: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en" data-graph="${escapeHtml(graph_id)}">
<head><meta charset="utf-8"><title>UI component</title>${head}</head>
<body>${body}</body>
</html>
`
}

/** The page that shows a component of a graph: the styles and the script of its bundle, after the script of Weir. */
export function componentPage(graph_id: string, names: readonly string[]): string {
  const place = escapeHtml(encodeURIComponent(graph_id))
  const ofType = (type: string): string[] => names.filter((name) => extname(name) === type).map(escapeHtml)
  const styles = ofType('.css').map((name) => `<link rel="stylesheet" href="${place}/${name}">`)
  const scripts = [FRAME_SCRIPT, ...ofType('.js').slice(0, 1)].map(
    (name) => `<script src="${place}/${name}" defer></script>`,
  )
  return page(graph_id, [...styles, ...scripts].join(''), '')
}

/** The page for a graph whose components cannot be shown. */
export function componentFault(graph_id: string, message: string): string {
  return page(graph_id, '', `<p>${escapeHtml(message)}</p>`)
}

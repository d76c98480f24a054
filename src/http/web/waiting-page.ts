import type { Headers } from '../api/route.ts'

const REFRESH_SECONDS = 1
const STYLE = `:root { color-scheme: light dark } body { font: 14px/20px system-ui, sans-serif; max-width: 44rem; margin: 20vh auto; padding: 0 16px }
pre { font: 12px/18px ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }`
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark)
}

/**
 * The page shown until the interface is built, which reloads itself. With the `error` of a build it shows the error and
 * does not reload.
 */
export function waitingPage(error: string | undefined): { headers: Headers; body: string } {
  const refresh = error === undefined ? `<meta http-equiv="refresh" content="${REFRESH_SECONDS}">` : ''
  const text =
    error === undefined
      ? '<h1>The web interface is being built</h1><p>This takes a few seconds after an installation or a change; the page opens by itself. The APIs work already.</p>'
      : `<h1>The web interface was not built</h1><p>The server itself is not affected. The error was:</p><pre>${escaped(error)}</pre><p>Start the server again to try again.</p>`
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      ...(error === undefined && { 'retry-after': REFRESH_SECONDS }),
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}<title>Weir</title><style>${STYLE}</style></head><body>${text}</body></html>\n`,
  }
}

/**
 * Content Security Policy: the page of /docs may load only from this server. Pictures may also be `data:` URLs, because
 * the style sheet of Swagger UI contains its arrows in this form.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of the page of /docs and of its files. */
export const DOCS_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/**
 * Shows the document of this API. "Try it out" sends requests to the address of the page without `/docs` and a
 * preceding `/api` or `/api/v1`. For a deployment, that is `/deployments/{name}`.
 */
export const DOCS_SCRIPT = `
const base = location.pathname.replace(/(?:\\/api(?:\\/v1)?)?\\/docs$/, '')
const dark = matchMedia('(prefers-color-scheme: dark)')
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
setTheme()
dark.addEventListener('change', setTheme)

const page = document.querySelector('#docs')
async function draw() {
  const answer = await fetch(base + '/openapi.json')
  if (!answer.ok) throw new Error('openapi.json: status ' + answer.status)
  const spec = await answer.json()
  document.title = spec.info.title
  SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: base || '/' }] },
    domNode: page,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    docExpansion: 'none',
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  })
}
draw().catch((error) => { page.textContent = 'The documentation cannot be shown: ' + error.message })
`

/** Colours and sizes of the web interface (ui/tokens.css) for Swagger UI, and corrections where its own contrast is too low. */
export const DOCS_STYLE = `
:root {
  color-scheme: light;
  --bg: #ffffff; --surface: #f6f7f9; --text: #1a1d23; --muted: #596273; --accent: #1d5bd0;
  --ok: #18774a; --warn: #8a5500; --error: #bc2430; --other: #6544d0; --line: #e2e5ea; --edge: #7f8897;
}
:root.dark-mode {
  color-scheme: dark;
  --bg: #0e1116; --surface: #151920; --text: #e6e9ee; --muted: #9ba5b4; --accent: #7facff;
  --ok: #4fc48c; --warn: #e3a33f; --error: #ff8078; --other: #b5a0ff; --line: #272d38; --edge: #6b7585;
}
html, :root.dark-mode, body { margin: 0; background: var(--bg); color: var(--text) }
#docs { font: 14px/1.45 system-ui, sans-serif }
#docs > p { padding: 16px }
#docs .swagger-ui :is(.info, .opblock-tag, .opblock, .btn, label, input, select, table, p, h1, h2, h3, h4, h5, a, li, .markdown, .tab, small) {
  font-family: system-ui, sans-serif
}
#docs .swagger-ui :is(code, pre, .opblock-summary-path, .opblock-summary-path *, .opblock-summary-method) {
  font-family: ui-monospace, Menlo, Consolas, monospace
}
#docs .swagger-ui .wrapper { max-width: 80rem; padding: 0 16px }
#docs .swagger-ui .info { margin: 24px 0 8px }
#docs .swagger-ui .info .title { font-size: 20px; font-weight: 600; color: var(--text) }
#docs .swagger-ui .info .title small { padding: 0 6px; border-radius: 4px; background: var(--muted); top: -2px }
#docs .swagger-ui .info .title small pre { color: var(--bg) }
#docs .swagger-ui * { transition: none }
#docs .swagger-ui .download-contents { background: #1a1d23; color: #ffffff }
#docs .swagger-ui .info a { color: var(--accent) }
#docs .swagger-ui .servers, #docs .swagger-ui .servers-title { display: none }
#docs .swagger-ui .opblock-body { overflow-x: auto }
#docs .swagger-ui .scheme-container { margin: 0; padding: 8px 0; background: transparent; box-shadow: none }
#docs .swagger-ui .filter .operation-filter-input { margin: 8px 0; padding: 6px 8px; border: 1px solid var(--edge); border-radius: 4px; background: var(--bg); color: var(--text) }
#docs .swagger-ui .opblock-tag { font-size: 16px; font-weight: 600; padding: 8px 0; border-color: var(--line); color: var(--text) }
#docs .swagger-ui .opblock { margin: 0 0 4px; border: 1px solid var(--line); border-radius: 4px; background: var(--surface); box-shadow: none }
#docs .swagger-ui .opblock .opblock-summary { padding: 2px 8px; border-color: var(--line) }
#docs .swagger-ui .opblock .opblock-summary-method { min-width: 60px; padding: 2px 0; font-size: 12px; background: none; text-align: start; text-shadow: none; color: var(--muted) }
#docs .swagger-ui .opblock.opblock-get .opblock-summary-method { color: var(--accent) }
#docs .swagger-ui .opblock.opblock-post .opblock-summary-method { color: var(--ok) }
#docs .swagger-ui .opblock:is(.opblock-put, .opblock-patch) .opblock-summary-method { color: var(--warn) }
#docs .swagger-ui .opblock.opblock-delete .opblock-summary-method { color: var(--error) }
#docs .swagger-ui .opblock .opblock-summary-path { font-size: 13px; font-weight: 400; max-width: 100%; color: var(--text) }
#docs .swagger-ui .opblock .opblock-summary-description { font-size: 13px; color: var(--muted) }
#docs .swagger-ui .opblock .opblock-section-header { background: transparent; box-shadow: none; border-bottom: 1px solid var(--line) }
#docs .swagger-ui .btn { border: 1px solid var(--edge); border-radius: 4px; box-shadow: none; font-weight: 400; color: var(--text) }
#docs .swagger-ui .btn.execute { background: var(--accent); border-color: var(--accent); color: var(--bg); font-weight: 600 }
#docs .swagger-ui .btn.authorize { color: var(--text) }
#docs .swagger-ui .btn.authorize svg { fill: currentColor }
#docs .swagger-ui .parameter__name.required::after, #docs .swagger-ui .parameter__name.required span { color: var(--error) }
#docs .swagger-ui :is(.parameter__type, .parameter__in, .parameter__extension, .response-col_links, table thead tr :is(td, th), .tab li, .prop-type, .model, .model-title, .renderedMarkdown p, label, h4, h5) { color: var(--muted) }
#docs .swagger-ui section.models { border: 1px solid var(--line); border-radius: 4px }
@media (max-width: 640px) {
  #docs .swagger-ui .opblock .opblock-summary-description { display: none }
  #docs .swagger-ui .parameters-col_name { width: 100px }
}
`

/**
 * The page of /docs, whose files are below `docs/`. `version` changes their addresses, so that a browser does
 * not use cached files of another version.
 */
export function docsPage(version: string): string {
  const query = `?v=${encodeURIComponent(version)}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>API documentation</title>
<link rel="stylesheet" href="docs/swagger-ui.css${query}"><link rel="stylesheet" href="docs/page.css${query}">
<script defer src="docs/swagger-ui-bundle.js${query}"></script><script defer src="docs/page.js${query}"></script>
</head><body><div id="docs"><p>This API for machines: <a href="openapi.json">openapi.json</a>.</p></div></body></html>
`
}

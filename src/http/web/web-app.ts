import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accepts } from '../server/answer/compressor.ts'
import { type Exchange, sendBytes } from '../server/exchange.ts'
import type { Headers } from '../api/route.ts'
import { type FirstPage, linksOf } from './first-loads.ts'
import { waitingPage } from './waiting-page.ts'

export interface WebApp {
  /** Whether the path is under `/app`. */
  matches(path: string): boolean
  /**
   * Answers a request whose path matches. `pagesOrigin`: the origin of pages of deployments; null if there is none for
   * this browser.
   */
  handle(exchange: Exchange, pagesOrigin?: string | null): Promise<void>
  /** The script of pages that show a UI component; undefined while the interface is not built. */
  frameScript(): Promise<Uint8Array | undefined>
}

/**
 * Content Security Policy: pages of the interface may load only from this server, without inline code. Frames show UI
 * components of deployments, from the origin of their pages.
 */
const policyOf = (pagesOrigin: string | null): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types weir-worker',
    ...(pagesOrigin === null ? [] : [`frame-src ${pagesOrigin}/deployments/`]),
  ].join('; ')

const GUARDS: Headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
  woff2: 'font/woff2',
}
/** Endings of compressed files in order of preference. */
const ENCODINGS = [
  ['br', 'br'],
  ['gzip', 'gz'],
] as const

/** Names of assets contain a hash of their content, so an asset never changes. */
const ASSET = /^\/app\/(assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg|woff2))$/
/** Paths of shares in the links of LangSmith's clients. */
const SHARED = /^\/public\/[^/]+\/r(?:\/[^/]+)?$/
/** Paths of projects and runs in the links of LangSmith's clients; `tenant` is a workspace. */
const BY_CLIENTS =
  /^\/o\/(?<tenant>[\da-f-]{36})\/projects\/p\/(?<project>[\da-f-]{36})(?:\/r\/(?<run>[\da-f-]{36}))?$/i
const ICON = '/app/icon.svg'
const IMMUTABLE = 'public, max-age=31536000, immutable'

interface Found {
  bytes: Uint8Array
  encoding: string | undefined
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  return await readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

/** A file in the best encoding that the client accepts. */
async function findFile(path: string, accepted: string | undefined): Promise<Found | undefined> {
  for (const [encoding, ending] of ENCODINGS) {
    if (!accepts(accepted, encoding)) continue
    const bytes = await readIfThere(`${path}.${ending}`)
    if (bytes !== undefined) return { bytes, encoding }
  }
  const bytes = await readIfThere(path)
  return bytes && { bytes, encoding: undefined }
}

/** The file of a path, and its caching. Unknown paths are pages of the interface. */
function fileOf(path: string): { name: string; cache: string } {
  const asset = ASSET.exec(path)?.[1]
  if (asset !== undefined) return { name: asset, cache: IMMUTABLE }
  if (path === ICON) return { name: 'icon.svg', cache: 'public, max-age=86400' }
  return { name: 'index.html', cache: 'no-cache' }
}

/** The page of the interface for the path of a link of LangSmith's clients; undefined for other paths. */
function pageOf(path: string): string | undefined {
  if (SHARED.test(path)) {
    const [, , token = '', , run] = path.split('/')
    return `/app/public/${token}/r${run === undefined ? '' : `?run=${run}`}`
  }
  const { tenant, project, run } = BY_CLIENTS.exec(path)?.groups ?? {}
  if (tenant === undefined) return undefined
  return run === undefined ? `/app/projects/${project}?ws=${tenant}` : `/app/runs/${run}?ws=${tenant}`
}

/** Serves the interface from `folder`; if the interface has not been built, serves a page with that message. */
export function createWebApp({ folder, errorFile }: { folder: string; errorFile: string }): WebApp {
  const sendWaiting = async (exchange: Exchange): Promise<void> => {
    const error = await readIfThere(errorFile)
    const { headers, body } = waitingPage(error && Buffer.from(error).toString())
    sendBytes(exchange, 503, { ...GUARDS, ...headers }, body)
  }

  /** The header `Link` of a page; '' for none. */
  const linksFor = async ({ req, path, search }: Exchange): Promise<string> => {
    const bytes = await readIfThere(join(folder, 'pages.json'))
    const pages = bytes === undefined ? [] : (JSON.parse(Buffer.from(bytes).toString()) as FirstPage[])
    const hasCookie = req.headers.cookie !== undefined
    return linksOf(pages, path.slice('/app'.length) || '/', { hasCookie, search })
  }

  return {
    matches: (path) => path === '/app' || path.startsWith('/app/') || pageOf(path) !== undefined,
    frameScript: () => readIfThere(join(folder, 'component-frame.js')),
    async handle(exchange, pagesOrigin = null) {
      const { req, path } = exchange
      exchange.route = '/app'
      if (req.method !== 'GET' && req.method !== 'HEAD')
        return sendBytes(exchange, 405, { allow: 'GET, HEAD', 'content-type': 'text/plain' }, 'GET only\n')
      const location = pageOf(path)
      if (location !== undefined)
        return sendBytes(exchange, 302, { ...GUARDS, location, 'cache-control': 'no-store' }, '')
      const { name, cache } = fileOf(path)
      const found = await findFile(join(folder, name), req.headers['accept-encoding']?.toString())
      const link = name === 'index.html' ? await linksFor(exchange) : ''
      if (found !== undefined)
        return sendBytes(
          exchange,
          200,
          {
            ...GUARDS,
            'content-security-policy': policyOf(pagesOrigin),
            'content-type': TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
            'cache-control': cache,
            vary: 'accept-encoding',
            ...(link !== '' && { link }),
            ...(found.encoding !== undefined && { 'content-encoding': found.encoding }),
          },
          found.bytes,
        )
      if (name === 'index.html') return await sendWaiting(exchange)
      sendBytes(exchange, 404, { ...GUARDS, 'content-type': 'text/plain' }, 'There is no such file.\n')
    },
  }
}

import { createServer } from 'vite'
import { uiConfig } from './config.ts'

const PORT = 5184
const DEFAULT_SERVER = 'http://127.0.0.1:1984'
/** Paths of the server's own; all others are the interface's. */
const SERVED = ['/api', '/auth', '/live', '/runs', '/sessions', '/docs', '/deployments']

/**
 * The web interface as its sources are, with changes shown at once; calls go to the server at WEIR_URL. The header
 * `origin` is taken away, since the server accepts no calls of pages of another origin without a key.
 */
const target = process.env['WEIR_URL'] ?? DEFAULT_SERVER
const proxied = { target, headers: { origin: target }, changeOrigin: true }
const server = await createServer({
  ...uiConfig(),
  server: { port: PORT, proxy: Object.fromEntries(SERVED.map((path) => [path, proxied])) },
})
await server.listen()
console.log(`The web interface is on http://127.0.0.1:${PORT}/app/, its server is ${target}.`)

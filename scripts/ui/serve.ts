import { createServer } from 'vite'
import { uiConfig } from './config.ts'

const PORT = 5184
const DEFAULT_SERVER = 'http://127.0.0.1:1984'
/** Paths of the server. All other paths belong to the interface. */
const SERVED = ['/api', '/auth', '/live', '/runs', '/sessions', '/docs', '/deployments']

/**
 * Serves the web interface from its sources, and shows changes at once. Calls are passed on to the server at WEIR_URL.
 * The header `origin` gets that server's address, because the server refuses calls without a key from pages of another
 * origin.
 */
const target = process.env['WEIR_URL'] ?? DEFAULT_SERVER
const proxied = { target, headers: { origin: target }, changeOrigin: true }
const server = await createServer({
  ...uiConfig(),
  server: { port: PORT, proxy: Object.fromEntries(SERVED.map((path) => [path, proxied])) },
})
await server.listen()
console.log(`The web interface is on http://127.0.0.1:${PORT}/app/, its server is ${target}.`)

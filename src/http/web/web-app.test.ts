import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createExchange } from '../server/exchange.ts'
import { createWebApp, type WebApp } from './web-app.ts'

describe('the web interface', () => {
  let dir: string
  let server: Server
  let web: WebApp
  const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-web-'))
    web = createWebApp({ folder: join(dir, 'dist'), errorFile: join(dir, 'error') })
    server = createServer((req, res) => void web.handle(createExchange(req, res)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    server.close()
    await rm(dir, { recursive: true })
  })

  it('shows that it is being built, and the error of a failed build as text', async () => {
    const waiting = await fetch(`${base()}/app/projects`)
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '1'])
    expect(waiting.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await waiting.text()).toContain('http-equiv="refresh"')
    await writeFile(join(dir, 'error'), 'no <script> here')
    const failed = await (await fetch(`${base()}/app/`)).text()
    expect(failed).toContain('no &lt;script&gt; here')
    expect(failed).not.toContain('http-equiv="refresh"')
  })

  it('D-8: serves pages under /app with their security policy, assets for ever, and no files outside of its folder', async () => {
    const assets = join(dir, 'dist', 'assets')
    await mkdir(assets, { recursive: true })
    await writeFile(join(dir, 'dist', 'index.html'), '<!doctype html>page')
    await writeFile(join(dir, 'dist', 'sources'), 'secret')
    await writeFile(join(assets, 'index-Ab_1.js'), 'code()')
    await writeFile(join(assets, 'index-Ab_1.js.gz'), gzipSync('code()'))
    for (const path of ['/app', '/app/', '/app/traces/x', '/app/sources', '/app/assets/%2e%2e/sources']) {
      const page = await fetch(base() + path, { headers: { 'accept-encoding': 'identity' } })
      expect([path, page.status, await page.text()]).toEqual([path, 200, '<!doctype html>page'])
      expect(page.headers.get('cache-control')).toBe('no-cache')
      const policy = page.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'; script-src 'self'")
      expect(policy).toContain("font-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    }
    const script = await fetch(`${base()}/app/assets/index-Ab_1.js`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(script.headers.get('content-encoding')).toBe('gzip')
    expect(script.headers.get('cache-control')).toContain('immutable')
    expect(await script.text()).toBe('code()')
    await writeFile(join(assets, 'letters-Ab_1.woff2'), 'letters')
    const font = await fetch(`${base()}/app/assets/letters-Ab_1.woff2`)
    expect([font.headers.get('content-type'), font.headers.get('cache-control')]).toEqual([
      'font/woff2',
      'public, max-age=31536000, immutable',
    ])
    expect((await fetch(`${base()}/app/assets/gone-1.js`)).status).toBe(404)
    expect((await fetch(`${base()}/app/`, { method: 'POST' })).status).toBe(405)
  })

  it('redirects links of the clients to their pages: shares with the run that they name, projects and runs (N3)', async () => {
    const to = async (path: string): Promise<unknown> => {
      const { status, headers } = await fetch(base() + path, { redirect: 'manual' })
      return [status, headers.get('location')]
    }
    expect(await to('/public/token/r')).toEqual([302, '/app/public/token/r'])
    expect(await to('/public/token/r/run')).toEqual([302, '/app/public/token/r?run=run'])
    const [tenant, project, run] = [randomUUID(), randomUUID(), randomUUID()]
    const link = `/o/${tenant}/projects/p/${project}`
    expect(await to(link)).toEqual([302, `/app/projects/${project}?ws=${tenant}`])
    expect(await to(`${link}/r/${run}?poll=true`)).toEqual([302, `/app/runs/${run}?ws=${tenant}`])
    expect([link, `/o/${tenant}/projects/p/x`, '/o/x'].map((path) => web.matches(path))).toEqual([
      true,
      false,
      false,
    ])
  })
})

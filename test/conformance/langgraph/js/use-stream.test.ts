import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, PATIENCE_MS } from '../../../support/eventually.ts'
import { newGate } from '../../../support/runs/gate.ts'
import { useDeployment } from '../../deployments/use-deployment.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const PAGE = fileURLToPath(new URL('../../../fixtures/use-stream/page.mjs', import.meta.url))

/** Required in CI, unless `.ci/run` has reported that it cannot be installed. */
const { CI, WITHOUT_CHROMIUM } = process.env
const isThere = CHROMIUM !== undefined || (CI === '1' && WITHOUT_CHROMIUM !== '1')
const reason = isThere ? '' : ' (Chromium is not installed)'

describe.skipIf(!isThere)(`useStream of the SDK on a page of another origin${reason}`, () => {
  const setup = useDeployment()
  let site: Server
  let browser: Browser
  let page: Page
  const faults: string[] = []

  beforeAll(async () => {
    site = await serve(await bundle())
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    })
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })
  beforeEach(async () => {
    faults.length = 0
    page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    page.on('pageerror', (error) => faults.push(error.message))
  })
  afterEach(async () => {
    await page.close()
    expect(faults).toEqual([])
  })

  /** Shows the page for a graph; its slow run ends when the file `gate` exists. */
  async function open(graph: string, gate = ''): Promise<void> {
    const { port } = site.address() as AddressInfo
    const query = new URLSearchParams({ url: setup().url, key: setup().weir.key, graph, gate })
    await page.goto(`http://127.0.0.1:${port}/?${query.toString()}`)
    await page.waitForSelector('#quick')
  }
  const text = (selector: string) => page.textContent(selector)
  const messages = () => page.$$eval('#messages li', (items) => items.map((item) => item.textContent))
  const shows = (selector: string, part: string) => page.locator(selector, { hasText: part }).waitFor()
  const threadId = () => page.evaluate(() => sessionStorage.getItem('thread') ?? '')

  it('shows what a run streams, and keeps it after its end', async () => {
    await open('tokens')
    await page.click('#quick')
    await shows('#messages', 'tok19')
    await shows('#state', 'idle')
    expect(await messages()).toEqual(['human: hi', `ai: ${tokens(20)}`])
    await page.click('#quick')
    await page.locator('#messages li').nth(3).waitFor()
    await shows('#state', 'idle')
    expect(await text('#error')).toBe('')
  })

  it('resumes a run when the page is loaded again in the middle of it', async () => {
    const gate = await newGate()
    await open('tokens', gate.file)
    await page.click('#slow')
    await shows('#messages', 'tok5 ')
    await page.reload()
    await shows('#state', 'loading')
    await shows('#messages', 'tok59')
    await gate.open()
    await shows('#state', 'idle')
    expect(await messages()).toEqual(['human: hi', `ai: ${tokens(60)}`])
    const runs = await setup().client.runs.list(await threadId())
    expect(runs.map(({ status }) => status)).toEqual(['success'])
  })

  it('stops a run', async () => {
    await open('tokens')
    await page.click('#endless')
    await shows('#messages', 'tok3 ')
    await page.click('#stop')
    await shows('#state', 'idle')
    const thread_id = await threadId()
    await eventually(async () => {
      const [run] = await setup().client.runs.list(thread_id)
      expect(run?.status).toBe('interrupted')
    })
    expect(await text('#error')).toBe('')
  })

  it('shows the error of a run', async () => {
    await open('tokens')
    await page.click('#fail')
    await shows('#error', 'model failed on request')
    await shows('#state', 'idle')
  })

  it('shows an interrupt, and resumes it', async () => {
    await open('kinds')
    await page.click('#ask')
    await shows('#interrupt', 'go on?')
    await page.click('#resume')
    await shows('#answer', 'yes')
    await shows('#state', 'idle')
    expect(await text('#interrupt')).toBe('null')
  })
})

function tokens(count: number): string {
  return Array.from({ length: count }, (_, i) => `tok${i} `).join('')
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [PAGE],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

/** Serves the page on a port of its own, so that the browser calls the deployment across origins. */
async function serve(script: string): Promise<Server> {
  const html =
    '<!doctype html><html><body><div id="root"></div><script type="module" src="/page.js"></script></body></html>'
  const server = createServer((req, res) => {
    const isScript = req.url === '/page.js'
    res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    res.end(isScript ? script : html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

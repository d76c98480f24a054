import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { PATIENCE_MS } from '../../../support/eventually.ts'
import { importSdk, sdkFolder } from '../../../support/langgraph-sdks.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** Chromium must be installed in CI, unless `.ci/run` has reported that it cannot be. */
const { CI, WITHOUT_CHROMIUM } = process.env
export const hasChromium = CHROMIUM !== undefined || (CI === '1' && WITHOUT_CHROMIUM !== '1')
/** The reason to skip tests of pages, for their titles. */
export const withoutChromium = hasChromium ? '' : ' (Chromium is not installed)'

/** A page of test/fixtures/use-stream in Chromium, opened anew for each test. Read it inside tests only. */
export interface HookPage {
  page: Page
  /** Opens the page with these parameters, from another origin than the deployment's. */
  open(parameters: Record<string, string>): Promise<void>
  text(selector: string): Promise<string | null>
  messages(): Promise<(string | null)[]>
  /** Resolves when the element has the text. */
  shows(selector: string, part: string): Promise<void>
  threadId(): Promise<string>
}

/** The page for the tests of a describe block. A test fails when the page throws. */
export function useHookPage(file: string): () => HookPage {
  let site: Server
  let browser: Browser
  let page: Page
  const faults: string[] = []

  beforeAll(async () => {
    site = await serve(
      await bundle(fileURLToPath(new URL(`../../../fixtures/use-stream/${file}`, import.meta.url))),
    )
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      timeout: PATIENCE_MS,
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

  return () => ({
    page,
    async open(parameters) {
      const { port } = site.address() as AddressInfo
      await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(parameters).toString()}`)
      await page.waitForSelector('#quick')
    },
    text: (selector) => page.textContent(selector),
    messages: () => page.$$eval('#messages li', (items) => items.map((item) => item.textContent)),
    shows: (selector, part) => page.locator(selector, { hasText: part }).waitFor(),
    threadId: () => page.evaluate(() => sessionStorage.getItem('thread') ?? ''),
  })
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [svelte],
    // Svelte is not a dependency of the repository; it is in the folder of separately installed packages.
    nodePaths: [sdkFolder('.')],
    // React must be the same copy for the page and for the hooks.
    alias: {
      '@langchain/react': sdkFolder('@langchain/react'),
      react: dirname(fileURLToPath(import.meta.resolve('react'))),
      'react-dom': dirname(fileURLToPath(import.meta.resolve('react-dom'))),
    },
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

interface Compiled {
  js: { code: string }
}

interface SvelteCompiler {
  compile(source: string, options: object): Compiled
  compileModule(source: string, options: object): Compiled
}

/** Compiles components, and modules with runes, of Svelte. */
const svelte: Plugin = {
  name: 'svelte',
  setup(building) {
    building.onLoad({ filter: /\.svelte(?:\.js)?$/ }, async ({ path: filename }) => {
      const { default: compiler } = await importSdk<{ default: SvelteCompiler }>('svelte/compiler')
      const source = await readFile(filename, 'utf8')
      const options = { filename, generate: 'client' }
      const made = filename.endsWith('.js')
        ? compiler.compileModule(source, options)
        : compiler.compile(source, { ...options, css: 'injected' })
      return { contents: made.js.code, loader: 'js' }
    })
  },
}

/** Serves the page on a separate port, so that the browser's calls to the deployment are cross-origin. */
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

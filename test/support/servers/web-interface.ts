import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { uiHash } from '../../../scripts/ui/hash.mjs'
import { CONDITION_MS, PATIENCE_MS } from '../eventually.ts'
import type { UsedWeir } from './use-weir.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const BUILT = fileURLToPath(new URL('../../../ui/dist/sources', import.meta.url))
const BUILD = fileURLToPath(new URL('../../../scripts/ui/build.ts', import.meta.url))

/** Chromium must be installed in CI, unless `.ci/run` has reported that it cannot be. */
const { CI, WITHOUT_CHROMIUM } = process.env

/** What takes this long at most is no motion, in milliseconds. */
const STILL_MS = 1

/** True if tests with a browser run here. */
export const HAS_BROWSER = CHROMIUM !== undefined || (CI === '1' && WITHOUT_CHROMIUM !== '1')
/** The reason why tests with a browser do not run here, for titles. */
export const NO_BROWSER = HAS_BROWSER ? '' : ' (Chromium is not installed)'

export interface UsedInterface {
  browser: Browser
  page: Page
  /** Faults of pages, such as errors of their scripts. The tests fail at the end when there are any. */
  faults: string[]
  /**
   * Opens a path below `/app`. The pointer is moved to the corner, because a list under the pointer does not show new
   * rows.
   */
  open(path: string): Promise<void>
  /** Rules of axe that the page breaks, each with the element that breaks it. */
  broken(): Promise<string[]>
  /** Elements that move, or would when their state changes. */
  moving(): Promise<string[]>
}

/** Records the faults of a page: errors, violations of its policy, requests to another origin. */
export function watchPage(page: Page, origin: string, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('blob:'))
      faults.push(`foreign request: ${request.url()}`)
  })
}

export async function signIn(page: Page, { url, request }: UsedWeir): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await request('/api/v1/auth/tickets', { method: 'POST', headers, body: '{}' })
  const { ticket } = (await answer.json()) as { ticket: string }
  await page.goto(`${url}/app/#ticket=${ticket}`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

const MOVING = `(() => {
  const longest = (times) => Math.max(...times.split(',').map((time) => parseFloat(time) * (/ms$/.test(time) ? 1 : 1000)))
  const moves = (style) =>
    style.scrollBehavior === 'smooth' ||
    longest(style.transitionDuration) > ${STILL_MS} ||
    (style.animationName !== 'none' && longest(style.animationDuration) > ${STILL_MS})
  const found = [...document.querySelectorAll('*')].filter((one) =>
    ['', '::before', '::after', '::backdrop'].some((part) => moves(getComputedStyle(one, part || null))))
  const running = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > ${STILL_MS})
  return [...new Set([...found, ...running.map(({ effect }) => effect.target)])]
    .map(({ tagName, className }) => tagName.toLowerCase() + '.' + String(className.baseVal ?? className))
})()`

/** Builds the interface, unless the last build was made from the same sources. */
export function buildInterface(): void {
  if (existsSync(BUILT) && readFileSync(BUILT, 'utf8') === uiHash()) return
  expect(spawnSync(process.execPath, [BUILD], { encoding: 'utf8' }).stderr).toBe('')
}

/** Starts the browser. Its pages wait less than a test does, so that what they waited for is in the error. `env` is added to its environment. */
export async function launchBrowser(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...args],
    env: { ...process.env, ...env },
    timeout: PATIENCE_MS,
  })
  browser.on('context', (context) => context.setDefaultTimeout(CONDITION_MS))
  return browser
}

/** Builds the interface and opens a browser for the tests of a file. The tests fail when a page had a fault. */
export function useInterface(
  server: { current(): UsedWeir },
  browserArgs: readonly string[] = [],
): { current(): UsedInterface } {
  let used: UsedInterface | undefined
  const faults: string[] = []
  beforeAll(async () => {
    buildInterface()
    const browser = await launchBrowser(browserArgs)
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      colorScheme: 'dark',
      // In the middle of a transition, axe would measure the contrast of a colour that soon changes.
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const page = await context.newPage()
    watchPage(page, server.current().url, faults)
    used = {
      browser,
      page,
      faults,
      async open(path) {
        await page.mouse.move(0, 0)
        await page.goto(`${server.current().url}/app${path}`)
      },
      moving: () => page.evaluate<string[]>(MOVING),
      async broken() {
        if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
        return await page.evaluate(async () => {
          const { axe: checker } = globalThis as unknown as { axe: typeof axe }
          return (await checker.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
        })
      },
    }
  })
  afterAll(async () => {
    await used?.browser.close()
    expect(faults).toEqual([])
  })
  return {
    current() {
      if (used === undefined) throw new Error('the browser has not started')
      return used
    },
  }
}

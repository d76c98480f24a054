import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { campaignSample, LONG_MS } from '../../support/campaign.ts'
import { DEPLOYMENT } from '../../conformance/web/studio.ts'
import { sendSamples, SAMPLE_PROJECT, type Samples } from '../../support/servers/sample-project.ts'
import { borrowWeir, type UsedWeir, useWeir } from '../../support/servers/use-weir.ts'
import {
  HAS_BROWSER,
  NO_BROWSER,
  signIn,
  type UsedInterface,
  useInterface,
} from '../../support/servers/web-interface.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** The folder for the pictures. Without it, pictures are checked but not written. */
const { SCREENSHOTS } = process.env
const WIDTHS = [1440, 1024, 320] as const
const THEMES = ['light', 'dark'] as const
/** A picture with fewer colours shows an empty page with only its head. */
const LEAST_COLOURS = 24

/** A screen: its name, its address, and a text that the page shows when it is complete. */
type Screen = readonly [name: string, path: string, sign: string]

function screens(project: string, { trace, call, thread }: Samples): Screen[] {
  const of = `/projects/${project}`
  return [
    ['projects', '/projects', SAMPLE_PROJECT],
    ['traces', of, 'travel_agent'],
    ['filtered', `${of}?view=runs&q=${encodeURIComponent('eq(run_type, "llm")')}`, 'answer'],
    ['overview', `${of}?view=overview&t=7d`, 'Time to first token'],
    ['overview-models', `${of}?view=overview&t=7d&by=model&of=llm`, 'claude-sonnet-4-5'],
    ['threads', `${of}?view=threads`, thread],
    ['thread', `/threads/${thread}?project=${project}`, 'rain'],
    ['trace', `/traces/${trace}?run=${call}`, 'a light jacket'],
    ['messages', `/traces/${trace}?view=messages`, 'a light jacket'],
    ['compare', `/compare?a=${call}&b=${trace}`, 'Parameters and metadata'],
    ['playground', `/playground?from=${call}`, 'Kept in this browser'],
    ['deployments-none', '/deployments', 'There is no deployment'],
    ['usage', '/usage?t=7d', 'Every number of the chart'],
    ['usage-cost', '/usage?t=7d&by=model&of=cost', 'claude-sonnet-4-5'],
    ['prices', '/prices?model=gpt-4.1-mini', 'Shipped price'],
    ['ingest', '/ingest', 'Refused records'],
    ['validate', '/validate', 'Open a file'],
    ['settings-keys', '/settings', 'Service keys'],
    ['settings-workspaces', '/settings?view=workspaces', 'Nothing of one workspace'],
    ['settings-members', '/settings?view=members', 'People of the organization'],
    ['settings-roles', '/settings?view=roles', 'organization:manage'],
    ['settings-retention', '/settings?view=retention', SAMPLE_PROJECT],
    ['settings-audit', '/settings?view=audit', 'Changes of workspaces'],
    ['settings-server', '/settings?view=server', 'Ingest body'],
  ]
}

/** Runs the graph `kinds` on a new thread; resolves with the thread's id. */
async function runKind(weir: UsedWeir, kind: string): Promise<string> {
  const { thread_id } = await weir.json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
  const run = { assistant_id: 'kinds', input: { kind }, on_disconnect: 'continue' }
  await weir.json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, run)
  return thread_id
}

/** The screens of a deployment with a run that succeeded, one that asks, one that failed, and a chat. */
async function deploymentScreens(weir: UsedWeir): Promise<Screen[]> {
  const [done, asked, failed] = [
    await runKind(weir, 'sub'),
    await runKind(weir, 'ask'),
    await runKind(weir, 'fail'),
  ]
  const { thread_id: chat } = await weir.json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
  await weir.json(`${DEPLOYMENT}/threads/${chat}/runs/wait`, {
    assistant_id: 'tokens',
    input: { messages: [{ role: 'user', content: 'What does the river carry?' }] },
  })
  const studio = `${DEPLOYMENT}/studio`
  return [
    ['deployments', '/deployments', 'fixtures'],
    ['deployment', DEPLOYMENT, 'Host processes'],
    ['usage-runs', '/usage?t=12h&of=runs', 'By deployment'],
    ['deployment-runs', `${DEPLOYMENT}?view=runs`, 'Cancel many'],
    ['deployment-threads', `${DEPLOYMENT}?view=threads`, done],
    ['deployment-assistants', `${DEPLOYMENT}?view=assistants`, 'show all'],
    ['deployment-revisions', `${DEPLOYMENT}?view=revisions`, 'has no revisions'],
    ['studio-new', `${studio}?assistant=kinds`, 'There is no thread yet'],
    ['studio-done', `${studio}/${done}?assistant=kinds`, 'Changed by this step'],
    ['studio-asks', `${studio}/${asked}?assistant=kinds`, 'The run waits for an answer'],
    ['studio-failed', `${studio}/${failed}?assistant=kinds`, 'failed'],
    ['studio-chat', `${studio}/${chat}?assistant=tokens&mode=chat`, 'What does the river carry?'],
  ]
}

/** Number of different colours in a picture, counted by the browser. */
async function coloursOf(page: Page, png: Buffer): Promise<number> {
  return await page.evaluate<number>(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (letter) => letter.charCodeAt(0))
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
    canvas.drawImage(picture, 0, 0)
    return new Set(new Uint32Array(canvas.getImageData(0, 0, picture.width, picture.height).data.buffer)).size
  })()`)
}

/** Lists the elements of the head that extend beyond the window, and the page itself if it is wider than the window. */
async function clipped(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`(() => {
    const { scrollWidth } = document.documentElement
    const main = document.querySelector('#main')
    const outside = [...document.querySelectorAll('nav[aria-label="Pages"] a, header button')].filter((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect()
      const around = (one.closest('nav') ?? document.documentElement).getBoundingClientRect()
      return left < 0 || right > innerWidth || top < around.top - 1 || bottom > around.bottom + 1
    })
    const isWide = scrollWidth > innerWidth || main.scrollWidth > main.clientWidth
    return [...outside.map((one) => one.textContent), ...(isWide ? ['scrolls sideways'] : [])]
  })()`)
}

/** Faults of the screens in both themes, at three widths. */
async function faultsOfLooks({ page, open }: UsedInterface, shown: readonly Screen[]): Promise<unknown[]> {
  const faults: unknown[] = []
  for (const [name, path, sign] of shown) {
    await open(path)
    await page.getByText(sign).filter({ visible: true }).first().waitFor()
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width === 320 ? 720 : 900 })
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme })
        const png = await page.screenshot()
        if (SCREENSHOTS !== undefined)
          await writeFile(join(SCREENSHOTS, `${name}-${width}-${theme}.png`), png)
        const colours = await coloursOf(page, png)
        if (colours < LEAST_COLOURS) faults.push([name, width, theme, `${colours} colours`])
      }
      const outside = await clipped(page)
      if (outside.length > 0) faults.push([name, width, outside])
    }
  }
  return faults
}

/** Faults of the screens when text has twice its size. */
async function faultsOfLargeText(
  { page, open, broken }: UsedInterface,
  shown: readonly Screen[],
): Promise<unknown[]> {
  const faults: unknown[] = []
  await page.setViewportSize({ width: 1024, height: 900 })
  for (const [name, path, sign] of shown) {
    await open(path)
    await page.evaluate(`document.documentElement.style.setProperty('font-size', '200%')`)
    await page.getByText(sign).filter({ visible: true }).first().waitFor()
    const found = [...(await clipped(page)), ...(await broken())]
    if (SCREENSHOTS !== undefined)
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-large-text.png`) })
    if (found.length > 0) faults.push([name, found])
  }
  return faults
}

/** Signs in, and makes the folder for the pictures. */
async function prepare({ page }: UsedInterface, weir: UsedWeir): Promise<void> {
  await signIn(page, weir)
  if (SCREENSHOTS !== undefined) await mkdir(SCREENSHOTS, { recursive: true })
}

describe.skipIf(!HAS_BROWSER)(`pictures of the web interface${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  let shown: Screen[] = []

  beforeAll(async () => {
    const weir = server.current()
    const samples = await sendSamples(weir, Date.now())
    const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${SAMPLE_PROJECT}`)
    shown = campaignSample(screens(project?.id ?? '', samples))
    await prepare(used.current(), weir)
  })

  it('of every screen in both themes at three widths: none is empty, scrolls sideways or clips the navigation', async () => {
    expect(await faultsOfLooks(used.current(), shown)).toEqual([])
  })

  it('with text of twice the size: nothing is cut off, and axe finds no fault', async () => {
    expect(await faultsOfLargeText(used.current(), shown)).toEqual([])
  })
})

describe.skipIf(!HAS_BROWSER)(`pictures of deployments and Studio${NO_BROWSER}`, () => {
  let weir: UsedWeir
  beforeAll(async () => {
    weir = await borrowWeir('/weir/deployment')
  })
  const used = useInterface({ current: () => weir })
  let shown: Screen[] = []
  beforeAll(async () => {
    shown = campaignSample(await deploymentScreens(weir))
    await prepare(used.current(), weir)
  })
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
  })

  it('in both themes at three widths: none is empty, scrolls sideways or clips the navigation', async () => {
    expect(await faultsOfLooks(used.current(), shown)).toEqual([])
  })

  it('with text of twice the size: nothing is cut off, and axe finds no fault', async () => {
    expect(await faultsOfLargeText(used.current(), shown)).toEqual([])
  })
})

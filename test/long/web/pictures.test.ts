import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { sendSamples, SAMPLE_PROJECT, type Samples } from '../../support/servers/sample-project.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import {
  buildInterface,
  HAS_BROWSER,
  launchBrowser,
  NO_BROWSER,
  signIn,
} from '../../support/servers/web-interface.ts'

/** The pictures with which the interface is compared. UPDATE_GOLDEN=1 writes them. */
const KEPT = fileURLToPath(new URL('pictures', import.meta.url))
const { UPDATE_GOLDEN } = process.env
/** The only font in the pictures, from Debian's package fonts-dejavu-core. */
const FONTS = '/usr/share/fonts/truetype/dejavu'
const HAS_FONT = existsSync(join(FONTS, 'DejaVuSans.ttf'))
const NO_FONT = HAS_FONT ? '' : ' (the font DejaVu is not installed)'

const NOW = Date.parse('2026-11-20T15:00:00Z')
const SIZE = { width: 1024, height: 640 }
const MOST_DIFFERENT = 0.001
/** Longest time for all parts of a page to load. */
const SETTLED_MS = 30_000

/** A state: its name, its address, and a text that the page shows when it is complete. */
type State = readonly [name: string, path: string, sign: string]

function states(project: string, empty: string, { trace, call, thread }: Samples): State[] {
  const of = `/projects/${project}`
  return [
    ['projects', '/projects', SAMPLE_PROJECT],
    ['empty', `/projects/${empty}`, 'No trace has arrived yet'],
    ['traces', `${of}?t=7d`, 'travel_agent'],
    [
      'filtered',
      `${of}?view=runs&t=7d&sort=latency&q=${encodeURIComponent('eq(run_type, "llm")')}`,
      'answer',
    ],
    ['overview', `${of}?view=overview&t=7d`, 'Time to first token'],
    ['threads', `${of}?view=threads&t=7d`, thread],
    ['thread', `/threads/${thread}?project=${project}`, 'rain'],
    ['trace', `/traces/${trace}?run=${call}`, 'started'],
    ['messages', `/traces/${trace}?view=messages`, 'a light jacket'],
    ['compare', `/compare?a=${call}&b=${trace}`, 'Parameters and metadata'],
    ['prices', '/prices?model=gpt-4.1-mini', 'Shipped price'],
    ['validate', '/validate', 'Open a file'],
    ['display', '/settings?view=display', 'In UTC'],
    ['nowhere', '/nowhere', 'There is no such page'],
  ]
}

/** The fonts of the families that the interface names. */
const FAMILIES = [
  ['system-ui', 'DejaVu Sans'],
  ['sans-serif', 'DejaVu Sans'],
  ['ui-monospace', 'DejaVu Sans Mono'],
  ['monospace', 'DejaVu Sans Mono'],
] as const

function familyXml([name, font]: (typeof FAMILIES)[number]): string {
  return `<match target="pattern"><test name="family"><string>${name}</string></test>
    <edit name="family" mode="assign" binding="strong"><string>${font}</string></edit></match>`
}

/** Writes a configuration of fontconfig that has only this font; returns its path. */
async function writeFonts(folder: string): Promise<string> {
  const path = join(folder, 'fonts.conf')
  const text = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
    <dir>${FONTS}</dir><cachedir>${folder}</cachedir>
    ${FAMILIES.map(familyXml).join('')}</fontconfig>`
  await writeFile(path, text)
  return path
}

/** Share of pixels that differ; 1 for pictures of different sizes. */
function difference(a: Buffer, b: Buffer): number {
  const [left, right] = [PNG.sync.read(a), PNG.sync.read(b)]
  const { width, height } = left
  if (width !== right.width || height !== right.height) return 1
  return pixelmatch(left.data, right.data, undefined, width, height, { threshold: 0.1 }) / (width * height)
}

describe.skipIf(!HAS_BROWSER || !HAS_FONT)(`pictures that are kept${NO_BROWSER}${NO_FONT}`, () => {
  const server = useWeir()
  let browser: Browser
  let page: Page
  let folder = ''
  let shown: State[] = []

  beforeAll(async () => {
    buildInterface()
    const weir = server.current()
    folder = await mkdtemp(join(tmpdir(), 'weir-fonts-'))
    browser = await launchBrowser(['--font-render-hinting=none', '--force-color-profile=srgb'], {
      FONTCONFIG_FILE: await writeFonts(folder),
    })
    const context = await browser.newContext({
      viewport: SIZE,
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    })
    page = await context.newPage()
    await page.clock.setFixedTime(NOW)
    const samples = await sendSamples(weir, NOW, 60)
    const made = await weir.json<{ id: string }>('/api/v1/sessions', { name: 'new-project' })
    const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${SAMPLE_PROJECT}`)
    shown = states(project?.id ?? '', made.id, samples)
  })
  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true, force: true })
  })

  const take = (): Promise<Buffer> => {
    const mask = [page.locator('pre', { hasText: '127.0.0.1' })]
    return page.screenshot({ animations: 'disabled', caret: 'hide', mask })
  }

  /** Writes a picture of the page when it has not changed for ten looks, because its parts load one after the other. */
  async function keep(path: string): Promise<void> {
    let last = await take()
    let same = 0
    await eventually(async () => {
      const next = await take()
      same = next.equals(last) ? same + 1 : 0
      last = next
      expect(same).toBeGreaterThanOrEqual(10)
    })
    await writeFile(path, last)
  }

  /**
   * Compares the page with its picture. The comparison is repeated for some time, because the parts of a page load one
   * after the other.
   */
  async function compare(name: string): Promise<string[]> {
    const faults: string[] = []
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      const path = join(KEPT, theme, `${name}.png`)
      await mkdir(join(KEPT, theme), { recursive: true })
      if (UPDATE_GOLDEN === '1') await keep(path)
      const kept = await readFile(path)
      let share = 1
      let taken: Buffer = kept
      await eventually(async () => {
        taken = await take()
        share = difference(taken, kept)
        expect(share).toBeLessThanOrEqual(MOST_DIFFERENT)
      }, SETTLED_MS).catch(() => undefined)
      if (share <= MOST_DIFFERENT) continue
      await writeFile(join(tmpdir(), `weir-${theme}-${name}.png`), taken)
      faults.push(`${theme} ${name}: ${(share * 100).toFixed(2)} % differs`)
    }
    return faults
  }

  it('fifteen states in two themes look as they did, but for 0.1 % of their pixels', async () => {
    const { url } = server.current()
    await page.goto(`${url}/app/`)
    await page.getByLabel('API key').waitFor()
    const faults = await compare('sign-in')
    await page.goto('about:blank')
    await signIn(page, server.current())
    for (const [name, path, sign] of shown) {
      await page.goto(`${url}/app${path}`)
      await page.getByText(sign).filter({ visible: true }).first().waitFor()
      faults.push(...(await compare(name)))
    }
    expect(faults).toEqual([])
  })
})

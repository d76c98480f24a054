import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { SAMPLE_PROJECT, sendSamples } from '../../test/support/servers/sample-project.ts'
import { startWeir, type WeirProcess } from '../../test/support/servers/server.ts'
import { UI } from './config.ts'
import { buildUi } from './build.ts'

/**
 * `npm run pictures` takes the pictures of the documentation from a server with sample data, and writes them to
 * docs/images. Needs Chromium.
 */
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const SIZE = { width: 1440, height: 900 }
const QUALITY = 0.86

type Picture = readonly [name: string, path: string, sign: string]

/** Writes what the page shows as WebP, which the browser encodes. */
async function take(page: Page, name: string): Promise<void> {
  const png = await page.screenshot()
  const webp = await page.evaluate<string>(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (letter) => letter.charCodeAt(0))
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = document.createElement('canvas')
    canvas.width = picture.width
    canvas.height = picture.height
    canvas.getContext('2d').drawImage(picture, 0, 0)
    return canvas.toDataURL('image/webp', ${QUALITY}).split(',')[1]
  })()`)
  await writeFile(`${IMAGES}${name}.webp`, Buffer.from(webp, 'base64'))
}

/** Fills the server, and returns the pictures of what it shows. */
async function seed(weir: WeirProcess): Promise<Picture[]> {
  const { trace, call } = await sendSamples(weir, Date.now())
  const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${SAMPLE_PROJECT}`)
  await weir.json(`/api/v1/runs/${call}/comments`, {
    text: 'The forecast is from yesterday. Is the cache stale?',
  })
  return [
    ['trace', `/traces/${trace}?run=${call}`, 'a light jacket'],
    ['graph', `/traces/${trace}?graph=on`, 'Dashed lines'],
    ['overview', `/projects/${project?.id}?view=overview&t=7d&by=model&of=llm`, 'claude-sonnet-4-5'],
  ]
}

async function main(): Promise<void> {
  await buildUi(`${UI}dist`)
  const weir = await startWeir()
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  try {
    const pictures = await seed(weir)
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' })
    const { ticket } = await weir.json<{ ticket: string }>('/api/v1/auth/tickets', {})
    await page.goto(`${weir.url}/app/#ticket=${ticket}`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    for (const [name, path, sign] of pictures) {
      await page.goto(`${weir.url}/app${path}`)
      await page.getByText(sign).first().waitFor()
      await page.waitForLoadState('networkidle').catch(() => undefined)
      await page.evaluate('document.fonts.ready.then(() => undefined)')
      await take(page, name)
    }
  } finally {
    await browser.close()
    await weir.stop()
  }
}

await main()

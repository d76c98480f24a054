import { expect, it } from 'vitest'
import { campaignSample } from '../../support/campaign.ts'
import type { SentForPages } from './trace.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

/** How a page is shown: its theme, and the width of the window in pixels. */
type Look = readonly [theme: 'light' | 'dark', width: number]

/** The pages that are checked, each with its themes and widths. */
type Extent = 'every page in every look' | 'every page in a look in turn'

const LOOKS: readonly Look[] = [
  ['dark', 1440],
  ['light', 320],
  ['dark', 1024],
  ['light', 1440],
  ['dark', 320],
  ['light', 1024],
]

interface Used {
  used: { current(): UsedInterface }
  sent(): Promise<SentForPages>
  extent: Extent
}

/** The page that lists the traces of the whole usage report. */
async function countedPath({ page, open }: UsedInterface): Promise<string> {
  await open('/usage')
  const link = page.getByRole('region', { name: 'Report' }).getByRole('link').first()
  return ((await link.getAttribute('href')) ?? '').replace('/app', '')
}

/**
 * Checks the open page with axe in these looks, by default in a sample of all (see `campaignSample`). `name` is the
 * name of the page.
 */
export async function checkLooks(
  { page, broken }: UsedInterface,
  name: string,
  looks: readonly Look[] = campaignSample(LOOKS),
): Promise<void> {
  for (const [theme, width] of looks) {
    await page.emulateMedia({ colorScheme: theme })
    await page.setViewportSize({ width, height: 900 })
    expect([name, theme, width, await broken()]).toEqual([name, theme, width, []])
  }
}

/** Checks every page with axe, and that nothing moves for readers who want less motion. The browser is signed in. */
export function accessibilityTests({ used, sent, extent }: Used): void {
  it(`has no accessibility faults according to axe, and no motion under reduced motion: ${extent}`, async () => {
    const { project, trace, call, shared, thread } = await sent()
    const { page, open, moving } = used.current()
    const pages = [
      ['/projects', 'trips'],
      [`/projects/${project}`, 'agent'],
      [`/projects/${project}?view=threads`, 'No thread yet'],
      [`/projects/${project}?view=overview&t=1d`, 'Time to first token'],
      [`/projects/${project}?view=overview&t=1d&by=model`, 'gpt-4.1-mini'],
      [thread, '18 °C'],
      [`/public/${shared}/r`, 'agent'],
      [`/traces/${trace}?run=${call}`, '18 °C'],
      [`/traces/${trace}?view=messages`, '18 °C'],
      [`/traces/${trace}?graph=on`, 'Dashed lines'],
      [`/compare?a=${call}&b=${trace}`, 'Parameters and metadata'],
      ['/usage', 'Every number of the chart'],
      [await countedPath(used.current()), 'Counted at'],
      ['/prices?model=gpt-4.1-mini', 'Shipped price'],
      ['/ingest', 'Refused records'],
      ['/validate', 'Open a file'],
      ['/settings', 'Service keys'],
      ['/settings?view=workspaces', 'Nothing of one workspace'],
      ['/settings?view=members', 'People of the organization'],
      ['/settings?view=roles', 'organization:manage'],
      ['/settings?view=alerts', 'Rules about the charts'],
      ['/settings?view=retention', 'trips'],
      ['/settings?view=audit', 'key.create'],
      ['/settings?view=display', 'In UTC'],
      ['/settings?view=server', 'Ingest body'],
      ['/settings?view=secrets', 'Secrets of the workspace'],
      [`/playground?from=${call}`, 'Source run'],
      ['/nowhere', 'There is no such page'],
    ] as const
    const isWhole = extent === 'every page in every look'
    for (const [turn, [path, sign]] of pages.entries()) {
      await open(path)
      await page.getByText(sign).first().waitFor()
      expect([path, await moving()]).toEqual([path, []])
      const looks = LOOKS.filter((_, i) => isWhole || i === turn % LOOKS.length)
      await checkLooks(used.current(), path, looks)
    }
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'no-preference' })
    await page.setViewportSize({ width: 1440, height: 900 })
    expect(await moving()).not.toEqual([])
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })
}

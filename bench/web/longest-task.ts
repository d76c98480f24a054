import type { CDPSession, Page } from 'playwright-core'

/** An event of a trace of Chromium; times are microseconds. */
interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** Wall time and CPU time of a complete event. */
  dur?: number
  tdur?: number
  args?: { name?: string }
}

/**
 * The longest task of a page's main thread, in milliseconds. Other processes lengthen its real time (`wall`), but not its
 * CPU time.
 */
export interface LongestTask {
  wall: number
  cpu: number
}

const CATEGORIES = ['toplevel', 'devtools.timeline']

function longestOf(events: readonly TraceEvent[]): LongestTask {
  const pages = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const longest = { wall: 0, cpu: 0 }
  for (const { name, ph, pid, tid, dur = 0, tdur = 0 } of events) {
    if (ph !== 'X' || !name.endsWith('RunTask') || !pages.has(`${pid} ${tid}`)) continue
    longest.wall = Math.max(longest.wall, dur / 1000)
    longest.cpu = Math.max(longest.cpu, tdur / 1000)
  }
  return longest
}

/** Traces the tasks of the page while `act` runs. */
export async function longestTask(page: Page, act: () => Promise<void>): Promise<LongestTask> {
  const session: CDPSession = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES },
  })
  await act()
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  return longestOf(events)
}

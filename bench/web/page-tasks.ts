import { writeFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'

/**
 * A task of a page's main thread. On a busy machine, waiting for a core adds to the real time but not to the CPU time.
 */
export interface PageTask {
  ms: number
  cpuMs: number
}

interface TraceEvent {
  ph: string
  name: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args: { name?: string }
}

const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline']
const PROFILER = ['disabled-by-default-v8.cpu_profiler']

/**
 * Records a trace of Chromium while `work` runs. Returns the tasks of the main threads of pages in it. With TRACE=FILE
 * the trace is also written to this file, with a CPU profile, for DevTools; profiling adds CPU time.
 */
export async function tasksOf(browser: Browser, page: Page, work: () => Promise<void>): Promise<PageTask[]> {
  const file = process.env['TRACE']
  const categories = file === undefined ? CATEGORIES : [...CATEGORIES, ...PROFILER]
  await browser.startTracing(page, { categories })
  await work()
  const trace = await browser.stopTracing()
  if (file !== undefined) writeFileSync(file, trace)
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const thread = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
  const names = traceEvents.filter(({ name }) => name === 'thread_name')
  const main = new Set(names.filter(({ args }) => args.name === 'CrRendererMain').map(thread))
  return traceEvents
    .filter((event) => event.ph === 'X' && event.name.endsWith('RunTask') && main.has(thread(event)))
    .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1000, cpuMs: tdur / 1000 }))
}

const BAR_MS = 100

/** The number of tasks above 100 ms, and the longest task, in real time and in CPU time. */
export function longTasks(tasks: readonly PageTask[]): string {
  const of = (key: keyof PageTask, unit: string): string => {
    const times = tasks.map((task) => task[key])
    const over = times.filter((ms) => ms > BAR_MS).length
    return `${over} above ${BAR_MS} ms${unit}, the longest ${Math.round(Math.max(0, ...times))} ms`
  }
  return `tasks: ${of('ms', '')}; ${of('cpuMs', ' of CPU')}`
}

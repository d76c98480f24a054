import type { Clock } from '../../base/clock.ts'
import { writePageCursor } from '../../base/text/page-cursor.ts'
import { parseThreadFilter } from '../../trace/filter/thread-filter.ts'
import type { ReadSteps } from '../steps.ts'
import {
  ALWAYS,
  countsOf,
  fewTurns,
  filtersOf,
  isScan,
  matching,
  matchingThreads,
  windowOf,
  startOf,
  summariesOf,
  withFeedback,
} from './list.ts'
import { summarize } from './sums.ts'
import { turnPage } from './turn-page.ts'

import type { ThreadChoice, ThreadPage, ThreadReads } from './thread-reads.ts'

/** `steps` are shared with the other reads of the server. */
export function createThreadReads(steps: ReadSteps, clock: Clock): ThreadReads {
  const { store } = steps
  return {
    async page(workspace_id, { choice, request, page_size, cursor }, asker) {
      const matches = choice.thread_filter === undefined ? undefined : parseThreadFilter(choice.thread_filter)
      const start = await startOf({ choice, request, cursor }, clock, () =>
        store.threadMark(workspace_id, choice.project_id),
      )
      const { written, after, ...selection } = start
      const work = async (): Promise<ThreadPage> => {
        // One more than the page has, so that the last page is never empty (S-15).
        const query = { ...selection, written, ...(after && { after }) }
        const found = await matching(steps, workspace_id, { query, matches, wanted: page_size + 1 })
        const shown = found.slice(0, page_size)
        const last = found.length > page_size ? shown.at(-1)?.place : undefined
        const { from, to } = selection
        return {
          items: await withFeedback(steps, workspace_id, selection, shown),
          next_cursor: last
            ? writePageCursor(request, [from, to, written, last.last_start, last.last_trace_id])
            : null,
        }
      }
      return isScan(selection) || matches ? steps.inTurn(asker, work) : work()
    },

    groups: (workspace_id, { choice, offset, limit }, asker) =>
      steps.inTurn(asker, async () => {
        const selection = windowOf(choice, clock)
        const written = await store.threadMark(workspace_id, choice.project_id)
        const [places, { threads: total }] = await Promise.all([
          store.threads(workspace_id, { ...selection, written, limit: offset + limit }),
          store.countThreads(workspace_id, selection),
        ])
        const found = await summariesOf(steps, workspace_id, selection, places.slice(offset))
        return { items: await withFeedback(steps, workspace_id, selection, found), total }
      }),

    turns: (workspace_id, wanted, asker) => turnPage(steps, workspace_id, wanted, asker),

    async stats(workspace_id, { project_id, thread_id, filter }, asker) {
      const filters = filtersOf({ ...(filter && { filter }) })
      const window = { project_id, ...ALWAYS, ...filters }
      const few = filters.filter ? undefined : await fewTurns(steps, workspace_id, window, [thread_id])
      const inStore = () =>
        steps.inTurn(asker, () => store.threadSummaries(workspace_id, window, [thread_id]))
      const [summary] = few ? summarize(few.turns) : await inStore()
      if (summary === undefined) return undefined
      const query = { project_ids: [project_id], is_root: true, of_threads: [thread_id], ...filters }
      const roots = few?.turns.map(({ root: { run_id } }) => ({ run_id, owner: thread_id }))
      const feedback = roots
        ? (await store.feedbackOfOwners(workspace_id, roots)).get(thread_id)
        : await store.feedbackStats(workspace_id, query)
      return { ...summary, feedback: feedback ?? {} }
    },

    figures: (workspace_id, choice, asker) =>
      steps.inTurn(asker, () => figuresOf(steps, workspace_id, choice, clock)),
  }
}

async function figuresOf(
  steps: ReadSteps,
  workspace_id: string,
  choice: ThreadChoice,
  clock: Clock,
): ReturnType<ThreadReads['figures']> {
  const { store } = steps
  const selection = windowOf(choice, clock)
  const { project_id, from, to } = selection
  const matches = choice.thread_filter === undefined ? undefined : parseThreadFilter(choice.thread_filter)
  const found = matches && (await matchingThreads(steps, workspace_id, selection, matches))
  const query = {
    project_ids: [project_id],
    is_root: true,
    start_time: from,
    end_time: to,
    of_threads: found?.map(({ place }) => place.thread_id) ?? selection,
  }
  const [count, { figures }, feedback] = await Promise.all([
    found ? countsOf(found) : store.countThreads(workspace_id, selection),
    store.runStats(workspace_id, query),
    store.feedbackStats(workspace_id, query),
  ])
  return { ...count, figures: figures[0]!, feedback }
}

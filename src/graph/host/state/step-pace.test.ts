import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { SealableSaver } from './sealable-saver.ts'
import { createStepPace, createTurns, type Receiver } from './step-pace.ts'

const State = Annotation.Root({
  steps: Annotation<number>({ reducer: (_before, next) => next, default: () => 0 }),
})

const noBacklog: Receiver = { caughtUp: () => undefined }

/** Runs a graph whose node never waits. The node is repeated until `ended` returns true. */
function runQuickSteps(receivers: readonly Receiver[], ended: () => boolean) {
  const stored = async (): Promise<void> => undefined
  const inner = Object.assign(new MemorySaver(), noBacklog, { stored })
  const graph = new StateGraph(State)
    .addNode('work', ({ steps }) => ({ steps: steps + 1 }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', () => (ended() ? END : 'work'), ['work', END])
    .compile({ checkpointer: new SealableSaver(inner, createStepPace(receivers)) })
  return graph.invoke({}, { recursionLimit: 2_000, durability: 'sync', configurable: { thread_id: 'quick' } })
}

describe('createStepPace', () => {
  it('lets timers run between steps that wait for nothing', async () => {
    let isOver = false
    setTimeout(() => {
      isOver = true
    })
    // If the event loop did not turn, `isOver` would never be set, and the run would end with an error at its limit of
    // steps.
    const { steps } = await runQuickSteps([noBacklog, createTurns()], () => isOver)
    expect(steps).toBeGreaterThan(0)
  })

  it('begins no step while a receiver is behind', async () => {
    let steps = 0
    let catchUp = (): void => undefined
    const behind = new Promise<void>((resolve) => {
      catchUp = resolve
    })
    const receiver = { caughtUp: () => (steps === 1 ? behind : undefined) }
    const ended = runQuickSteps([noBacklog, receiver], () => (steps += 1) === 3)
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(steps).toBe(1)
    catchUp()
    expect(await ended).toEqual({ steps: 3 })
  })
})

import { jsonBody, type WeirProcess } from '../servers/weir-process.ts'

type Server = Pick<WeirProcess, 'json'>

/** Sources of nodes: one does nothing, one never ends, and one fills the memory of its process. */
export const NODES = {
  well: '() => ({ n: 1 })',
  loops: '() => { while (true) {} }',
  leaks:
    'async () => { const kept = []; for (;;) { kept.push(Buffer.alloc(1 << 20, 1)); await new Promise((r) => setTimeout(r, 5)) } }',
} as const

/** The source of a graph with this one node. */
export function graphOf(node: string): string {
  return `
    import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
    const State = Annotation.Root({ n: Annotation<number>() })
    export const graph = new StateGraph(State).addNode('work', ${node}).addEdge(START, 'work').addEdge('work', END).compile()
  `
}

/** Runs the deployment's graph `agent` to its end. */
export function runOnce(weir: Server, name: string): Promise<unknown> {
  return weir.json(`/deployments/${name}/runs/wait`, jsonBody('POST', { assistant_id: 'agent', input: {} }))
}

/** Runs the graph `runs` times, one run after the other; returns the milliseconds of each. */
export async function latencies(weir: Server, name: string, runs: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < runs; n += 1) {
    const started = performance.now()
    await runOnce(weir, name)
    times.push(performance.now() - started)
  }
  return times
}

/** Runs the graph repeatedly, whether or not runs fail, until the returned function is called. */
export function keepRunning(weir: Server, name: string): () => Promise<void> {
  let isOver = false
  const runs = (async () => {
    while (!isOver) await runOnce(weir, name).catch(() => undefined)
  })()
  return () => {
    isOver = true
    return runs
  }
}

/** The value below which `share` of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}

import { describe, expect, it } from 'vitest'
import { createRunTracer, placeIn } from './tracing.ts'

interface Body {
  post: { id: string; inputs: { text: string } }[]
  patch: { id: string }[]
}

describe('createRunTracer', () => {
  it('sends large operations in several bodies, each operation once', async () => {
    const bodies: string[] = []
    const { handler, end } = createRunTracer('default', (body) => bodies.push(body))
    const chain = { lc: 1, type: 'not_implemented', id: ['node'] } as const
    const text = 'x'.repeat(1 << 20)
    const ids = Array.from({ length: 12 }, (_, at) => `00000000-0000-4000-8000-0000000000${10 + at}`)
    for (const id of ids) {
      await handler.handleChainStart(chain as never, { text }, id)
      await handler.handleChainEnd({ text: '' }, id)
    }
    end('cancelled')
    expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThan(8 << 20)
    const sent = bodies.map((body) => JSON.parse(body) as Body)
    expect(sent.flatMap(({ post }) => post.map(({ id }) => id))).toEqual(ids)
    expect(sent.flatMap(({ patch }) => patch)).toEqual([])
    expect(sent.flatMap(({ post }) => post.map(({ inputs }) => inputs.text.length))).toEqual(
      ids.map(() => text.length),
    )
  })

  it('RUN-37: TraceRuns of a call are below the TraceRun of its caller', async () => {
    const [root, child, trace, parent] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
    const chain = { lc: 1, type: 'not_implemented', id: ['node'] } as const
    const record = async (caller: { dotted_order?: string; project?: string }) => {
      const bodies: string[] = []
      const place = placeIn({ trace_id: trace!, parent_run_id: parent!, ...caller }, root!)
      const { handler, end } = createRunTracer('default', (body) => bodies.push(body), place)
      await handler.handleChainStart(chain as never, { text: '' }, root!)
      await handler.handleChainStart(chain as never, { text: '' }, child!, root)
      end('cancelled')
      return bodies.flatMap((body) => (JSON.parse(body) as { post: Record<string, string>[] }).post)
    }
    const order = `20261128T000000000000Z${trace}.20261128T000001000000Z${parent}`
    const below = await record({ dotted_order: order, project: 'mine' })
    expect(below).toMatchObject([
      { id: root, trace_id: trace, parent_run_id: parent, session_name: 'mine' },
      { id: child, trace_id: trace, parent_run_id: root, session_name: 'mine' },
    ])
    const orders = below.map(({ dotted_order = '' }) => dotted_order)
    expect(orders[0]?.startsWith(`${order}.`)).toBe(true)
    expect(orders[1]?.startsWith(`${orders[0]}.`)).toBe(true)
    const span = await record({})
    expect(span).toMatchObject([
      { id: root, trace_id: trace, parent_run_id: parent, session_name: 'default' },
      { id: child, trace_id: trace, parent_run_id: root },
    ])
    expect(span.every((one) => one['dotted_order'] === undefined)).toBe(true)
  })
})

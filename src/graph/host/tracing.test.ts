import { describe, expect, it } from 'vitest'
import { createRunTracer } from './tracing.ts'

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
})

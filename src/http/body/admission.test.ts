import { describe, expect, it, vi } from 'vitest'
import { createAdmission } from './admission.ts'

const never = (): void => expect.unreachable('a body was cut')

describe('createAdmission', () => {
  it('counts bytes as they arrive, and frees them on release', () => {
    const admission = createAdmission(800)
    const body = admission.open('a', never)
    expect(admission.inFlightBytes()).toBe(0)
    expect(body.grow(300)).toBe(true)
    expect(admission.inFlightBytes()).toBe(300)
    body.release()
    body.release()
    expect(admission.inFlightBytes()).toBe(0)
  })

  it('INGEST-14: keeps an eighth of the memory free for other holders', () => {
    const admission = createAdmission(800)
    const [one, two] = [admission.open('a', never), admission.open('a', never)]
    expect([one.grow(500), two.grow(201), two.grow(200)]).toEqual([true, false, true])
    expect(admission.max_holder_bytes).toBe(700)
    expect(admission.open('b', never).grow(100)).toBe(true)
  })

  it('INGEST-14: cancels the largest incomplete body of the holder with the most memory, for a holder with less', () => {
    const admission = createAdmission(800)
    const cut = vi.fn()
    const large = admission.open('a', cut)
    const small = admission.open('a', never)
    const other = admission.open('b', never)
    expect([large.grow(400), small.grow(100), other.grow(300)]).toEqual([true, true, true])
    expect(admission.open('c', never).grow(50)).toBe(true)
    expect(cut).toHaveBeenCalledOnce()
    expect([large.grow(1), small.grow(1), admission.inFlightBytes()]).toEqual([false, true, 451])
    large.release()
    expect(admission.inFlightBytes()).toBe(451)
  })

  it('cancels no body for a holder that would have as much, and no complete body', () => {
    const admission = createAdmission(800)
    const [one, two] = [admission.open('a', never), admission.open('b', never)]
    expect([one.grow(400), two.grow(400), two.grow(1), one.grow(1)]).toEqual([true, true, false, false])
    one.complete()
    two.complete()
    expect(admission.open('c', never).grow(1)).toBe(false)
    one.release()
    expect(admission.open('c', never).grow(1)).toBe(true)
  })

  it('shares the memory evenly when all holders want more than there is', () => {
    const admission = createAdmission(1000)
    const held = new Map<number, number>()
    const senders = Array.from({ length: 4 }, (_, i) => {
      const body = admission.open(`key ${i}`, () => held.set(i, 0))
      return () => body.grow(10) && held.set(i, (held.get(i) ?? 0) + 10)
    })
    for (let round = 0; round < 100; round++) for (const send of senders) send()
    expect([...held.values()]).toEqual([250, 250, 250, 250])
  })
})

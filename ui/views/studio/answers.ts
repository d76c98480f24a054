import type { Interrupt } from '../../data/studio/step.ts'

/** The ways to answer an interrupt. */
export type Way = 'text' | 'json' | 'accept' | 'edit' | 'respond' | 'ignore'

export const WAYS: readonly (readonly [Way, string])[] = [
  ['accept', 'Accept'],
  ['edit', 'Edit'],
  ['respond', 'Respond'],
  ['ignore', 'Ignore'],
  ['text', 'Answer as text'],
  ['json', 'Answer as JSON'],
]

/** A call that a person should review: the questions of agent inboxes, and of LangChain's middleware. */
export interface Review {
  form: 'inbox' | 'middleware'
  action: string
  args: unknown
}

/** The review that an interrupt requests; undefined for any other interrupt. */
export function reviewOf(value: unknown): Review | undefined {
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value]
  if (typeof first !== 'object' || first === null) return undefined
  const { action_request, action_requests } = first as Record<string, unknown>
  if (isObject(action_request))
    return { form: 'inbox', action: String(action_request['action']), args: action_request['args'] }
  const [one] = Array.isArray(action_requests) ? (action_requests as unknown[]) : []
  if (!isObject(one)) return undefined
  return { form: 'middleware', action: String(one['name']), args: one['args'] ?? one['arguments'] }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Parse = (text: string) => unknown

function reviewed({ form, action }: Review, way: Way, text: string, parse: Parse): unknown {
  if (form === 'inbox') {
    if (way === 'accept' || way === 'ignore') return [{ type: way, args: null }]
    if (way === 'edit') return [{ type: 'edit', args: { action, args: parse(text) } }]
    return [{ type: 'response', args: text }]
  }
  if (way === 'accept') return { decisions: [{ type: 'approve' }] }
  if (way === 'edit')
    return { decisions: [{ type: 'edit', edited_action: { name: action, args: parse(text) } }] }
  return { decisions: [{ type: 'reject', ...(way === 'respond' && { message: text }) }] }
}

/** A question with what its reader chose. */
export interface Given {
  interrupt: Interrupt
  way: Way
  text: string
}

/** The value of `command.resume`: the one answer, or the answers by the ids of their questions. */
export function answersOf(given: readonly Given[], parse: Parse): unknown {
  const answers = given.map(({ interrupt, way, text }) => {
    if (way === 'text') return text
    if (way === 'json') return parse(text)
    const review = reviewOf(interrupt.value)
    return review === undefined ? text : reviewed(review, way, text, parse)
  })
  if (answers.length === 1) return answers[0]
  return Object.fromEntries(
    given.map(({ interrupt }, place) => [interrupt.id ?? String(place), answers[place]]),
  )
}

import type { Interrupt } from '../../data/studio/step.ts'

/** The ways to answer one reviewed call. */
export type ReviewWay = 'accept' | 'edit' | 'respond' | 'ignore'

/** The ways to answer an interrupt; `each`: every one of its calls is reviewed. */
export type Way = ReviewWay | 'each' | 'text' | 'json'

export const REVIEW_WAYS: readonly (readonly [ReviewWay, string])[] = [
  ['accept', 'Accept'],
  ['edit', 'Edit'],
  ['respond', 'Respond'],
  ['ignore', 'Ignore'],
]
const WHOLE_WAYS: readonly (readonly [Way, string])[] = [
  ['text', 'Answer as text'],
  ['json', 'Answer as JSON'],
]

/** The ways to answer an interrupt that requests this review, the first one preselected. */
export function waysOf(review: Review | undefined): readonly (readonly [Way, string])[] {
  if (review === undefined) return WHOLE_WAYS
  const { length } = review.actions
  return length === 1
    ? [...REVIEW_WAYS, ...WHOLE_WAYS]
    : [['each', `Review each of the ${length} calls`], ...WHOLE_WAYS]
}

/** A call that a person should review. */
export interface Action {
  name: string
  args: unknown
}

/** Calls that a person should review: the questions of agent inboxes, and of LangChain's middleware. */
export interface Review {
  form: 'inbox' | 'middleware'
  /** At least one. */
  actions: readonly Action[]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The calls of a list; undefined when one of its items is none. */
function actionsOf(
  list: readonly unknown[],
  read: (item: Record<string, unknown>) => Action | undefined,
): Action[] | undefined {
  const actions = list.flatMap((item) => (isObject(item) ? (read(item) ?? []) : []))
  return actions.length === list.length && actions.length > 0 ? actions : undefined
}

function inboxAction({ action_request: request }: Record<string, unknown>): Action | undefined {
  return isObject(request) ? { name: String(request['action']), args: request['args'] } : undefined
}

/** The review that an interrupt requests, with all of its calls; undefined for any other interrupt. */
export function reviewOf(value: unknown): Review | undefined {
  const list = Array.isArray(value) ? (value as unknown[]) : [value]
  const inbox = actionsOf(list, inboxAction)
  if (inbox !== undefined) return { form: 'inbox', actions: inbox }
  const requests = list.length === 1 && isObject(list[0]) ? list[0]['action_requests'] : undefined
  const actions =
    Array.isArray(requests) &&
    actionsOf(requests as unknown[], ({ name, args, arguments: older }) => ({
      name: String(name),
      args: args ?? older,
    }))
  return actions ? { form: 'middleware', actions } : undefined
}

type Parse = (text: string) => unknown

/** What a reader chose, and wrote where the way needs a text. */
export interface Answer {
  way: Way
  text: string
}

/** A question with what its reader chose; `each` has an answer for every call that it lists, in order. */
export interface Given extends Answer {
  interrupt: Interrupt
  each?: readonly Answer[]
}

function inboxAnswer({ name }: Action, { way, text }: Answer, parse: Parse): unknown {
  if (way === 'edit') return { type: 'edit', args: { action: name, args: parse(text) } }
  return way === 'respond' ? { type: 'response', args: text } : { type: way, args: null }
}

function decision({ name }: Action, { way, text }: Answer, parse: Parse): unknown {
  if (way === 'accept') return { type: 'approve' }
  if (way === 'edit') return { type: 'edit', edited_action: { name, args: parse(text) } }
  return { type: 'reject', ...(way === 'respond' && { message: text }) }
}

function reviewed({ form, actions }: Review, answers: readonly Answer[], parse: Parse): unknown {
  const make = form === 'inbox' ? inboxAnswer : decision
  // A call without an answer is not executed.
  const all = actions.map((action, place) =>
    make(action, answers[place] ?? { way: 'ignore', text: '' }, parse),
  )
  return form === 'inbox' ? all : { decisions: all }
}

/** The value of `command.resume`: the one answer, or the answers by the ids of their questions. */
export function answersOf(given: readonly Given[], parse: Parse): unknown {
  const answers = given.map(({ interrupt, each = [], ...answer }) => {
    const { way, text } = answer
    if (way === 'text') return text
    if (way === 'json') return parse(text)
    const review = reviewOf(interrupt.value)
    if (review === undefined) return text
    return reviewed(review, way === 'each' ? each : [answer], parse)
  })
  if (answers.length === 1) return answers[0]
  return Object.fromEntries(
    given.map(({ interrupt }, place) => [interrupt.id ?? String(place), answers[place]]),
  )
}

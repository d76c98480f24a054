import { exactText } from '../../parts/json/json-text.ts'
import type { Interrupt } from '../../data/studio/step.ts'

/**
 * The ways to answer one reviewed call. `respond` rejects the call with a message; `result` gives a text as its result.
 */
export type ReviewWay = 'accept' | 'edit' | 'respond' | 'ignore' | 'result'

/** The ways to answer an interrupt; `each`: every one of its calls is reviewed. */
export type Way = ReviewWay | 'each' | 'text' | 'json'

const REVIEW_WAYS: readonly (readonly [ReviewWay, string])[] = [
  ['accept', 'Accept'],
  ['edit', 'Edit'],
  ['respond', 'Respond'],
  ['ignore', 'Ignore'],
  ['result', 'Give its result'],
]
/** The ways to answer a call whose question lists none. */
const USUAL_WAYS = ['accept', 'edit', 'respond', 'ignore'] as const
const WHOLE_WAYS: readonly (readonly [Way, string])[] = [
  ['text', 'Answer as text'],
  ['json', 'Answer as JSON'],
]

/** The ways to answer an interrupt that requests this review, the first one preselected. */
export function waysOf(review: Review | undefined): readonly (readonly [Way, string])[] {
  const actions = review?.actions ?? []
  const [first] = actions
  if (first === undefined || actions.some(({ ways }) => ways.length === 0)) return WHOLE_WAYS
  return actions.length === 1
    ? [...reviewWaysOf(first), ...WHOLE_WAYS]
    : [['each', `Review each of the ${actions.length} calls`], ...WHOLE_WAYS]
}

/** The ways that a call allows, with their names; the first one is preselected. */
export function reviewWaysOf({ ways }: Action): readonly (readonly [ReviewWay, string])[] {
  return REVIEW_WAYS.filter(([way]) => ways.includes(way))
}

/** A call that a person should review. */
export interface Action {
  name: string
  args: unknown
  /** Why the call is proposed, as Markdown; undefined if the question does not say. */
  description?: string | undefined
  /** The ways to answer that the question allows. */
  ways: readonly ReviewWay[]
}

/**
 * Calls that a person should review. The questions of agent inboxes, of LangChain's middleware for Python and of its
 * middleware for JavaScript name the same fields differently.
 */
export interface Review {
  form: 'inbox' | 'middleware' | 'middleware-js'
  /** The calls to review, at least one. */
  actions: readonly Action[]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The calls of a list; undefined if one of its items is not a call, or the list is empty. */
function actionsOf(
  list: readonly unknown[],
  read: (item: Record<string, unknown>, place: number) => Action | undefined,
): Action[] | undefined {
  const actions = list.flatMap((item, place) => (isObject(item) ? (read(item, place) ?? []) : []))
  return actions.length === list.length && actions.length > 0 ? actions : undefined
}

function inboxAction({
  action_request: request,
  config,
  description,
}: Record<string, unknown>): Action | undefined {
  if (!isObject(request)) return undefined
  const ways = USUAL_WAYS.filter((way) => !isObject(config) || config[`allow_${way}`] !== false)
  return { name: String(request['action']), args: request['args'], description: textOf(description), ways }
}

/** The fields of the middleware's questions and answers, in Python and in JavaScript. */
const PYTHON = {
  form: 'middleware',
  requests: 'action_requests',
  configs: 'review_configs',
  name: 'action_name',
  allowed: 'allowed_decisions',
  edited: 'edited_action',
} as const
const JAVASCRIPT = {
  form: 'middleware-js',
  requests: 'actionRequests',
  configs: 'reviewConfigs',
  name: 'actionName',
  allowed: 'allowedDecisions',
  edited: 'editedAction',
} as const
type Fields = typeof PYTHON | typeof JAVASCRIPT

/** The ways to make each decision of the middleware. */
const WAYS_OF_DECISIONS = new Map<unknown, readonly ReviewWay[]>([
  ['approve', ['accept']],
  ['edit', ['edit']],
  ['reject', ['respond', 'ignore']],
  ['respond', ['result']],
])

/**
 * The ways to answer that the middleware allows for a call. Its config is the one with the name of the call, or one
 * without a name at the same place.
 */
function allowedWays(
  configs: unknown,
  call: { name: string; place: number },
  fields: Fields,
): readonly ReviewWay[] {
  const list = Array.isArray(configs) ? (configs as unknown[]) : []
  const isNamed = (one: unknown) => isObject(one) && one[fields.name] === call.name
  const inPlace = (one: unknown, at: number) => at === call.place && isObject(one) && !(fields.name in one)
  const config = list.find(isNamed) ?? list.find(inPlace)
  const allowed = isObject(config) ? config[fields.allowed] : undefined
  if (!Array.isArray(allowed)) return USUAL_WAYS
  return (allowed as unknown[]).flatMap((decision) => WAYS_OF_DECISIONS.get(decision) ?? [])
}

function middlewareReview(value: unknown, fields: Fields): Review | undefined {
  if (!isObject(value)) return undefined
  const { [fields.requests]: requests, [fields.configs]: configs } = value
  if (!Array.isArray(requests)) return undefined
  const actions = actionsOf(requests as unknown[], (request, place) => {
    const { name: given, args, arguments: older, description } = request
    const name = String(given)
    const ways = allowedWays(configs, { name, place }, fields)
    return { name, args: args ?? older, description: textOf(description), ways }
  })
  return actions && { form: fields.form, actions }
}

/** The review that an interrupt requests, with all of its calls; undefined for any other interrupt. */
export function reviewOf(value: unknown): Review | undefined {
  const list = Array.isArray(value) ? (value as unknown[]) : [value]
  const inbox = actionsOf(list, inboxAction)
  if (inbox !== undefined) return { form: 'inbox', actions: inbox }
  if (list.length !== 1) return undefined
  return middlewareReview(list[0], PYTHON) ?? middlewareReview(list[0], JAVASCRIPT)
}

type Parse = (text: string) => unknown

export interface ArgumentField {
  name: string
  /** A text is edited as it is, any other value as JSON. */
  isText: boolean
  text: string
}

/** The arguments of a call as fields of a form; undefined if they are not an object. */
export function argumentFields(args: unknown): ArgumentField[] | undefined {
  if (!isObject(args)) return undefined
  return Object.entries(args).map(([name, value]) => {
    const isText = typeof value === 'string'
    return { name, isText, text: isText ? value : exactText(value, 2) }
  })
}

/** The JSON of edited arguments. @throws what `parse` throws for a value that is not JSON */
export function editedArguments(fields: readonly ArgumentField[], parse: Parse): string {
  const members = fields.map(({ name, isText, text }) => [name, isText ? text : parse(text)] as const)
  return exactText(Object.fromEntries(members), 0)
}

/** The way that the user chose, and the typed text if the way needs one. */
export interface Answer {
  way: Way
  text: string
}

/** A question with the answer of the user; `each` has an answer for every call that the question lists, in order. */
export interface Given extends Answer {
  interrupt: Interrupt
  each?: readonly Answer[]
}

function inboxAnswer({ name }: Action, { way, text }: Answer, parse: Parse): unknown {
  if (way === 'edit') return { type: 'edit', args: { action: name, args: parse(text) } }
  return way === 'respond' ? { type: 'response', args: text } : { type: way, args: null }
}

function decision({ name }: Action, { way, text }: Answer, parse: Parse, { edited }: Fields): unknown {
  if (way === 'accept') return { type: 'approve' }
  if (way === 'edit') return { type: 'edit', [edited]: { name, args: parse(text) } }
  if (way === 'result') return { type: 'respond', message: text }
  return { type: 'reject', ...(way === 'respond' && { message: text }) }
}

const NOT_EXECUTED: Answer = { way: 'ignore', text: '' }

function reviewed({ form, actions }: Review, answers: readonly Answer[], parse: Parse): unknown {
  // A call without an answer is not executed.
  const answered = actions.map((action, place) => [action, answers[place] ?? NOT_EXECUTED] as const)
  if (form === 'inbox') return answered.map(([action, answer]) => inboxAnswer(action, answer, parse))
  const fields = form === 'middleware' ? PYTHON : JAVASCRIPT
  return { decisions: answered.map(([action, answer]) => decision(action, answer, parse, fields)) }
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

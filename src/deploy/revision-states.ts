/** The states of a revision. These words are part of the API. */
export const REVISION_STATES = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
] as const

export type RevisionState = (typeof REVISION_STATES)[number]

export const REVISION_EVENTS = [
  'accepted',
  'refused',
  'claimed',
  'ok',
  'error',
  'newer_came',
  'interrupt',
  'server_died',
] as const

export type RevisionEvent = (typeof REVISION_EVENTS)[number]

/** Facts besides state and event that determine the next state. */
export interface RevisionFacts {
  /** Whether another revision of the deployment is being built or deployed. */
  behind_another: boolean
  /** Whether the artifact of the revision exists, so that no build is needed. */
  has_artifact: boolean
  /** Number of builds of this revision that have begun, including the current one. */
  builds: number
}

type Next = RevisionState | ((facts: RevisionFacts) => RevisionState)

/**
 * A revision fails after this many builds during which the server ended unexpectedly, because the build may be the
 * cause.
 */
const MAX_BUILDS = 2

const afterAcceptance = ({ has_artifact, behind_another }: RevisionFacts): RevisionState => {
  if (has_artifact) return 'AWAITING_DEPLOY'
  return behind_another ? 'QUEUED' : 'AWAITING_BUILD'
}

const afterDeath = ({ builds }: RevisionFacts): RevisionState =>
  builds < MAX_BUILDS ? 'AWAITING_BUILD' : 'BUILD_FAILED'

/** The next state by state and event. Terminal states have no entry; impossible events have none in their row. */
const TABLE: Partial<Record<RevisionState, Partial<Record<RevisionEvent, Next>>>> = {
  CREATING: {
    accepted: afterAcceptance,
    refused: 'CREATE_FAILED',
    newer_came: 'SKIPPED',
    interrupt: 'INTERRUPTED',
    server_died: 'CREATING',
  },
  QUEUED: {
    claimed: 'AWAITING_BUILD',
    newer_came: 'SKIPPED',
    interrupt: 'INTERRUPTED',
    server_died: 'QUEUED',
  },
  AWAITING_BUILD: {
    claimed: 'BUILDING',
    newer_came: 'SKIPPED',
    interrupt: 'INTERRUPTED',
    server_died: 'AWAITING_BUILD',
  },
  BUILDING: {
    ok: 'AWAITING_DEPLOY',
    error: 'BUILD_FAILED',
    newer_came: 'BUILDING',
    interrupt: 'INTERRUPTED',
    server_died: afterDeath,
  },
  AWAITING_DEPLOY: {
    claimed: 'DEPLOYING',
    newer_came: 'SKIPPED',
    interrupt: 'INTERRUPTED',
    server_died: 'AWAITING_DEPLOY',
  },
  DEPLOYING: {
    ok: 'DEPLOYED',
    error: 'DEPLOY_FAILED',
    newer_came: 'DEPLOYING',
    interrupt: 'INTERRUPTED',
    server_died: 'AWAITING_DEPLOY',
  },
}

/** The next state, or undefined for an event that cannot happen to a revision in this state. */
export function nextState(
  state: RevisionState,
  event: RevisionEvent,
  facts: RevisionFacts,
): RevisionState | undefined {
  const next = TABLE[state]?.[event]
  return typeof next === 'function' ? next(facts) : next
}

/** Whether the state never changes again. */
export function isTerminal(state: RevisionState): boolean {
  return TABLE[state] === undefined
}

export function statesWith(event: RevisionEvent): RevisionState[] {
  return REVISION_STATES.filter((state) => TABLE[state]?.[event] !== undefined)
}

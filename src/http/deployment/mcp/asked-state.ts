import { hash } from 'node:crypto'
import { toAppError } from '../../../base/errors.ts'
import type { Sealer } from '../../../base/node/sealer.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { DeploymentContext } from '../route.ts'

/** Time in which a question can be answered. */
export const ANSWER_MS = 60 * 60_000

/** The place at which a call waits for an answer. Clients carry it, sealed for their caller (rule MCP-8). */
export interface AskedState {
  assistant_id: string
  /** Digest of the arguments of the call. */
  digest: string
  thread_id: string
  /** The run that asks. */
  run_id: string
  /** Ids of the interrupts, with whether the whole content of the form is the answer. */
  asked: [id: string, is_whole: boolean][]
  /** Whether the run asks nothing else. */
  is_all: boolean
  /** Epoch milliseconds. */
  until: number
}

export function argumentsDigest(args: JsonObject): string {
  return hash('sha256', JSON.stringify(args), 'base64url')
}

function placeOf({ deps, principal }: DeploymentContext): string {
  return `mcp/${deps.tenant.deployment_id}/${principal.holder}`
}

export function stateUntil({ deps }: DeploymentContext): number {
  return deps.clock.now() + ANSWER_MS
}

export async function sealState(context: DeploymentContext, state: AskedState): Promise<string> {
  return (await context.deps.sealer()).seal(placeOf(context), JSON.stringify(state))
}

/** @throws RpcFault invalid_params for a text that was not sealed for this caller, or is too old */
export async function openState(context: DeploymentContext, sealed: string): Promise<AskedState> {
  const state = opened(await context.deps.sealer(), placeOf(context), sealed)
  if (state === undefined || state.until <= context.deps.clock.now())
    throw new RpcFault('invalid_params', 'requestState is not of this call, or too old: call the tool again.')
  return state
}

function opened(sealer: Sealer, place: string, sealed: string): AskedState | undefined {
  try {
    return JSON.parse(sealer.open(place, sealed)) as AskedState
  } catch (error) {
    if (toAppError(error).code === 'secrets_unreadable') return undefined
    throw error
  }
}

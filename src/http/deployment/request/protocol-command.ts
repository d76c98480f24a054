import { AppError } from '../../../base/errors.ts'
import {
  type CommandDeps,
  type ProtocolCommand,
  readCommand,
} from '../../../runs/streams-v2/commands/commands.ts'
import { checkExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { DeploymentContext } from '../route.ts'
import { toRequest } from './run-request.ts'

export const NO_COMMAND: SchemaTypes['protocol-answer'] = {
  type: 'error',
  id: null,
  error: 'invalid_argument',
  message: 'A command is a JSON object with an integer id from 0 on, a text method and an object params.',
  code: 'invalid_request',
}

/** Reads a command from a parsed body; undefined if the body is not a command. */
export function commandOf(body: unknown): ProtocolCommand | undefined {
  try {
    return readCommand(body)
  } catch {
    return undefined
  }
}

/** Collects the dependencies of a caller's commands on a thread. */
export function commandDeps({ deps, principal }: DeploymentContext, thread_id: string): CommandDeps {
  const { runs, threads, streams, registry, logger } = deps
  return {
    runs,
    threads,
    streams,
    toRunRequest(body: JsonObject) {
      const checked = checkExact(registry, 'run-create', body)
      if (checked.ok) return toRequest(checked.value)
      const [fault] = checked.faults
      throw new AppError('invalid_request', { message: `${fault?.path ?? ''}: ${fault?.message ?? ''}` })
    },
    assertMay(permission) {
      if (principal.permissions.has(permission)) return
      const message = `Forbidden: this needs the permission ${permission}.`
      throw new AppError('permission_required', { message })
    },
    onFault: (error) =>
      logger.error({ thread_id, code: error.code, err: error.cause ?? error }, 'a command failed'),
  }
}

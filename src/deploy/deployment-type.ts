import { AppError } from '../base/errors.ts'
import type { HostingLimits } from './hosting.ts'

export type DeploymentType = 'dev' | 'prod'

/** Names that LangSmith's clients send, and the corresponding types (P-3). */
const TYPES: Readonly<Record<string, DeploymentType>> = {
  dev: 'dev',
  dev_zero: 'dev',
  dev_free: 'dev',
  serverless: 'dev',
  prod: 'prod',
  dedicated: 'prod',
}
const GIB = 1024 ** 3

export const TYPE_LIMITS: Readonly<Record<DeploymentType, HostingLimits>> = {
  dev: { hosts: 2, warm: 1, memory_bytes: GIB, cpus: 1 },
  prod: { hosts: 8, warm: 2, memory_bytes: 2 * GIB, cpus: 2 },
}

/** Reads the type that a client sends; undefined if it sends none. @throws AppError invalid_request */
export function readDeploymentType(asked: unknown): DeploymentType | undefined {
  if (asked === undefined || asked === null) return undefined
  if (typeof asked === 'string' && Object.hasOwn(TYPES, asked)) return TYPES[asked]
  const message = `deployment_type is one of ${Object.keys(TYPES).join(', ')}.`
  throw new AppError('invalid_request', { message })
}

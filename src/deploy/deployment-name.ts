import { AppError } from '../base/errors.ts'

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Names that deployments must not have, because the API uses them in other paths. */
const RESERVED = new Set(['runtimes'])
const IS_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * @throws AppError invalid_request for a name that cannot be part of a path, or that the API uses in another path (P-1)
 */
export function assertDeploymentName(name: string): void {
  if (RESERVED.has(name) || IS_UUID.test(name))
    throw new AppError('invalid_request', { message: `"${name}" cannot be the name of a deployment.` })
  if (NAME.test(name)) return
  const message =
    'The name of a deployment has 1 to 63 of a-z, 0-9 and "-", and neither begins nor ends with "-".'
  throw new AppError('invalid_request', { message })
}

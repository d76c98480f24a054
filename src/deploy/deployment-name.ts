import { AppError } from '../base/errors.ts'

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** @throws AppError invalid_request for a name that cannot be part of a path (P-1) */
export function assertDeploymentName(name: string): void {
  if (NAME.test(name)) return
  const message =
    'The name of a deployment has 1 to 63 of a-z, 0-9 and "-", and neither begins nor ends with "-".'
  throw new AppError('invalid_request', { message })
}

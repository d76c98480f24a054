import { AppError } from '../../base/errors.ts'
import { isRequestFaults, type ProblemWriter } from '../problem.ts'

/** One text of what is wrong, and where; SDKs show it as it is. */
function detailOf({ details, message }: AppError): string {
  if (!isRequestFaults(details)) return message
  return details.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
}

/** Errors of the deployment API: `{"detail","code"}` with a text each (run-api 1.13 row 1). */
export const deploymentProblem: ProblemWriter = (error) => ({
  content_type: 'application/json',
  body: JSON.stringify({ detail: detailOf(error), code: error.code }),
})

/** What cannot be read as JSON is answered as what does not fit the schema: 422 (D-41). */
export function asDeploymentError(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'invalid_json') return thrown
  return new AppError('invalid_request', { message: thrown.message, cause: thrown })
}

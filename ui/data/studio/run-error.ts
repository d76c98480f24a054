import { ApiError, problemOfText } from '../../api/problem.ts'

/** Why a run failed, or could not be started. */
export interface RunError {
  message: string
  /** Code of the server's table of errors, or the class of the error that a node threw. */
  code?: string | undefined
  request_id?: string | undefined
}

/** The error that the SDK throws for a response with an error status. */
interface HttpError {
  text: string
  response: Response
}

function isHttpError(error: unknown): error is HttpError {
  const { text, response } = error as Partial<HttpError>
  return typeof text === 'string' && response !== undefined
}

/** The facts in an error of the SDK's hook; undefined without an error. */
export function runErrorOf(error: unknown): RunError | undefined {
  if (error === undefined || error === null) return undefined
  if (!(error instanceof Error)) return { message: String(error) }
  const known = isHttpError(error) ? problemOfText(error.text, error.response) : error
  const { message, name } = known
  if (known instanceof ApiError) return { message, code: known.code, request_id: known.request_id }
  return { message, ...(name !== 'Error' && { code: name }) }
}

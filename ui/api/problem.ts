/** One fault of a request: where, and what is wrong. */
export interface Fault {
  loc: (string | number)[]
  msg: string
}

/** A response with an error status, or a request without a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Stable code of the server's table of errors. */
  readonly code: string
  readonly request_id: string | undefined
  readonly faults: readonly Fault[]
  /** Seconds to wait before the next try (Retry-After). */
  readonly retry_after: number | undefined

  constructor(
    message: string,
    {
      status,
      code,
      request_id,
      faults = [],
      retry_after,
    }: { status: number; code: string; request_id?: string; faults?: Fault[]; retry_after?: number },
  ) {
    super(message)
    this.status = status
    this.code = code
    this.request_id = request_id
    this.faults = faults
    this.retry_after = retry_after
  }
}

function faultsOf(detail: unknown): Fault[] {
  return Array.isArray(detail) ? (detail as Fault[]) : []
}

function textOf(detail: unknown, status: number): string {
  if (typeof detail === 'string') return detail
  const texts = faultsOf(detail).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`)
  return texts.length > 0 ? texts.join('; ') : `The server answered with status ${status}.`
}

/** The error of a response with an error status, whose body has this text. */
export function problemOfText(
  text: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): ApiError {
  let body: Record<string, unknown> = {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) body = parsed as Record<string, unknown>
  } catch {
    // Probably the page of a proxy: the status is all that is known.
  }
  const { detail, code } = body
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const request_id = headers.get('x-request-id')
  return new ApiError(textOf(detail, status), {
    status,
    code: typeof code === 'string' ? code : `http_${status}`,
    faults: faultsOf(detail),
    ...(request_id !== null && { request_id }),
    ...(Number.isFinite(seconds) && { retry_after: seconds }),
  })
}

/** The error of a response with an error status. */
export async function problemOf(response: Response): Promise<ApiError> {
  return problemOfText(await response.text().catch(() => ''), response)
}

/** The error of a request without a response. */
export function unreachable(cause: unknown): ApiError {
  return new ApiError(
    `The server does not answer (${cause instanceof Error ? cause.message : String(cause)}). Check that it runs.`,
    { status: 0, code: 'unreachable' },
  )
}

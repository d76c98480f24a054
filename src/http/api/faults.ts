/** One fault of a request in FastAPI's shape, which LangSmith's clients read. */
export interface RequestFault {
  /** The place: `body`, `query`, `path` or `header`, then keys and indexes. */
  loc: (string | number)[]
  msg: string
  type: string
}

/** True for the `details` of a 422. */
export function isRequestFaults(details: unknown): details is RequestFault[] {
  return (
    Array.isArray(details) && details.length > 0 && details.every((fault) => Array.isArray(Object(fault).loc))
  )
}

import { AppError } from '../base/errors.ts'

/** Milliseconds and sequence number of an id. */
export type Stamp = readonly [ms: number, seq: number]

/** A position before every event. */
export const LOG_START: Stamp = [0, -1]

const ID = /^(\d{1,15})-(\d{1,15})$/

export function formatEventId(ms: number, seq: number): string {
  return `${ms}-${seq}`
}

/** @throws AppError invalid_request for an invalid id */
export function parseEventId(id: string): Stamp {
  const match = ID.exec(id)
  if (match === null) throw new AppError('invalid_request', { message: `"${id}" is not an event id.` })
  return [Number(match[1]), Number(match[2])]
}

export function isBefore(a: Stamp, b: Stamp): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
}

export function isEventId(text: string): boolean {
  return ID.test(text)
}

/** Whether event `id` is later than `other`. @throws AppError invalid_request */
export function isAfter(id: string, other: string): boolean {
  return isBefore(parseEventId(other), parseEventId(id))
}

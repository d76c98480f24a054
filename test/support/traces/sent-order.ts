/**
 * The `dotted_order` of the last TraceRun of `path`, in which each TraceRun is the parent of the next. All start at
 * `start`, in milliseconds.
 */
export function sentOrder(start: number, ...path: string[]): string {
  const stamp = new Date(start).toISOString().replaceAll(/[-:.]/g, '').slice(0, -1)
  return path.map((id) => `${stamp}000Z${id}`).join('.')
}

/** Path of a run; without a thread for a stateless run. No prefix: SDKs add their base URL (D-48). */
export function runLocation(thread_id: string | null, run_id: string): string {
  return thread_id === null ? `/runs/${run_id}` : `/threads/${thread_id}/runs/${run_id}`
}

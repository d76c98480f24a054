/** The run of a thread that Studio shows. */
export interface ShownRun {
  thread: string | undefined
  /** Id of the run; undefined before the first one. */
  run: string | undefined
  /** True if the server had dropped events of the thread before they were read. */
  gap: boolean
  /** Why changes by others are not shown as they happen; undefined while they are. */
  refusal: string | undefined
}

/** The state before anything of the thread was read. */
export function noRun(thread: string | undefined): ShownRun {
  return { thread, run: undefined, gap: false, refusal: undefined }
}

/** True when another thread is shown; false for the thread that the first run of the page has created. */
export function isOther(before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && before !== now
}

/** The shown run once `thread` is shown. For another thread, it is the initial state. */
export function withThread(shown: ShownRun, thread: string | undefined): ShownRun {
  if (shown.thread === thread) return shown
  return isOther(shown.thread, thread) ? noRun(thread) : { ...shown, thread }
}

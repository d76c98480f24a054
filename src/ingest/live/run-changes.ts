/** A TraceRun whose row was stored or replaced. */
export interface RunChange {
  workspace_id: string
  project_id: string
  trace_id: string
  run_id: string
  /** The higher version is the newer change. */
  version: number
  is_root: boolean
  status: string
}

/** Changes that are reported together. */
export interface RunChanges {
  runs: readonly RunChange[]
  /** `workspace_id/project_id` of projects with further changes, which are not listed. */
  more_in: readonly string[]
}

/** Collects changes; beyond `max` only their projects are kept. */
export class ChangeCollector {
  readonly #max: number
  readonly #runs = new Map<string, RunChange>()
  readonly #more = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.#more.size === 0
  }

  add(change: RunChange): void {
    const { workspace_id, project_id, run_id } = change
    const key = `${workspace_id}/${run_id}`
    const known = this.#runs.get(key)
    if (known !== undefined && known.version > change.version) return
    if (known === undefined && this.#runs.size >= this.#max) this.#more.add(`${workspace_id}/${project_id}`)
    else this.#runs.set(key, change)
  }

  addAll({ runs, more_in }: RunChanges): void {
    for (const run of runs) this.add(run)
    for (const project of more_in) this.#more.add(project)
  }

  /** Returns the changes since the last call. */
  take(): RunChanges {
    const taken = { runs: [...this.#runs.values()], more_in: [...this.#more] }
    this.#runs.clear()
    this.#more.clear()
    return taken
  }
}

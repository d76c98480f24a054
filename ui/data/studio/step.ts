export interface Checkpoint {
  thread_id?: string
  checkpoint_ns?: string
  checkpoint_id: string
}

/** A question of a graph to a person. */
export interface Interrupt {
  id?: string
  value: unknown
}

/** A node that a checkpoint is about to execute, or has executed. */
export interface StepTask {
  id: string
  name: string
  error: string | null
  interrupts: Interrupt[]
}

/** The origin of a checkpoint. */
export interface StepMetadata {
  source?: string
  step?: number
  run_id?: string
  graph_id?: string
  /** 1 for the first attempt of the run. */
  run_attempt?: number
}

/** A state of a thread without its values (N16). */
export interface ThreadStep {
  checkpoint: Checkpoint
  parent_checkpoint: Checkpoint | null
  metadata: StepMetadata | null
  created_at: string
  next: string[]
  tasks: StepTask[]
  values_bytes: number
}

export interface FullState extends Omit<ThreadStep, 'values_bytes'> {
  values: unknown
}

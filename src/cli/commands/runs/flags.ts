import { FORMAT_FLAGS } from '../../arguments/output-format.ts'
import type { readArguments } from '../../arguments/command-arguments.ts'
import { DEPLOYMENT_FLAGS } from '../../arguments/api-flags.ts'

/** Flags of `weir runs`, for every action. */
export const RUNS_FLAGS = {
  ...DEPLOYMENT_FLAGS,
  thread: { type: 'string' },
  status: { type: 'string' },
  limit: { type: 'string', default: '20' },
  action: { type: 'string', default: 'interrupt' },
  wait: { type: 'boolean' },
  mode: { type: 'string', multiple: true },
  'from-start': { type: 'boolean' },
  ...FORMAT_FLAGS,
} as const

/** Values of RUNS_FLAGS; `asJson`: JSON is printed instead of tables. */
export type RunsFlags = ReturnType<typeof readArguments<typeof RUNS_FLAGS>>['values'] & { asJson: boolean }

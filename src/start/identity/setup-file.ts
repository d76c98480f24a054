import { readFile, stat } from 'node:fs/promises'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { ApplySetup } from '../../setup/apply-setup.ts'
import { MAX_CHARS } from '../../setup/parse-setup.ts'
import type { PlanSetupFile, ReadSecret, SetupStep } from '../../setup/setup.ts'

interface SetupFileDeps {
  apply: ApplySetup
  readSecret: ReadSecret
}

/** Applies the file, or with `dry_run` only compares; returns what differs, and how many records do not. */
async function runFile(
  file: string,
  { organization_id, dry_run }: { organization_id: string; dry_run: boolean },
  { apply, readSecret }: SetupFileDeps,
): Promise<{ steps: SetupStep[]; kept: number }> {
  if ((await stat(file)).size > MAX_CHARS) throw new Error(`it is larger than ${MAX_CHARS} bytes`)
  const document = await readFile(file, 'utf8')
  const actor = { api_key_id: NIL_UUID, short_key: 'SETUP_FILE', user_id: null, at: systemClock.now() }
  const { steps } = await apply({ document, dry_run, organization_id, actor, readSecret })
  const changed = steps.filter(({ action }) => action !== 'keep')
  return { steps: changed, kept: steps.length - changed.length }
}

/** Why the file cannot be applied. @throws AppError store_unavailable */
function reasonOf(error: unknown): string {
  if (error instanceof AppError && error.code === 'store_unavailable') throw error
  return error instanceof Error ? error.message : String(error)
}

/** Applies the file of SETUP_FILE. @throws AppError config_invalid, with the reason */
export async function applySetupFile(
  file: string | undefined,
  { organization_id, logger, ...deps }: SetupFileDeps & { organization_id: string; logger: Logger },
): Promise<void> {
  if (file === undefined) return
  try {
    const { steps, kept } = await runFile(file, { organization_id, dry_run: false }, deps)
    logger.info({ file, changed: steps.length, kept }, 'the set-up was applied')
  } catch (error) {
    const message = `SETUP_FILE ${file}: ${reasonOf(error)}`
    throw new AppError('config_invalid', { message, cause: error })
  }
}

/** Compares with the file as it is now, which may differ from the one that the start applied. */
export function createSetupFilePlan(file: string | undefined, deps: SetupFileDeps): PlanSetupFile {
  return async (organization_id) => {
    if (file === undefined) return { has_file: false, error: null, kept: 0, steps: [] }
    try {
      return {
        has_file: true,
        error: null,
        ...(await runFile(file, { organization_id, dry_run: true }, deps)),
      }
    } catch (error) {
      return { has_file: true, error: reasonOf(error), kept: 0, steps: [] }
    }
  }
}

import { readFile, stat } from 'node:fs/promises'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { ApplySetup } from '../../setup/apply-setup.ts'
import { MAX_CHARS } from '../../setup/parse-setup.ts'
import type { ReadSecret } from '../../setup/setup.ts'

/** Applies the file of SETUP_FILE. @throws AppError config_invalid, with the reason */
export async function applySetupFile(
  file: string | undefined,
  apply: ApplySetup,
  {
    organization_id,
    readSecret,
    logger,
  }: { organization_id: string; readSecret: ReadSecret; logger: Logger },
): Promise<void> {
  if (file === undefined) return
  try {
    if ((await stat(file)).size > MAX_CHARS) throw new Error(`it is larger than ${MAX_CHARS} bytes`)
    const document = await readFile(file, 'utf8')
    const actor = { api_key_id: NIL_UUID, short_key: 'SETUP_FILE', user_id: null, at: systemClock.now() }
    const { steps } = await apply({ document, dry_run: false, organization_id, actor, readSecret })
    const changed = steps.filter(({ action }) => action !== 'keep')
    logger.info(
      { file, changed: changed.length, kept: steps.length - changed.length },
      'the set-up was applied',
    )
  } catch (error) {
    if (error instanceof AppError && error.code === 'store_unavailable') throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('config_invalid', { message: `SETUP_FILE ${file}: ${reason}`, cause: error })
  }
}

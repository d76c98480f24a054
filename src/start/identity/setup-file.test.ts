import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import type { ApplySetup } from '../../setup/apply-setup.ts'
import { createSetupFilePlan } from './setup-file.ts'
import { newFolder } from '../../../test/support/folder.ts'

const STEP = { section: 'members', name: 'ada', fields: ['role'] }

describe('TEAM-12: what differs from SETUP_FILE', () => {
  let folder: string
  beforeEach(async () => {
    folder = await newFolder()
  })

  const plan = (file: string | undefined, apply: ApplySetup) =>
    createSetupFilePlan(file, { apply, readSecret: async () => '' })('o')
  const unused: ApplySetup = () => Promise.reject(new Error('it was applied'))

  it('is nothing without a file', async () => {
    expect(await plan(undefined, unused)).toEqual({ has_file: false, error: null, kept: 0, steps: [] })
  })

  it('is compared by a dry run of the file as it is now', async () => {
    const file = join(folder, 'weir.yaml')
    await writeFile(file, 'version: 1')
    const asked: object[] = []
    const found = await plan(file, async ({ document, dry_run, organization_id }) => {
      asked.push({ document, dry_run, organization_id })
      return {
        applied: false,
        steps: [
          { ...STEP, action: 'change' },
          { ...STEP, action: 'keep' },
        ],
      }
    })
    expect(asked).toEqual([{ document: 'version: 1', dry_run: true, organization_id: 'o' }])
    expect(found).toEqual({
      has_file: true,
      error: null,
      kept: 1,
      steps: [{ ...STEP, action: 'change' }],
    })
  })

  it('is the reason why the file cannot be applied, but never an outage of the store', async () => {
    expect(await plan(join(folder, 'gone'), unused)).toMatchObject({
      has_file: true,
      error: expect.stringContaining('ENOENT'),
      steps: [],
    })
    const file = join(folder, 'weir.yaml')
    await writeFile(file, 'version: 1')
    const message = 'The environment variable CI_KEY has no key.'
    const fault = () => Promise.reject(new AppError('invalid_request', { message }))
    expect(await plan(file, fault)).toMatchObject({ error: message })
    const outage = () => Promise.reject(new AppError('store_unavailable'))
    await expect(plan(file, outage)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

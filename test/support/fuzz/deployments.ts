import { createDeployment, deployGreeter } from '../deployments/deploy-project.ts'
import type { KnownRecords } from '../servers/known-records.ts'
import type { WeirProcess } from '../servers/weir-process.ts'

const UPLOADS = 20
/** Deployments that the campaign may change and delete. */
const SPARE = 5

/**
 * Deploys a project, and adds the ids of its deployment, its revision and its uploads to `records`. Resolves with the
 * ids that the campaign must not change.
 */
export async function addDeployments(
  weir: Pick<WeirProcess, 'fetch' | 'json'>,
  records: Pick<KnownRecords, 'add'>,
): Promise<readonly string[]> {
  const { id } = await createDeployment(weir, 'deployed')
  const { id: revision_id } = await deployGreeter(weir, id, 'fuzzed', [])
  for (const path of ['/api/v2/deployments', '/v1/projects', '/api/v1/deployments'])
    records.add(path, { id, revision_id })
  for (let i = 0; i < UPLOADS; i++) {
    const upload = await weir.json<{ upload_url: string }>(`/api/v2/deployments/${id}/upload-url`, {
      method: 'POST',
    })
    records.add('/api/v2/uploads', { token: upload.upload_url.slice(upload.upload_url.lastIndexOf('/') + 1) })
  }
  records.add('/api/v2/deployments', { source: 'internal_source', revision_source: 'internal_source' })
  for (let i = 0; i < SPARE; i++)
    records.add('/api/v2/deployments', { id: (await createDeployment(weir, `spare-${i}`)).id })
  return [id]
}

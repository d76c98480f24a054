import type { Revision, StoredDeployment } from '../model.ts'
import type { DeploymentStore } from './deployment-store.ts'

/** The deployment of GRAPHS, and its only revision. */
export interface ServerDeployment {
  deployment: StoredDeployment
  revision: Revision
}

/**
 * A deployment store that also has the deployment of GRAPHS (P-2). It is not a row, because the settings of each server
 * say whether it exists: other servers of the database, which may have other settings, must not start it.
 */
export function withServerDeployment(
  store: DeploymentStore,
  { deployment, revision }: ServerDeployment,
): DeploymentStore {
  const { id, workspace_id, name } = deployment
  return {
    ...store,
    get: async (workspace, of) =>
      of === id && workspace === workspace_id ? deployment : await store.get(workspace, of),
    find: async (of) => (of === id ? deployment : await store.find(of)),
    revision: async (of, wanted) =>
      of === id && wanted === revision.id ? revision : await store.revision(of, wanted),
    async revisions(of, filter) {
      if (of !== id) return await store.revisions(of, filter)
      const isListed = filter.offset === 0 && [revision.status, undefined].includes(filter.status)
      return isListed ? [revision] : []
    },
    async list(workspace, filter) {
      const { name_contains = '', limit, offset } = filter
      const found = await store.list(workspace, filter)
      const isListed =
        workspace === workspace_id &&
        [name, undefined].includes(filter.name) &&
        name.includes(name_contains) &&
        found.length < limit
      // It is the oldest one, so it is the last. A page that begins after it does not contain it.
      const isBefore = async (): Promise<boolean> =>
        found.length === 0 &&
        offset > 0 &&
        (await store.list(workspace, { ...filter, limit: 1, offset: offset - 1 })).length === 0
      return isListed && !(await isBefore()) ? [...found, deployment] : found
    },
  }
}

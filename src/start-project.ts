import { resolve } from 'node:path'
import type { Logger } from './base/log.ts'
import type { Config, HostedConfig } from './config.ts'
import type { DeploymentFile, HeaderRule } from './graph/deployment-file.ts'
import type { GraphHosts } from './graph/host-pool.ts'
import { createHttpApp, type HttpApp } from './graph/http-app.ts'
import { startUiBundles, type UiBundles } from './graph/ui-bundles.ts'
import type { UserAuth } from './graph/user-auth.ts'
import type { DeploymentWatch } from './graph/watch-deployment.ts'
import { recordChild } from './storage/child-processes.ts'

export interface ProjectParts {
  config: Pick<Config, 'dataDir'>
  hosted: Pick<HostedConfig, 'environment' | 'watch'>
  logger: Logger
  /** What ends each part, in order of start. */
  stops: (() => Promise<unknown> | void)[]
}

/** What a project brings besides graphs and users. */
export interface Project {
  /** langgraph.json, `http.app`. */
  app: HttpApp | undefined
  /** langgraph.json, `ui`. */
  ui: UiBundles | undefined
  /** Takes over code and langgraph.json as they are now; UI components watch their own files. */
  reload(file: DeploymentFile): void
}

/** Starts the processes of a project's HTTP app and UI components, where it has them. */
export async function startProject(
  { config, hosted, logger, stops }: ProjectParts,
  file: DeploymentFile,
  loaded: ((files: readonly string[]) => void) | undefined,
): Promise<Project> {
  const { environment, watch } = hosted
  const record = (name: string, pid: number) => recordChild(resolve(config.dataDir), name, pid)
  const shared = { environment, logger, record }
  const app = file.app && (await createHttpApp({ ...shared, file: { ...file, app: file.app }, loaded }))
  if (app !== null) stops.push(() => app.stop())
  const ui = file.ui && startUiBundles({ ...shared, file: { ...file, ui: file.ui }, watch })
  if (ui !== null) stops.push(() => ui.stop())
  return {
    app: app ?? undefined,
    ui: ui ?? undefined,
    reload(next) {
      if (next.app !== null) app?.reload({ ...next, app: next.app })
    },
  }
}

interface FollowedParts {
  file: DeploymentFile
  host: Pick<GraphHosts, 'graphs' | 'reload' | 'ready'>
  project: Project
  userAuth: UserAuth | undefined
}

/** Takes over what changes in the project's files; answers the headers that graphs may read, as the file now says. */
export function followFile(
  watch: DeploymentWatch | undefined,
  { file, host, project, userAuth }: FollowedParts,
  ensureAssistants: () => Promise<void>,
): () => HeaderRule {
  let headerRule = file.configurable_headers
  watch?.begin({
    hosts: {
      graphs: () => host.graphs(),
      ready: () => host.ready(),
      reload(next) {
        host.reload(next)
        project.reload(next)
      },
    },
    async accept({ configurable_headers, auth, ...next }) {
      headerRule = configurable_headers
      if (auth !== null) userAuth?.reload({ ...next, auth })
      await ensureAssistants()
    },
  })
  return () => headerRule
}

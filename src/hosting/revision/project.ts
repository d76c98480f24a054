import { resolve } from 'node:path'
import type { Logger } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import type { HeaderRule } from '../../graph/project/configurable-headers.ts'
import type { DeploymentFile } from '../../graph/project/deployment-file.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import type { Confine } from '../../base/node/confined-command.ts'
import { createHttpApp, type HttpApp } from '../../graph/http-app/http-app.ts'
import { startUiBundles, type UiBundles } from '../../graph/ui-bundles/ui-bundles.ts'
import type { HostNotes, PrintedLines } from '../../graph/pool/process.ts'
import type { UserAuth } from '../../graph/user-auth/user-auth.ts'
import type { DeploymentWatch } from '../../graph/pool/watch-deployment.ts'
import { recordChild } from '../../storage/child-processes.ts'

/** What starts the processes of a revision. */
export interface ProcessParts {
  config: Pick<Config, 'dataDir' | 'runs'>
  logger: Logger
  /** Whether graphs are reloaded when their files change; default: no. */
  watch?: boolean | undefined
  /** Isolates the processes; default: they are not isolated. */
  confine?: Confine | undefined
  /** Receives each line that the processes print; default: the server's log. */
  printed?: PrintedLines | undefined
  /** Receives starts and ends of hosts. */
  noted?: HostNotes | undefined
  /** Masks values of secrets in messages of the processes; default: none is masked. */
  mask?: ((text: string) => string) | undefined
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

export interface ProjectProcesses {
  /** The process of `http.app` of langgraph.json. */
  app: HttpApp | undefined
  /** The bundles of `ui` of langgraph.json. */
  ui: UiBundles | undefined
  /** Reloads the app from the current code and langgraph.json; UI components watch their own files. */
  reload(file: DeploymentFile): void
}

/** Starts the processes of a project's custom HTTP app and UI components, if it has them. */
export async function startProject(
  { config, watch = false, logger, confine, printed, mask, stops }: ProcessParts,
  file: DeploymentFile,
  loaded: ((files: readonly string[]) => void) | undefined,
): Promise<ProjectProcesses> {
  const { environment } = config.runs
  const record = (name: string, pid: number) => recordChild(resolve(config.dataDir), name, pid)
  const shared = { environment, logger, printed, mask, record, confine }
  const app = file.app && (await createHttpApp({ ...shared, file: { ...file, app: file.app }, loaded }))
  if (app !== null) stops.defer(() => app.stop())
  const ui = file.ui && startUiBundles({ ...shared, file: { ...file, ui: file.ui }, watch })
  if (ui !== null) stops.defer(() => ui.stop())
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
  project: ProjectProcesses
  userAuth: UserAuth | undefined
}

/** Applies changes of the project's files. Returns a reader of the current list of headers that graphs may read. */
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

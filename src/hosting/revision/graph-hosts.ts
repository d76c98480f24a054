import { join, resolve } from 'node:path'
import type { DeploymentFile } from '../../graph/project/deployment-file.ts'
import { createHostsByLanguage } from '../../graph/pool/by-language.ts'
import type { GrantStorage, GraphHostOptions } from '../../graph/pool/launch.ts'
import { createGraphHosts, type GraphHosts } from '../../graph/pool/pool.ts'
import { createTypeSchemas } from '../../graph/type-schemas/type-schemas.ts'
import type { GraphLanguage } from '../../graph/project/graph-spec.ts'
import { langgraphWarning } from '../../graph/project/langgraph-version.ts'
import { type DeploymentWatch, servedGraphs, watchDeployment } from '../../graph/pool/watch-deployment.ts'
import { withTypes } from '../../graph/pool/with-types.ts'
import { recordChild } from '../../storage/child-processes.ts'
import type { ProcessParts } from './project.ts'

export interface HostedGraphs {
  file: DeploymentFile
  /** Options with which hosts open run state, or a function that returns separate ones for each host. */
  storage: GraphHostOptions['storage']
  /** Grants of storage for hosts of Python graphs, which access storage only through the broker. */
  brokered: GrantStorage
  /** Path of the socket at which graphs call the API of their deployment. */
  ownApi: string
  name: string
  /** Number of hosts that are kept ready; default 1. */
  minHosts?: number
  /** Maximum number of hosts; default 8. */
  maxHosts?: number
  /** Resident memory after which a host is ended; default: no bound. */
  maxBytes?: number
  /** Number of processors that a host may use; default: no bound. */
  maxProcessors?: number
}

/** Starts hosts, which load the graphs in the background, and watches their files if that is configured. */
export async function startGraphHosts(
  { config, watch: isWatched = false, logger, confine, printed, noted, mask, stops }: ProcessParts,
  { file, storage, brokered, ownApi, name, ...bounds }: HostedGraphs,
): Promise<{ host: GraphHosts; watch: DeploymentWatch | undefined }> {
  const { environment, stallMs, cancelGraceMs } = config.runs
  const dataDir = resolve(config.dataDir)
  const watch = isWatched ? watchDeployment({ file, environment, logger }) : undefined
  stops.defer(() => watch?.close())
  const record = (child: string, pid: number) => recordChild(dataDir, child, pid)
  const types = createTypeSchemas({
    folder: join(dataDir, 'type-schemas'),
    environment,
    logger,
    printed,
    record,
    confine,
  })
  stops.defer(() => types.stop())
  const hosts = createHostsByLanguage(file, (language, own) =>
    createGraphHosts({
      language,
      file: own,
      storage: language === 'python' ? brokered : storage,
      ownApi,
      project: name,
      environment,
      stallMs,
      cancelGraceMs,
      logger,
      printed,
      noted,
      mask,
      record,
      confine,
      ...bounds,
      ...(watch && { loaded: (files) => watch.add(files) }),
    }),
  )
  const host = withTypes(hosts, types, file)
  if (file.missing_env !== null) logger.warn({ deployment: name }, file.missing_env)
  const warning = await langgraphWarning(filesOf(file, 'javascript'))
  if (warning !== undefined) {
    const { message, ...versions } = warning
    logger.warn({ deployment: name, ...versions }, message)
  }
  stops.defer(() => host.stop())
  host.ready().then(
    () => logger.info({ deployment: name, graphs: servedGraphs(host) }, 'graphs are loaded'),
    // The host pool has logged the failure.
    () => undefined,
  )
  return { host, watch }
}

function filesOf({ graphs }: DeploymentFile, language: GraphLanguage): string[] {
  return graphs.filter((graph) => graph.language === language).map((graph) => graph.file)
}

/** Resolves when the graphs are loaded, with the messages of those that failed. */
export async function graphFailuresOf(host: GraphHosts | undefined): Promise<string[]> {
  // The failures below contain the reason why a host could not be opened.
  await host?.ready().catch(() => undefined)
  return (host?.graphs() ?? []).flatMap(({ unavailable }) => (unavailable === null ? [] : [unavailable]))
}

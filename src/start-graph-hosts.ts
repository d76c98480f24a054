import { join, resolve } from 'node:path'
import type { Logger } from './base/log.ts'
import type { Config, HostedConfig } from './config.ts'
import type { DeploymentFile } from './graph/deployment-file.ts'
import { createGraphHosts, type GraphHosts } from './graph/host-pool.ts'
import { createTypeSchemas } from './graph/type-schemas.ts'
import { langgraphWarning } from './graph/langgraph-version.ts'
import { type DeploymentWatch, servedGraphs, watchDeployment } from './graph/watch-deployment.ts'
import { withTypes } from './graph/with-types.ts'
import type { JsonObject } from './schema/json.ts'
import { endLeftovers, recordChild } from './storage/child-processes.ts'

export interface GraphHostsParts {
  config: Pick<Config, 'dataDir'>
  hosted: HostedConfig
  logger: Logger
  /** What ends each part, in order of start. */
  stops: (() => Promise<unknown> | void)[]
}

export interface HostedGraphs {
  file: DeploymentFile
  /** How hosts open run state. */
  storage: JsonObject
  /** Of the deployment. */
  name: string
}

/** Hosts that load the graphs in the background, and the watch over their files where that is configured. */
export async function startGraphHosts(
  { config, hosted, logger, stops }: GraphHostsParts,
  { file, storage, name }: HostedGraphs,
): Promise<{ host: GraphHosts; watch: DeploymentWatch | undefined }> {
  const { environment, stallMs, cancelGraceMs } = hosted
  const dataDir = resolve(config.dataDir)
  await endLeftovers(dataDir, logger)
  const watch = hosted.watch ? watchDeployment({ file, environment, logger }) : undefined
  stops.push(() => watch?.close())
  const record = (child: string, pid: number) => recordChild(dataDir, child, pid)
  const types = createTypeSchemas({ folder: join(dataDir, 'type-schemas'), environment, logger, record })
  stops.push(() => types.stop())
  const hosts = createGraphHosts({
    ...{ file, storage, project: name, environment, stallMs, cancelGraceMs, logger },
    record,
    ...(watch && { loaded: (files) => watch.add(files) }),
  })
  const host = withTypes(hosts, types, file)
  const warning = langgraphWarning(file.graphs.map((entry) => entry.file))
  if (warning !== undefined) {
    const { message, ...versions } = warning
    logger.warn({ deployment: name, ...versions }, message)
  }
  stops.push(() => host.stop())
  host.ready().then(
    () => logger.info({ deployment: name, graphs: servedGraphs(host) }, 'graphs are loaded'),
    // The hosts have logged why.
    () => undefined,
  )
  return { host, watch }
}

/** Why graphs cannot be loaded, once that is known. */
export async function graphFailuresOf(host: GraphHosts | undefined): Promise<string[]> {
  // A host that could not be opened has told why of its graphs.
  await host?.ready().catch(() => undefined)
  return (host?.graphs() ?? []).flatMap(({ unavailable }) => (unavailable === null ? [] : [unavailable]))
}

import type { Labels, Metrics } from '../../../base/metrics.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { MAX_JSON_BODY_BYTES } from '../../body/json.ts'
import { choiceParameter, flagParameter } from '../../api/parameters.ts'
import { documentRoutes } from '../../api/document-routes.ts'
import { isPageRequest } from '../../server/browser/page-request.ts'
import { livenessReply } from '../../server/store-checks.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type DeploymentRoute, deploymentRoute } from '../route.ts'

const TAG = 'System'
/** The version of LangGraph's JavaScript server whose behaviour clients and Studio may expect. */
const SPOKEN_VERSION = '1.5.1'

function infoAnswer(deps: DeploymentDeps): SchemaTypes['deployment-info'] {
  const { name, version, langgraph_version, tracing, host, json_bodies } = deps
  return {
    version: SPOKEN_VERSION,
    langgraph_js_version: langgraph_version,
    context: 'js',
    flags: { assistants: true, crons: true, langsmith: tracing, langsmith_tracing_replicas: false },
    metadata: {},
    weir: {
      version,
      deployment: name,
      graphs: host.graphs().map(({ graph_id }) => graph_id),
      limits: { max_json_body_bytes: json_bodies?.max_bytes ?? MAX_JSON_BODY_BYTES },
    },
  }
}

/** Each series of each metric, with its labels and value. */
function metricsJson(metrics: Metrics): string {
  const found: Record<string, { labels: Labels; value: number }[]> = {}
  for (const { samples } of metrics.all())
    for (const { name, labels, value } of samples()) (found[name] ??= []).push({ labels, value })
  return JSON.stringify(found)
}

/** Health, server information, metrics, and the API's own description. `openApi` makes the document. */
export function systemRoutes(openApi: (version: string) => object): DeploymentRoute[] {
  return [
    deploymentRoute({
      method: 'GET',
      path: '/ok',
      needs: 'open',
      summary: 'Health of the deployment; with check_db=1 also of its stores and its disk',
      tag: TAG,
      query: {
        check_db: flagParameter(
          'Also check run state, Redis and the disk of DATA_DIR; 503, with a code and a message, if one is down.',
          false,
        ),
      },
      reply: 'liveness',
      other_replies: { 503: 'liveness' },
      handle: ({ deps, query: { check_db } }) => livenessReply(check_db ? deps.checks : undefined),
    }),
    deploymentRoute({
      method: 'GET',
      path: '/info',
      needs: 'open',
      summary: 'Versions, flags and graphs',
      tag: TAG,
      reply: 'deployment-info',
      handle: async ({ deps }) => ({ body: infoAnswer(deps) }),
    }),
    deploymentRoute({
      method: 'GET',
      path: '/metrics',
      needs: 'organization:read',
      summary: 'Metrics of this process',
      tag: TAG,
      query: { format: choiceParameter('Of the answer.', ['prometheus', 'json']) },
      reply: 'bytes',
      wire_types: ['text/plain', 'application/json'],
      handle: async ({ deps, query: { format } }) =>
        format === 'json'
          ? { body: metricsJson(deps.metrics) }
          : {
              headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
              body: deps.metrics.render(),
            },
    }),
    ...documentRoutes<DeploymentDeps>(openApi),
    rootRoute,
  ]
}

/** The route of a deployment's own address, which people and programs open first (P-45). */
const rootRoute = deploymentRoute({
  method: 'GET',
  path: '/',
  needs: 'open',
  summary: 'Versions, flags and graphs; browsers are sent to the documentation',
  tag: TAG,
  reply: 'deployment-info',
  other_replies: { 302: 'deployment-info' },
  handle: async ({ deps, req }) => {
    const headers = { vary: 'accept' }
    const body = infoAnswer(deps)
    return isPageRequest(req)
      ? { status: 302, headers: { ...headers, location: docsOf(req.url) }, body }
      : { headers, body }
  },
})

/**
 * The URL of the documentation, relative to the request's address. It begins with the last segment of that address,
 * unless the address ends with a slash.
 */
function docsOf(url = ''): string {
  const [path = ''] = url.split('?')
  return `${path.slice(path.lastIndexOf('/') + 1)}/docs`.replace(/^\//, '')
}

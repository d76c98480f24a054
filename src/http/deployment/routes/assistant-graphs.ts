import { AppError } from '../../../base/errors.ts'
import type { GraphCall } from '../../../runs/execute/graph-host.ts'
import { readableConfig } from '../../../runs/shared-context.ts'
import { withoutOwnKeys } from '../../../schema/config-keys.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import { flagParameter, type Parameter, requiredTextParameter } from '../../api/parameters.ts'
import { type DeploymentContext, type DeploymentRoute, deploymentRoute as route } from '../route.ts'
import { ASSISTANT_PARAMS } from './assistants.ts'

const TAG = 'Assistants'

type Question<C = GraphCall> = C extends { graph_id: string; config: JsonObject }
  ? Omit<C, 'graph_id' | 'config'>
  : never

/**
 * Calls an assistant's graph. A graph factory receives the assistant's config and the request's headers, as for a run.
 */
export async function askGraph(
  { deps, req }: DeploymentContext,
  asked: string,
  question: Question,
): Promise<string> {
  const assistant = await deps.findAssistant(deps.tenant, asked)
  if (assistant === undefined) throw new AppError('not_found', { message: 'Assistant not found' })
  const { graph_id, assistant_id } = assistant
  const config = withoutOwnKeys(readableConfig(assistant, deps.host.graphs()))
  const configurable = {
    ...(isObject(config['configurable']) && config['configurable']),
    ...deps.headersFor(req.headers),
    graph_id,
    assistant_id,
  }
  const call = { ...question, graph_id, config: { ...config, configurable } } as GraphCall
  return (await deps.host.call(deps.tenant, call)).body
}

/** The parameter for the included levels of subgraphs: a flag, or a number. */
const XRAY: Parameter<boolean | number> = {
  description: 'Whether to include subgraphs, or how many levels of them.',
  required: false,
  schema: { anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 0, maximum: 100 }], default: false },
  read(values) {
    const value = values.at(-1)?.toLowerCase() ?? ''
    if (['', 'false', 'no', 'off'].includes(value)) return false
    if (['true', 'yes', 'on'].includes(value)) return true
    if (/^(\d\d?|100)$/.test(value)) return Number(value)
    throw new AppError('invalid_request', {
      message: 'query.xray: Input should be a boolean or a number of levels',
    })
  },
}

function subgraphRoutes(): DeploymentRoute[] {
  const query = { recurse: flagParameter('Also subgraphs of subgraphs.', false) }
  const shared = {
    method: 'GET',
    needs: 'assistants:read',
    tag: TAG,
    query,
    reply: 'bytes',
    reply_schema: 'subgraph-schemas',
    errors: ['not_found', 'graph_not_loaded', 'host_unavailable', 'conflict'],
  } as const
  return [
    route({
      ...shared,
      path: '/assistants/{assistant_id}/subgraphs',
      summary: 'Schemas of the subgraphs of an assistant’s graph',
      params: ASSISTANT_PARAMS,
      async handle(context) {
        const { params, query: asked } = context
        const question = { name: 'subgraphs', namespace: null, recurse: asked.recurse } as const
        return { body: await askGraph(context, params.assistant_id, question) }
      },
    }),
    route({
      ...shared,
      path: '/assistants/{assistant_id}/subgraphs/{namespace}',
      summary: 'Schemas of one subgraph',
      params: {
        ...ASSISTANT_PARAMS,
        namespace: requiredTextParameter('Of the subgraph, e.g. `node` or `node|inner`.'),
      },
      async handle(context) {
        const { params, query: asked } = context
        const question = { name: 'subgraphs', namespace: params.namespace, recurse: asked.recurse } as const
        return { body: await askGraph(context, params.assistant_id, question) }
      },
    }),
  ]
}

/** Structure of an assistant's graph; computed by the graph's own code. */
export function assistantGraphRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'GET',
      path: '/assistants/{assistant_id}/graph',
      needs: 'assistants:read',
      summary: 'The graph of an assistant, for drawing it',
      tag: TAG,
      params: ASSISTANT_PARAMS,
      query: { xray: XRAY },
      reply: 'bytes',
      reply_schema: 'graph-drawing',
      revalidates: true,
      errors: ['not_found', 'graph_not_loaded', 'host_unavailable', 'conflict'],
      async handle(context) {
        const { params, query } = context
        return { body: await askGraph(context, params.assistant_id, { name: 'graph', xray: query.xray }) }
      },
    }),
    ...subgraphRoutes(),
    route({
      method: 'GET',
      path: '/assistants/{assistant_id}/schemas',
      needs: 'assistants:read',
      summary: 'Schemas of input, output and state of the graph of an assistant',
      tag: TAG,
      params: ASSISTANT_PARAMS,
      reply: 'bytes',
      reply_schema: 'graph-schemas',
      revalidates: true,
      errors: ['not_found', 'graph_not_loaded', 'host_unavailable', 'conflict'],
      handle: async (context) => ({
        body: await askGraph(context, context.params.assistant_id, { name: 'schemas' }),
      }),
    }),
  ]
}

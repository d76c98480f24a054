import { extname } from 'node:path'
import { AppError } from '../../../base/errors.ts'
import { requiredTextParameter } from '../../api/parameters.ts'
import {
  COMPONENT_PAGE_HEADERS,
  componentFault,
  componentPage,
  escapeHtml,
  FRAME_SCRIPT,
} from '../reply/component-page.ts'
import { type DeploymentContext, type DeploymentRoute, deploymentRoute as route } from '../route.ts'
import { prefixOf } from '../request/path-prefix.ts'

const TAG = 'UI'
const GRAPH = requiredTextParameter('A graph that langgraph.json names under `ui`.')

/** @throws AppError not_found, ui_unavailable */
async function bundleOf(
  { deps }: DeploymentContext,
  graph_id: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const bundle = await deps.ui?.bundle(graph_id)
  if (bundle !== undefined) return bundle
  throw new AppError('not_found', { message: `UI not found for agent "${graph_id}"` })
}

/** A JavaScript string literal in double quotes that is safe inside a single-quoted HTML attribute. */
function scriptText(text: string): string {
  const escape = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replaceAll(/[&<>']/g, escape)
}

const LOCAL = /^(localhost|127\.0\.0\.1)(:\d+)?$/
const HOST = /^[\w.:[\]-]+$/

/** URL of the graph's files for the page. It has no scheme, except on this machine, because a proxy may use HTTPS. */
function uiUrl({ req }: DeploymentContext, graph_id: string): string {
  const { host = '' } = req.headers
  const origin = HOST.test(host) ? `${LOCAL.test(host) ? 'http:' : ''}//${host}` : ''
  const asked = (req.url ?? '').replace(/\?.*$/s, '')
  const prefix = prefixOf(req, asked.slice(asked.lastIndexOf('/ui/')))
  return `${origin}${prefix}/ui/${encodeURIComponent(graph_id)}`
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

/** Routes of generative UI, as on LangGraph's server: pages load the UI components of graphs from them. */
export function uiRoutes(): DeploymentRoute[] {
  return [
    route({
      method: 'POST',
      path: '/ui/{graph_id}',
      needs: 'assistants:read',
      summary: 'HTML that loads and renders a UI component of a graph',
      tag: TAG,
      params: { graph_id: GRAPH },
      body: 'ui-request',
      reply: 'bytes',
      reply_type: 'text/html; charset=utf-8',
      errors: ['not_found', 'ui_unavailable'],
      async handle(context) {
        const { params, body } = context
        const names = [...(await bundleOf(context, params.graph_id)).keys()]
        const place = escapeHtml(uiUrl(context, params.graph_id))
        const styles = names.filter((name) => extname(name) === '.css')
        const script = names.find((name) => extname(name) === '.js')
        const show = `__LGUI_${params.graph_id.replaceAll(/[^a-zA-Z0-9]/g, '_')}.render(${scriptText(body.name)}, "{{shadowRootId}}")`
        const tags = styles.map((name) => `<link rel="stylesheet" href="${place}/${escapeHtml(name)}" />`)
        if (script !== undefined) {
          tags.push(`<script src="${place}/${escapeHtml(script)}" onload='${show}'></script>`)
        }
        return { body: tags.join('\n') }
      },
    }),
    route({
      method: 'GET',
      path: '/ui/{graph_id}',
      // Browsers load frames, scripts and styles without a key.
      needs: 'open',
      summary: 'A page that shows a UI component of a graph in a frame of Studio',
      tag: TAG,
      params: { graph_id: GRAPH },
      reply: 'bytes',
      reply_type: 'text/html; charset=utf-8',
      async handle(context) {
        const { graph_id } = context.params
        try {
          const names = [...(await bundleOf(context, graph_id)).keys()]
          return { body: componentPage(graph_id, names), headers: COMPONENT_PAGE_HEADERS }
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          // The frame shows the reason, which a response in JSON would not.
          return { body: componentFault(graph_id, error.message), headers: COMPONENT_PAGE_HEADERS }
        }
      },
    }),
    route({
      method: 'GET',
      path: '/ui/{graph_id}/{file}',
      needs: 'open',
      summary: 'A file of a graph’s UI components',
      tag: TAG,
      params: { graph_id: GRAPH, file: requiredTextParameter('As the HTML names it.') },
      reply: 'bytes',
      reply_type: 'application/octet-stream',
      errors: ['not_found', 'ui_unavailable'],
      revalidates: true,
      async handle(context) {
        const { params } = context
        const content =
          params.file === FRAME_SCRIPT
            ? await context.deps.frameScript?.()
            : (await bundleOf(context, params.graph_id)).get(params.file)
        if (content === undefined) throw new AppError('not_found', { message: 'File not found' })
        return { body: content, headers: { 'content-type': TYPES[extname(params.file)] ?? 'text/plain' } }
      },
    }),
  ]
}

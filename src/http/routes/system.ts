import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { AppDeps } from '../app-deps.ts'
import { docsPage } from '../docs-page.ts'
import { MAX_JSON_BODY_BYTES } from '../json-body.ts'
import { flagParameter } from '../parameters.ts'
import { type Route, route, routeOn } from '../route.ts'
import { livenessReply } from '../store-checks.ts'

const TAG = 'System'
/** For those who read the answer of the root themselves. */
const LINKS = { docs: 'docs', openapi: 'openapi.json', info: 'info', health: 'ok?check_db=1' }

/**
 * The answer of GET /info (contract §1.2): what SDKs decide by, with our own limits beside. `version` is the
 * LangSmith version whose behaviour clients may expect: below 0.16 the JavaScript client warns.
 */
export function infoAnswer({ version, limits }: Pick<AppDeps, 'version' | 'limits'>): SchemaTypes['info'] {
  const { max_body_bytes, max_parts, max_part_bytes, max_inflight_bytes } = limits
  const { body_window_ms, min_body_bytes_per_second } = limits
  return {
    version: '0.16.20',
    license_expiration_time: null,
    customer_info: null,
    batch_ingest_config: {
      use_multipart_endpoint: true,
      scale_up_qsize_trigger: 1000,
      scale_up_nthreads_limit: 16,
      scale_down_nempty_trigger: 4,
      size_limit: 100,
      size_limit_bytes: 20_971_520,
    },
    instance_flags: {
      zstd_compression_enabled: true,
      gzip_body_enabled: true,
      dataset_examples_multipart_enabled: true,
    },
    weir: {
      version,
      limits: {
        max_body_bytes,
        max_parts,
        max_part_bytes,
        max_inflight_bytes,
        body_window_ms,
        min_body_bytes_per_second,
        max_json_body_bytes: MAX_JSON_BODY_BYTES,
      },
    },
  }
}

/** Health, what clients ask first, and the description of all of it. `openApi` makes the document. */
export function systemRoutes(openApi: (version: string) => object): Route[] {
  return [
    route({
      method: 'GET',
      path: '/ok',
      summary: 'Whether the server answers; with check_db=1 whether its stores and its disk do',
      tag: TAG,
      query: {
        check_db: flagParameter(
          'Ask the stores and the disk of DATA_DIR too; 503, with words and a code, if one is down.',
          false,
        ),
      },
      reply: 'liveness',
      other_replies: { 503: 'liveness' },
      handle: ({ deps, query: { check_db } }) => livenessReply(check_db ? deps.checks : undefined),
    }),
    route({
      method: 'GET',
      path: '/info',
      summary: 'What clients ask before they send: flags and limits',
      description: 'Static: answers whatever the stores do.',
      tag: TAG,
      reply: 'info',
      handle: async ({ deps }) => ({ body: infoAnswer(deps) }),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics of this process as Prometheus text',
      tag: TAG,
      reply: 'bytes',
      reply_type: 'text/plain; version=0.0.4; charset=utf-8',
      handle: async ({ deps }) => ({ body: deps.metrics.render() }),
    }),
    ...documentRoutes(openApi),
  ]
}

/** The API described, and the way there. */
export function documentRoutes<D extends { version: string }>(
  openApi: (version: string) => object,
): Route<D>[] {
  const documentRoute = routeOn<D>()
  return [
    documentRoute({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This API as OpenAPI 3.1',
      tag: TAG,
      reply: 'bytes',
      handle: async ({ deps }) => ({ body: JSON.stringify(openApi(deps.version)) }),
    }),
    documentRoute({
      method: 'GET',
      path: '/docs',
      summary: 'This API as a page',
      tag: TAG,
      reply: 'bytes',
      reply_type: 'text/html; charset=utf-8',
      handle: async ({ deps }) => ({
        headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
        body: docsPage(openApi(deps.version)),
      }),
    }),
    documentRoute({
      method: 'GET',
      path: '/',
      summary: 'Leads to the documentation',
      tag: TAG,
      reply: 'bytes',
      status: 302,
      // Relative, so that it holds behind a proxy's prefix as well.
      handle: async () => ({ headers: { location: 'docs' }, body: JSON.stringify(LINKS) }),
    }),
  ]
}

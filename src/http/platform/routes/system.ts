import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { AppDeps } from '../app-deps.ts'
import { documentRoutes } from '../../api/document-routes.ts'
import { MAX_JSON_BODY_BYTES } from '../../body/json.ts'
import { choiceParameter, flagParameter } from '../../api/parameters.ts'
import { route, type PlatformRoute } from '../route.ts'
import { isPageRequest } from '../../server/browser/page-request.ts'
import { READY_PARTS, readinessReply } from '../../server/readiness.ts'
import { livenessReply } from '../../server/store-checks.ts'

const TAG = 'System'
/** Links in the response of the root, for people who open it in a browser or terminal. */
const LINKS = { docs: 'docs', openapi: 'openapi.json', info: 'info', health: 'ok?check_db=1' }
/** Path of the web interface, relative to the root. */
const PAGE = 'app/'

/**
 * The response of GET /info: the fields that SDKs read, and Weir's own limits. `version` is the LangSmith version whose
 * behaviour clients may expect: below 0.18 the newest clients warn when they use projects.
 */
export function infoAnswer({ version, limits }: Pick<AppDeps, 'version' | 'limits'>): SchemaTypes['info'] {
  const { max_body_bytes, max_parts, max_part_bytes, max_inflight_bytes } = limits
  const { body_window_ms, min_body_bytes_per_second } = limits
  return {
    version: '0.18.0',
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

/** Health, server information, and the API's own description. `openApi` makes the document. */
export function systemRoutes(openApi: (version: string) => object): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/ok',
      needs: 'open',
      summary: 'Health of the server; with check_db=1 also of its stores and its disk',
      tag: TAG,
      query: {
        check_db: flagParameter(
          'Also check the stores and the disk of DATA_DIR; 503, with a code and a message, if one is down.',
          false,
        ),
      },
      reply: 'liveness',
      other_replies: { 503: 'liveness' },
      handle: ({ deps, query: { check_db } }) => livenessReply(check_db ? deps.checks : undefined),
    }),
    route({
      method: 'GET',
      path: '/ready',
      needs: 'open',
      summary: 'Whether a balancer should send requests here: for readiness probes',
      tag: TAG,
      query: {
        part: choiceParameter(
          'What the balancer sends here. The server is ready while any part works, a part while its stores answer. Nothing is ready once the server is about to stop.',
          READY_PARTS,
        ),
      },
      reply: 'readiness',
      other_replies: { 503: 'readiness' },
      handle: ({ deps, query: { part } }) => readinessReply(deps, part),
    }),
    route({
      method: 'GET',
      path: '/info',
      needs: 'open',
      summary: 'Flags and limits, which clients read before they send',
      description: 'Static: does not depend on the stores.',
      tag: TAG,
      reply: 'info',
      handle: async ({ deps }) => ({ body: infoAnswer(deps) }),
    }),
    route({
      method: 'GET',
      path: '/info/health',
      needs: 'any key',
      summary: 'Free part of the disk, in the shape of LangSmith',
      tag: TAG,
      reply: 'info-health',
      async handle({ deps }) {
        const { free_bytes, size_bytes } = await deps.disk.look()
        return { body: { clickhouse_disk_free_pct: size_bytes > 0 ? (100 * free_bytes) / size_bytes : null } }
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      needs: 'organization:read',
      summary: 'Metrics of this process as Prometheus text',
      tag: TAG,
      reply: 'bytes',
      reply_type: 'text/plain; version=0.0.4; charset=utf-8',
      handle: async ({ deps }) => ({ body: deps.metrics.render() }),
    }),
    ...documentRoutes<AppDeps>(openApi),
    rootRoute,
  ]
}

const rootRoute = route({
  method: 'GET',
  path: '/',
  needs: 'open',
  summary: 'Leads browsers to the web interface, others to the documentation',
  tag: TAG,
  reply: 'bytes',
  status: 302,
  handle: async ({ req }) => {
    // A relative address also works behind a proxy's prefix.
    const location = isPageRequest(req) ? PAGE : 'docs'
    return { headers: { location, vary: 'accept' }, body: JSON.stringify({ page: PAGE, ...LINKS }) }
  },
})

import type { Issue } from '../../../schema/issue.ts'
import type { SpanRecord } from '../span/span.ts'

/** Prefixes of attributes and events that only instrumentations of models and agents set. */
const MODEL_PREFIX = /^(?:gen_ai|llm|ai|langsmith|openinference|traceloop|langfuse|mlflow|langgraph|mcp)\./
/** Scopes of instrumentations of web frameworks and of clients of HTTP. */
const WEB_SCOPE =
  /^(?:next\.js|@vercel\/otel\/[\w.-]{1,40}|@opentelemetry\/instrumentation-(?:http|undici|fetch|express|fastify|koa|nestjs-core|net|dns|fs)|opentelemetry\.instrumentation\.(?:asgi|wsgi|fastapi|starlette|flask|django|httpx|requests|urllib3?|aiohttp_client|aiohttp_server))$/

/** Whether an attribute or event of the span is one of models or agents. */
export function mentionsModels({ attributes, events }: Pick<SpanRecord, 'attributes' | 'events'>): boolean {
  return (
    Object.keys(attributes).some((key) => MODEL_PREFIX.test(key)) ||
    events.some(({ name }) => MODEL_PREFIX.test(name))
  )
}

/** The suggestion to filter spans like this one; none unless it is one of a web framework. */
export function filterSuggestion(span: SpanRecord, run_type: string): Issue[] {
  const scope = span.scope.name ?? ''
  if (run_type !== 'chain' || !WEB_SCOPE.test(scope) || mentionsModels(span)) return []
  return [
    {
      code: 'span_of_web_framework',
      severity: 'info',
      path: 'extra.otel_span.scope',
      message: `The span of ${scope} is not about a model; without a model call below it, it counts as a trace.`,
      fix: `If such spans are of no use, set a filter: weir projects filter PROJECT --scope ${scope}`,
    },
  ]
}

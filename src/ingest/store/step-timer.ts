import { type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Metrics } from '../../base/metrics.ts'

/** Measures one of the steps that store a batch. */
export type StepTimer = <T>(step: string, work: () => Promise<T>) => Promise<T>

/** Measures each step as a histogram, and as a span when export is on. */
export function createStepTimer(metrics: Metrics): StepTimer {
  const seconds = metrics.histogram('weir_ingest_step_seconds', 'Duration of the steps that store a batch.')
  const tracer = trace.getTracer('weir')
  return async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    return tracer.startActiveSpan(`ingest ${step}`, async (span: Span) => {
      try {
        return await work()
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        seconds.observe((performance.now() - started) / 1000, { step })
        span.end()
      }
    })
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '../eventually.ts'
import { fixedPort } from '../fixed-port.ts'

/** The binary that `test/collector/build` makes. */
const BINARY = fileURLToPath(new URL('../../../.collector/collector', import.meta.url))

/** The reason to skip tests of the Collector, for their titles; '' when they can run. */
export const withoutCollector = existsSync(BINARY) ? '' : ` (${whyNot()})`

function whyNot(): string {
  const { WITHOUT_GO, WITHOUT_COLLECTOR } = process.env
  if (WITHOUT_GO === '1') return 'there is no Go of version 1.21 or newer'
  return WITHOUT_COLLECTOR ?? 'test/collector/build has not been run'
}

export interface CollectorTarget {
  protocol: 'http' | 'grpc'
  url: string
  headers: Record<string, string>
}

/**
 * An OpenTelemetry Collector with one queue for each target. It repeats an export until the target accepts the data.
 */
export interface Collector {
  /** URL of the Collector's OTLP/HTTP receiver. */
  url: string
  stop(): Promise<void>
}

/** The Collector's configuration as JSON, which is valid YAML. */
function configOf(endpoint: string, targets: readonly CollectorTarget[]): object {
  const again = {
    sending_queue: { enabled: true, num_consumers: 4, queue_size: 100_000 },
    retry_on_failure: { enabled: true, initial_interval: '100ms', max_interval: '1s', max_elapsed_time: 0 },
    timeout: '5s',
  }
  const exporters = targets.map(({ protocol, url, headers }, i) =>
    protocol === 'grpc'
      ? [`otlp/${i}`, { endpoint: url.replace('http://', ''), tls: { insecure: true }, headers, ...again }]
      : [`otlphttp/${i}`, { endpoint: url, headers, ...again }],
  )
  return {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    processors: { batch: { timeout: '50ms', send_batch_size: 20 } },
    exporters: Object.fromEntries(exporters),
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: {
        traces: { receivers: ['otlp'], processors: ['batch'], exporters: exporters.map(([name]) => name) },
      },
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Starts a Collector with its configuration in `dir`. */
export async function startCollector(dir: string, targets: readonly CollectorTarget[]): Promise<Collector> {
  const endpoint = `127.0.0.1:${await fixedPort()}`
  const file = join(dir, 'collector.json')
  await writeFile(file, JSON.stringify(configOf(endpoint, targets)))
  const child = spawn(BINARY, ['--config', file], { stdio: 'ignore' })
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error('the Collector has ended')
    await fetch(`http://${endpoint}/v1/traces`)
  })
  return { url: `http://${endpoint}`, stop: () => end(child) }
}

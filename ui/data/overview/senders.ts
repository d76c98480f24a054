import { CHECKS, type CheckName } from './figures.ts'

/** A client, and the number of calls that it sent and that fail each check. */
interface Sender {
  name: string
  failed: Readonly<Record<CheckName, number>>
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function joined(...parts: readonly unknown[]): string | undefined {
  return typeof parts[0] === 'string' && parts[0] !== ''
    ? parts.filter((part) => typeof part === 'string').join(' ')
    : undefined
}

/**
 * Reads the name and version of the client that sent a run from the run's `extra`. For a run of LangSmith's SDKs, the
 * client is the SDK. For an OpenTelemetry span, it is the instrumentation, or else the SDK of OpenTelemetry.
 */
export function senderOf(extra: unknown): string {
  const { runtime, otel_span, metadata } = fieldsOf(extra)
  const { sdk, sdk_version, library, library_version } = fieldsOf(runtime)
  const { name, version } = fieldsOf(fieldsOf(otel_span)['scope'])
  const resource = fieldsOf(metadata)
  return (
    joined(sdk, sdk_version) ??
    joined(library, library_version) ??
    joined(name, version) ??
    joined(...['name', 'language', 'version'].map((part) => resource[`telemetry.sdk.${part}`])) ??
    'unknown'
  )
}

/** Counts the failing calls of each sender by check; the sender with most calls first. */
export function countSenders(failing: readonly (readonly [CheckName, readonly unknown[]])[]): Sender[] {
  const senders = new Map<string, Record<CheckName, number>>()
  for (const [check, extras] of failing)
    for (const name of extras.map(senderOf)) {
      const failed = senders.get(name) ?? { run_type: 0, format: 0, model: 0, usage: 0 }
      failed[check] += 1
      senders.set(name, failed)
    }
  const sum = ({ failed }: Sender): number => CHECKS.reduce((all, check) => all + failed[check], 0)
  return [...senders].map(([name, failed]) => ({ name, failed })).toSorted((a, b) => sum(b) - sum(a))
}

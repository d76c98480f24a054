/** Label values of one series, e.g. `{ code: 'stored' }`; the names are fixed when the metric is made. */
export type Labels = Readonly<Record<string, string>>

/** A number that only increases. */
export interface Counter {
  /** Adds `amount` (1 unless given, never negative). */
  inc(labels?: Labels, amount?: number): void
}

/** A number that increases and decreases. */
export interface Gauge {
  set(value: number, labels?: Labels): void
}

/** A distribution over fixed buckets. */
export interface Histogram {
  observe(value: number, labels?: Labels): void
}

/** The metrics of one server; rendered as Prometheus text. A name is registered once. */
export interface Metrics {
  /** The counter of this name, which several parts may share. */
  counter(name: string, help: string): Counter
  gauge(name: string, help: string): Gauge
  /** A gauge whose value is read at every scrape, e.g. a queue length. */
  observedGauge(name: string, help: string, read: () => number): void
  /** `buckets` are ascending upper bounds; `+Inf` is added. */
  histogram(name: string, help: string, buckets?: readonly number[]): Histogram
  /** Prometheus text exposition format 0.0.4. */
  render(): string
}

/** Upper bounds in seconds for request and step durations. */
export const SECONDS_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

const METRIC_NAME = /^[a-z_][a-z0-9_]*$/

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')
}

/** `{a="1",b="2"}` with sorted names, so that the same labels always give the same text. */
function labelText(labels: Labels | undefined, extra = ''): string {
  const parts = Object.entries(labels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  if (extra !== '') parts.push(extra)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function simpleSeries(name: string): { values: Map<string, number>; lines: () => string[] } {
  const values = new Map<string, number>()
  return { values, lines: () => [...values].map(([labels, value]) => `${name}${labels} ${value}`) }
}

interface HistogramSeries {
  labels: Labels | undefined
  counts: number[]
  sum: number
  count: number
}

function histogramLines(
  name: string,
  bounds: readonly number[],
  series: Iterable<HistogramSeries>,
): string[] {
  const lines: string[] = []
  for (const { labels, counts, sum, count } of series) {
    let below = 0
    bounds.forEach((bound, index) => {
      below += counts[index] ?? 0
      lines.push(`${name}_bucket${labelText(labels, `le="${bound}"`)} ${below}`)
    })
    lines.push(`${name}_bucket${labelText(labels, 'le="+Inf"')} ${count}`)
    lines.push(`${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${count}`)
  }
  return lines
}

function createHistogram(
  name: string,
  bounds: readonly number[],
): { histogram: Histogram; lines: () => string[] } {
  const all = new Map<string, HistogramSeries>()
  const observe = (value: number, labels?: Labels): void => {
    const key = labelText(labels)
    const series = all.get(key) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 }
    all.set(key, series)
    const index = bounds.findIndex((bound) => value <= bound)
    if (index >= 0) series.counts[index] = (series.counts[index] ?? 0) + 1
    series.sum += value
    series.count += 1
  }
  return { histogram: { observe }, lines: () => histogramLines(name, bounds, all.values()) }
}

/** An empty set of metrics. Counters without labels start at 0, so that a rate exists from the first scrape. */
export function createMetrics(): Metrics {
  const counters = new Map<string, Counter>()
  const families = new Map<string, { help: string; type: string; lines: () => string[] }>()
  const register = (name: string, help: string, type: string, lines: () => string[]): void => {
    if (!METRIC_NAME.test(name)) throw new TypeError(`not a metric name: ${name}`)
    if (families.has(name)) throw new TypeError(`metric registered twice: ${name}`)
    families.set(name, { help, type, lines })
  }
  return {
    counter(name, help) {
      const known = counters.get(name)
      if (known !== undefined) return known
      const { values, lines } = simpleSeries(name)
      register(name, help, 'counter', () => (values.size === 0 ? [`${name} 0`] : lines()))
      const counter: Counter = {
        inc(labels, amount = 1) {
          const key = labelText(labels)
          values.set(key, (values.get(key) ?? 0) + amount)
        },
      }
      counters.set(name, counter)
      return counter
    },
    gauge(name, help) {
      const { values, lines } = simpleSeries(name)
      register(name, help, 'gauge', lines)
      return { set: (value, labels) => void values.set(labelText(labels), value) }
    },
    observedGauge(name, help, read) {
      register(name, help, 'gauge', () => [`${name} ${read()}`])
    },
    histogram(name, help, buckets = SECONDS_BUCKETS) {
      const { histogram, lines } = createHistogram(name, buckets)
      register(name, help, 'histogram', lines)
      return histogram
    },
    render() {
      const text = [...families].map(([name, { help, type, lines }]) =>
        [`# HELP ${name} ${help.replace(/\n/g, ' ')}`, `# TYPE ${name} ${type}`, ...lines()].join('\n'),
      )
      return `${text.join('\n')}\n`
    },
  }
}

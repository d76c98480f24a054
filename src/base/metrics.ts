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

/** One value of a metric. The name is that of the metric; a histogram's has `_bucket`, `_sum` or `_count` behind it. */
export interface Sample {
  name: string
  /** In the order of the text. */
  labels: Labels
  value: number
}

type Observe = Histogram['observe']

/** A metric, and its values at the time of the call. */
export type Metric = { name: string; help: string; samples(): Sample[] } & (
  | { type: 'counter' | 'gauge' }
  | {
      type: 'histogram'
      /** Ascending upper bounds of the buckets, without `+Inf`. */
      bounds: readonly number[]
      /** Also calls `observe` for each later value; the result ends that. */
      follow(observe: Observe): () => void
    }
)

/** The metrics of one server; rendered as Prometheus text. A name is registered once. */
export interface Metrics {
  /** The counter of this name, which several parts may share. */
  counter(name: string, help: string): Counter
  gauge(name: string, help: string): Gauge
  /** A gauge whose value is read at every scrape, e.g. a queue length. */
  observedGauge(name: string, help: string, read: () => number): void
  /** `buckets` are ascending upper bounds; `+Inf` is added. */
  histogram(name: string, help: string, buckets?: readonly number[]): Histogram
  /** All metrics, in the order of their registration. */
  all(): Iterable<Metric>
  /** Calls `listener` with each metric that there is, and each that is registered later; the result ends that. */
  each(listener: (metric: Metric) => void): () => void
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

const NO_LABELS: Labels = {}

/** The labels sorted by name, so that the same ones always give the same text. */
function sorted(labels: Labels = NO_LABELS): Labels {
  const entries = Object.entries(labels)
  return entries.length < 2 ? labels : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `{a="1",b="2"}`; empty without labels. */
function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

/** Values by their labels; `change` returns the next one. */
class Series<V> {
  readonly #all = new Map<string, { labels: Labels; value: V }>()

  update(labels: Labels | undefined, change: (value: V | undefined) => V): void {
    const own = sorted(labels)
    const key = labelText(own)
    const known = this.#all.get(key)
    if (known === undefined) this.#all.set(key, { labels: own, value: change(undefined) })
    else known.value = change(known.value)
  }

  get all(): { labels: Labels; value: V }[] {
    return [...this.#all.values()]
  }
}

interface Distribution {
  /** Numbers of values in each bucket, without those of the buckets below it. */
  counts: number[]
  sum: number
  count: number
}

function histogramSamples(name: string, bounds: readonly number[], series: Series<Distribution>): Sample[] {
  return series.all.flatMap(({ labels, value: { counts, sum, count } }) => {
    let below = 0
    const buckets = bounds.map((bound, index) => {
      below += counts[index] ?? 0
      return { name: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: below }
    })
    return [
      ...buckets,
      { name: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { name: `${name}_sum`, labels, value: sum },
      { name: `${name}_count`, labels, value: count },
    ]
  })
}

function createHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
): { histogram: Histogram; metric: Metric } {
  const series = new Series<Distribution>()
  const followers = new Set<Observe>()
  const observe: Observe = (value, labels) => {
    const index = bounds.findIndex((bound) => value <= bound)
    series.update(labels, (known = { counts: bounds.map(() => 0), sum: 0, count: 0 }) => {
      if (index >= 0) known.counts[index] = (known.counts[index] ?? 0) + 1
      known.sum += value
      known.count += 1
      return known
    })
    for (const follow of followers) follow(value, labels)
  }
  const follow = (follower: Observe): (() => void) => {
    followers.add(follower)
    return () => void followers.delete(follower)
  }
  const samples = (): Sample[] => histogramSamples(name, bounds, series)
  return { histogram: { observe }, metric: { name, help, type: 'histogram', bounds, samples, follow } }
}

/** An empty set of metrics. Counters without labels start at 0, so that a rate exists from the first scrape. */
export function createMetrics(): Metrics {
  const counters = new Map<string, Counter>()
  const all = new Map<string, Metric>()
  const listeners = new Set<(metric: Metric) => void>()
  const register = (metric: Metric): void => {
    const { name } = metric
    if (!METRIC_NAME.test(name)) throw new TypeError(`not a metric name: ${name}`)
    if (all.has(name)) throw new TypeError(`metric registered twice: ${name}`)
    all.set(name, metric)
    for (const listener of listeners) listener(metric)
  }
  const numbers = (name: string) => {
    const series = new Series<number>()
    return { series, samples: () => series.all.map((one) => ({ name, ...one })) }
  }
  return {
    counter(name, help) {
      const known = counters.get(name)
      if (known !== undefined) return known
      const { series, samples } = numbers(name)
      const untouched = [{ name, labels: NO_LABELS, value: 0 }]
      register({
        name,
        help,
        type: 'counter',
        samples() {
          const found = samples()
          return found.length === 0 ? untouched : found
        },
      })
      const counter: Counter = {
        inc: (labels, amount = 1) => series.update(labels, (value = 0) => value + amount),
      }
      counters.set(name, counter)
      return counter
    },
    gauge(name, help) {
      const { series, samples } = numbers(name)
      register({ name, help, type: 'gauge', samples })
      return { set: (value, labels) => series.update(labels, () => value) }
    },
    observedGauge(name, help, read) {
      register({ name, help, type: 'gauge', samples: () => [{ name, labels: NO_LABELS, value: read() }] })
    },
    histogram(name, help, buckets = SECONDS_BUCKETS) {
      const { histogram, metric } = createHistogram(name, help, buckets)
      register(metric)
      return histogram
    },
    all: () => all.values(),
    each(listener) {
      for (const metric of all.values()) listener(metric)
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    render() {
      const text = [...all.values()].map(({ name, help, type, samples }) => {
        const lines = samples().map((one) => `${one.name}${labelText(one.labels)} ${one.value}`)
        return [`# HELP ${name} ${help.replace(/\n/g, ' ')}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
      })
      return `${text.join('\n')}\n`
    },
  }
}

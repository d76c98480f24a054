import { type JsonObject, type JsonValue, isObject, text } from '../../schema/json.ts'
import { normalizeProvider } from './provider-name.ts'

export interface ModelName {
  model: string
  source: string
  /** The name as sent, if it is a path that ends with the model's name. */
  path?: string
}

/**
 * The model by the precedence of the interface (metadata.ls_model_name, inputs.model, inputs.model_name), then the
 * fallbacks. `inputs` is the unwrapped side, so that `{args: [{model}]}` counts as inputs.model.
 */
export function findModel(
  metadata: JsonObject,
  inputs: JsonValue | undefined,
  extra: JsonObject,
  outputs: JsonValue | undefined,
  format: string | undefined,
): ModelName | undefined {
  const params = object(extra['invocation_params'])
  const lsParams = object(metadata['ls_invocation_params'])
  const ins = object(inputs)
  const outs = object(outputs)
  return (
    named(metadata['ls_model_name'], 'metadata.ls_model_name') ??
    named(ins['model'], 'inputs.model') ??
    named(ins['model_name'], 'inputs.model_name') ??
    named(params['model'], 'extra.invocation_params.model') ??
    named(params['model_name'], 'extra.invocation_params.model_name') ??
    named(lsParams['model'], 'metadata.ls_invocation_params.model') ??
    named(outs['model'], 'outputs.model') ??
    named(outs['model_name'], 'outputs.model_name') ??
    named(format, 'outputs')
  )
}

function named(value: JsonValue | undefined, source: string): ModelName | undefined {
  const model = text(value)?.trim()
  if (!model) return undefined
  const name = nameInPath(model)
  return name === undefined ? { model: model.slice(0, 256), source } : { model: name, source, path: model }
}

/** The model's name without a prefix that names its provider: `openai/gpt-4o` of openai is `gpt-4o`. */
export function withoutProvider(model: string, provider: string | undefined): string {
  const slash = model.indexOf('/')
  if (slash <= 0 || provider === undefined) return model
  return normalizeProvider(model.slice(0, slash)) === provider ? model.slice(slash + 1) || model : model
}

/** What may be before a model's name on Bedrock, and the versions after it. Sizes such as `:3b` are no versions. */
const REGION_AND_MAKER = /^(?:(?:us-gov|us|eu|apac|au|ca|in|jp|sa|global)\.)?[a-z]\w{2,15}\.(?=[a-z])/
const VERSIONS = [
  /-v\d+:\d+$/,
  /@[\w-]+$/,
  /-(?:20\d\d-[01]\d-[0-3]\d|20\d{2}[01]\d[0-3]\d|[012]\d{3}|00\d)$/,
  /-(?:latest|preview)$/,
] as const

/** The name that all versions of a model have in common: `gpt-4.1-mini-2025-04-14` is a `gpt-4.1-mini`. */
export function baseModel(model: string): string {
  const base = VERSIONS.reduce((name, version) => name.replace(version, ''), model.toLowerCase())
  return base.replace(REGION_AND_MAKER, '') || model
}

/**
 * Paths that end with the name of a model: `projects/…/publishers/google/models/…`, `models/…`,
 * `accounts/fireworks/models/…`, and Bedrock's ARNs of models and of profiles that are named after them.
 */
const MODEL_PATHS = [
  /^(?:[^\s]*\/)?models\/([^/\s]+)$/,
  /^arn:[^/\s]*:(?:foundation-model|inference-profile)\/([^/\s]+)$/,
]

function nameInPath(path: string): string | undefined {
  if (path.length > 1024 || !path.includes('/')) return undefined
  const name = MODEL_PATHS.map((pattern) => pattern.exec(path)?.[1]).find((it) => it !== undefined)
  return name?.slice(0, 256)
}

/** The provider in the path of a model; undefined without one. */
export function providerInPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  if (path.startsWith('arn:')) return 'aws.bedrock'
  const named = /(?:^|\/)publishers\/([^/\s]+)\//.exec(path)?.[1] ?? /^accounts\/([^/\s]+)\//.exec(path)?.[1]
  if (named !== undefined) return named
  return /\bmodels\/(?:gemini|gemma|learnlm|imagen|text-embedding-0)/.test(path) ? 'google' : undefined
}

/** The provider in the name of a model, if the name is a path (see `nameInPath`). */
export function providerOfModel(model: string | undefined): string | undefined {
  return model !== undefined && nameInPath(model) !== undefined ? providerInPath(model) : undefined
}

/** Whether the vendor bills reasoning tokens that are in the total but may be missing in input and output. */
export function billsThoughts(provider: string | undefined, model: string | undefined): boolean {
  if (provider === 'google' || /^(?:x[-_]?ai|grok)$/.test(provider ?? '')) return true
  return /(?:^|[/.])(?:gemini|grok)-/.test(model ?? '')
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}
